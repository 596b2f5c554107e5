"""sha256 over a canonical encoding of any nested values: the hash of a cache block."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from typing import Any

from formulas.errors import Problem


def block_hash(parent: Any, tokens: Any, extra_keys: Any) -> str:
    """The sha256, in hex, of the canonical encoding of the three parts.

    Two triples have one encoding exactly where they are equal: every part starts with the letter of
    its kind and its length. Lists and tuples are one kind, numbers are compared by value (1 and 1.0
    are equal), true is not 1, and "1" is not 1.
    """
    return hashlib.sha256(encode((parent, tokens, extra_keys))).hexdigest()


def encode(value: Any) -> bytes:
    """The canonical encoding; a Problem for a value of no known kind."""
    if value is None:
        return _part(b"n", b"")
    if isinstance(value, bool):
        return _part(b"b", b"1" if value else b"0")
    if isinstance(value, str):
        return _part(b"s", value.encode("utf-8", "surrogatepass"))
    if isinstance(value, bytes):
        return _part(b"y", value)
    if isinstance(value, tuple | list):
        return _part(b"l", b"".join(encode(item) for item in value))
    return _part(b"q", _number(value).encode())


def _part(kind: bytes, body: bytes) -> bytes:
    return kind + str(len(body)).encode() + b":" + body


def _number(value: Any) -> str:
    """The exact value as a fraction, with infinity by its name."""
    if value in (float("inf"), float("-inf")):
        return str(value)
    try:
        exact = Fraction(value)
    except (TypeError, ValueError, OverflowError):
        raise Problem("hash", f"{value!r} is no number, text or list that can be hashed") from None
    return f"{exact.numerator:x}/{exact.denominator:x}"
