"""Functions from the code that `solvers.straight` prints, kept in the process and on disk.

What is read from disk is only run where it is whole (its digest stands in its first line) and
consists of nothing but arithmetic and calls of numpy; anything else is printed anew.
"""

from __future__ import annotations

import ast
import hashlib
import os
import sys
from collections.abc import Callable
from functools import lru_cache
from importlib.abc import InspectLoader
from pathlib import Path
from types import FunctionType
from typing import Any

from solvers.straight import Straight, exact_source, numpy_source

FOLDER = "DERIVE_CACHE"
# Part of the key: code printed by another printer is another kernel.
_VERSION = "2"
_LARGEST = 1_000_000
# The functions that printed code calls.
_CALLED = frozenset((
    "maximum", "minimum", "abs", "rint", "ceil", "floor", "mod", "where", "logical_and",
    "logical_or", "logical_not", "less_equal", "greater_equal", "less", "greater", "equal",
    "not_equal", "sqrt", "exp", "log", "nan", "pi",
))  # fmt: skip
_ALLOWED = (
    ast.Module, ast.FunctionDef, ast.arguments, ast.arg, ast.Assign, ast.Return, ast.Tuple,
    ast.Name, ast.Load, ast.Store, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Call, ast.Attribute,
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.USub, ast.Invert, ast.BitOr, ast.Compare,
    ast.LtE, ast.GtE, ast.Lt, ast.Gt, ast.Eq, ast.NotEq, ast.FloorDiv, ast.Mod,
)  # fmt: skip


@lru_cache(maxsize=512)
def numpy_kernel(line: Straight) -> Callable[..., tuple[Any, ...]]:
    """The outputs and the doubt as a numpy function of the inputs, in order."""
    import numpy

    key = _key(line)
    source = _read(key)
    if source is None:
        source = numpy_source(line)
        _write(key, source)
    return _function(source, {"numpy": numpy})


@lru_cache(maxsize=256)
def exact_kernel(line: Straight) -> Callable[..., tuple[Any, ...]]:
    """The outputs as a function of exact numbers, by the same rules as `solvers.exact`."""
    from solvers.exact import NUMERIC
    from solvers.number import Undefined

    source, constants = exact_source(line)
    names = {kind.__name__: rule for kind, rule in NUMERIC.items()}

    def undefined() -> Any:
        raise Undefined("no case holds")

    return _function(source, {**names, "K": constants, "undefined": undefined})


def _function(source: str, names: dict[str, Any]) -> Callable[..., Any]:
    """The function `kernel` of code that this package has printed."""
    code = InspectLoader.source_to_code(source.encode(), "<kernel>")
    space: dict[str, Any] = {"__builtins__": {}, **names}
    FunctionType(code, space)()
    kernel: Callable[..., Any] = space["kernel"]
    return kernel


# -- on disk


def _key(line: Straight) -> str:
    from sympy import __version__, srepr

    text = "\n".join(
        (
            _VERSION,
            __version__,
            *line.inputs,
            *(f"{name} {srepr(expr)}" for name, expr in line.steps),
            *(f"{srepr(one)} {other and srepr(other)}" for one, other in line.watched),
            *line.outputs,
        )
    )
    return hashlib.sha256(text.encode()).hexdigest()


def _folder() -> Path | None:
    """Where kernels are kept: the platform's place for what can be made again."""
    stated = os.environ.get(FOLDER)
    if stated is not None:
        return Path(stated) if stated else None
    home = os.environ.get("LOCALAPPDATA") if sys.platform == "win32" else None
    if home is None and sys.platform != "darwin":
        home = os.environ.get("XDG_CACHE_HOME")
    if home:
        return Path(home) / "derive"
    try:
        own = Path.home()
    except RuntimeError:
        return None
    return own / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "derive"


def _read(key: str) -> str | None:
    """The kept code; None where there is none, or where it is not what was written."""
    folder = _folder()
    if folder is None:
        return None
    try:
        path = folder / f"{key}.kernel"
        if path.stat().st_size > _LARGEST:
            return None
        digest, _, source = path.read_text(encoding="utf-8").partition("\n")
    except (OSError, UnicodeDecodeError):
        return None
    whole = digest == _digest(key, source)
    return source if whole and _is_plain(source) else None


def _write(key: str, source: str) -> None:
    """Keep the code where that is possible; another process sees all of it or nothing."""
    folder = _folder()
    if folder is None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        passing = folder / f"{key}.{os.getpid()}"
        passing.write_text(f"{_digest(key, source)}\n{source}", encoding="utf-8")
        passing.replace(folder / f"{key}.kernel")
    except OSError:
        return


def _digest(key: str, source: str) -> str:
    return hashlib.sha256(f"{key}\n{source}".encode()).hexdigest()


def _is_plain(source: str) -> bool:
    """True for one function of arithmetic, in which only functions of numpy are called."""
    try:
        found = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return False
    nodes = list(ast.walk(found))
    if not all(isinstance(node, _ALLOWED) for node in nodes):
        return False
    own = [node for node in nodes if isinstance(node, ast.Attribute)]
    if not all(getattr(o.value, "id", "") == "numpy" and o.attr in _CALLED for o in own):
        return False
    calls = [node.func for node in nodes if isinstance(node, ast.Call)]
    return len(found.body) == 1 and all(isinstance(called, ast.Attribute) for called in calls)
