"""Units: a closed vocabulary, exact scales, dimensions that are checked and tags that are not."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formulas.errors import Problem
from formulas.units import Unit, parse_unit, unit_words

WORDS = st.sampled_from(unit_words())


@pytest.mark.parametrize(
    ("text", "powers", "scale"),
    [
        ("GB", {"byte": 1}, 10**9),
        ("GiB", {"byte": 1}, 2**30),
        ("KB", {"byte": 1}, 1000),
        ("bit", {"byte": 1}, Fraction(1, 8)),
        ("Gbit/s", {"byte": 1, "second": -1}, Fraction(10**9, 8)),
        ("Gbps", {"byte": 1, "second": -1}, Fraction(10**9, 8)),
        ("TFLOPS", {"FLOP": 1, "second": -1}, 10**12),
        ("FLOP/byte", {"FLOP": 1, "byte": -1}, 1),
        ("ns", {"second": 1}, Fraction(1, 10**9)),
        ("day", {"second": 1}, 86400),
        ("s/h", {}, Fraction(1, 3600)),
        ("$/h", {"dollar": 1, "second": -1}, Fraction(1, 3600)),
        ("USD/hour", {"dollar": 1, "second": -1}, Fraction(1, 3600)),
        ("$/Mtok", {"dollar": 1}, Fraction(1, 10**6)),
        ("kW", {"joule": 1, "second": -1}, 1000),
        ("J/W", {"second": 1}, 1),
        ("kWh", {"joule": 1}, 3_600_000),
        ("%", {}, Fraction(1, 100)),
        ("1/s", {"second": -1}, 1),
    ],
)
def test_a_word_names_one_exact_unit(text: str, powers: dict[str, int], scale: Fraction) -> None:
    unit = parse_unit(text)
    assert dict(unit.powers) == powers
    assert unit.scale == scale
    assert str(unit) == text


def test_counting_words_are_tags_and_no_dimension() -> None:
    unit = parse_unit("ktok/s/GPU")
    assert unit.powers == (("second", Fraction(-1)),)
    assert dict(unit.tags) == {"token": 1, "GPU": -1}
    assert unit.scale == 1000
    assert unit.same_dimension(parse_unit("1/s"))


def test_bytes_are_a_dimension() -> None:
    assert not parse_unit("GB").same_dimension(parse_unit("1"))
    assert not parse_unit("GB/s").same_dimension(parse_unit("1/s"))


@pytest.mark.parametrize("text", ["gb", "Gib", "mb", "sec", "", "GB/", "K", "Mhz", "__import__"])
def test_another_word_is_a_problem(text: str) -> None:
    with pytest.raises(Problem) as caught:
        parse_unit(text)
    assert caught.value.kind == "unit"


@pytest.mark.parametrize(
    ("text", "bits", "bytes_"),
    [
        ("Gb/s", "Gbit/s", "GB/s"),
        ("GBps", "Gbit/s", "GB/s"),
        ("kb", "kbit", "kB"),
        ("Kb", "kbit", "kB"),
        ("b", "bit", "B"),
        ("GiBps", "Gbit/s", "GiB/s"),
        ("Gb/tok", "Gbit/tok", "GB/tok"),
    ],
)
def test_bits_or_bytes_is_asked_with_two_spellings_that_both_work(
    text: str, bits: str, bytes_: str
) -> None:
    with pytest.raises(Problem) as caught:
        parse_unit(text)
    assert caught.value.candidates == (bits, bytes_)
    assert parse_unit(bits).same_dimension(parse_unit(bytes_))


@given(WORDS, WORDS)
def test_a_product_undoes_a_quotient(one: str, other: str) -> None:
    left, right = parse_unit(one), parse_unit(other)
    assert left / right * right == left
    assert dict((left / right * right).tags) == dict(left.tags)


@given(WORDS, st.integers(-6, 6))
def test_a_power_is_repeated_multiplication(word: str, exponent: int) -> None:
    unit = parse_unit(word)
    product = Unit()
    for _ in range(abs(exponent)):
        product = product * unit if exponent > 0 else product / unit
    power = unit.power(Fraction(exponent))
    assert {base: p for base, p in power.powers if p} == dict(product.powers)
    assert power.scale == product.scale
