"""Numbers are read exactly and printed for people: four digits, a fitting unit, never a false 0."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from formulas.amounts import THIN_SPACE, counted_in, display, read_number
from formulas.errors import Problem
from formulas.quantities import SCALARS
from formulas.quantity import Quantity
from formulas.units import parse_unit


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1", Fraction(1, 10)),
        ("32", 32),
        ("-0.5", Fraction(-1, 2)),
        ("+3", 3),
        ("1_000_000", 10**6),
        ("1_000.000_1", Fraction(10_000_001, 10_000)),
        (".5", Fraction(1, 2)),
        ("5.", 5),
        ("1.5e9", 1_500_000_000),
        ("1E-60", Fraction(1, 10**60)),
        ("-0", 0),
        ("0.1234567890123456789012345678", Fraction(1234567890123456789012345678, 10**28)),
        ("9" * 30, 10**30 - 1),
    ],
)
def test_decimal_text_is_read_exactly(text: str, value: Fraction) -> None:
    number = read_number(text)
    assert type(number) is Fraction
    assert number == value


@pytest.mark.parametrize(
    "text",
    [
        *("", ".", "-", "nan", "inf", "-inf", "Infinity", "1,000", "1__0", "_1", "1_", "1e", "e5"),
        *("0x10", "1 000", " 1", "1\n", "\u0663", "1.2.3", "--1", "1e1.5", "1j", "1/3", "True"),
    ],
)
def test_other_text_is_no_number(text: str) -> None:
    with pytest.raises(Problem, match="is not a number"):
        read_number(text)


@pytest.mark.parametrize(
    "text",
    ["1" * 31, "0." + "1" * 31, "1e61", "1e-61", "1e" + "9" * 10_000, "9" * 100_000],
)
def test_long_numbers_are_refused_before_they_cost_anything(text: str) -> None:
    with pytest.raises(Problem) as caught:
        read_number(text)
    assert caught.value.kind == "number"
    assert len(str(caught.value)) < 120


@given(st.integers(-(10**30) + 1, 10**30 - 1), st.integers(-60, 60))
def test_every_literal_within_the_bounds_is_exact(mantissa: int, exponent: int) -> None:
    assert read_number(f"{mantissa}e{exponent}") == mantissa * Fraction(10) ** exponent


SHOWN = [
    (Fraction(3, 100), "s", "", "30 ms"),
    (Fraction(12345678, 10**6), "s", "", "12.35 s"),
    (Fraction(7200), "s", "", "7 200 s"),
    (Fraction(1, 10**13), "s", "", "0.0001 ns"),
    (Fraction(0), "s", "", "0 s"),
    (73_590_000_001, "byte", "", "73.59 GB"),
    (999_960_000, "byte", "", "1 GB"),
    (999_940_000, "byte", "", "999.9 MB"),
    (80 * 10**9, "byte", "", "80 GB"),
    (0, "byte", "", "0 B"),
    (10**40, "byte", "", "1e25 PB"),
    (50 * 10**9, "byte/s", "", "50 GB/s"),
    (989 * 10**12, "FLOP/s", "", "989 TFLOP/s"),
    (590.4, "FLOP/byte", "", "590.4 FLOP/B"),
    (Fraction(4, 5), "1", "", "0.80"),
    (0.99999, "1", "", "1.00"),
    (1, "1", "", "1"),
    (2**0.5, "1", "", "1.414"),
    (1e-7, "1", "", "1e-7"),
    (1.23456e-7, "1", "", "1.235e-7"),
    (-0.0, "1", "", "0"),
    (-0.25, "1", "", "-0.25"),
    (31002, "1", "tok", "31 002 tok"),
    (Fraction(31002, 7), "1", "tok", "4 429 tok"),
    (70_553_706_496, "1", "params", "70 553 706 496 params"),
    (10**40, "1", "tok", "1e40 tok"),
    (12.3, "1/s", "tok/s", "12.3 tok/s"),
    (12, "1/s", "", "12/s"),
    (Fraction(93, 100), "USD", "", "$0.93"),
    (Fraction(93, 100), "USD", "$/Mtok", "$0.93/Mtok"),
    (Fraction(5, 2), "USD/h", "", "$2.50/h"),
    (-3, "USD", "", "-$3.00"),
    (0, "USD", "", "$0.00"),
    (Fraction(12345, 10), "USD", "", "$1 235"),
    (Fraction(1, 1000), "USD", "", "$0.001"),
    (327_680, "byte", "B/tok", "327 680 B/tok"),
    (Fraction(327_681, 2), "byte", "B/tok", "163.8 kB/tok"),
    (True, "bool", "", "yes"),
    (False, "bool", "", "no"),
    ("9f86d081", "hash", "", "9f86d081"),
    (float("inf"), "s", "", "inf"),
    ((1, Fraction(5, 2), float("-inf"), "-inf"), "1", "", "[1, 2.5, -inf, -inf]"),
    (((1, 2), (3, 4)), "1", "", "[[1, 2], [3, 4]]"),
    ([0.25, 0.5], "s", "", "[0.25, 0.5] s"),
    (tuple(range(1200)), "1", "", "[0, 1, 2, 3, 4, 5, 6, 7, ... (1200 in all)]"),
]


@pytest.mark.parametrize(("value", "unit", "label", "text"), SHOWN)
def test_values_are_shown_for_people(value: object, unit: str, label: str, text: str) -> None:
    own = parse_unit("1") if unit in ("bool", "hash") else parse_unit(unit)
    assert display(value, own, label).replace(THIN_SPACE, " ") == text


def test_digits_are_grouped_with_a_thin_space() -> None:
    assert display(31002, parse_unit("1"), "tok") == "31\u202f002 tok"


@pytest.mark.parametrize(
    ("value", "unit", "label", "asked", "text"),
    [
        (Fraction(2746, 10**5), "s", "", "us", "27 460 us"),
        (Fraction(90), "s", "", "min", "1.5 min"),
        (79 * 2**30, "byte", "", "GiB", "79 GiB"),
        (79 * 10**9, "byte", "", "B", "79 000 000 000 B"),
        (Fraction(4, 5), "1", "", "%", "80%"),
        (Fraction(3, 2), "1", "", "x", "1.5x"),
        (4000, "1", "tok", "ktok", "4 ktok"),
        (Fraction(25, 2), "1/s", "tok/s", "tok/h", "45 000 tok/h"),
        (Fraction(4, 5), "USD", "$/Mtok", "$/ktok", "$0.0008/ktok"),
        (Fraction(4, 5), "USD", "$/Mtok", "$", "$0.80"),
        (Fraction(5, 2), "USD/h", "", "$/day", "$60.00/day"),
        (Fraction(5, 2), "USD/h", "", "USD/h", "2.5 USD/h"),
    ],
)
def test_the_asked_unit_is_honoured(
    value: Fraction, unit: str, label: str, asked: str, text: str
) -> None:
    shown = display(value, parse_unit(unit), label, parse_unit(asked))
    assert shown.replace(THIN_SPACE, " ") == text


def test_a_unit_of_another_dimension_is_refused() -> None:
    with pytest.raises(Problem) as caught:
        display(Fraction(1), parse_unit("s"), "", parse_unit("GB"))
    assert caught.value.kind == "dimension"


def test_huge_and_tiny_numeric_values_are_shown() -> None:
    assert display(mpmath.mpf("1e1000"), parse_unit("byte")) == "1e985 PB"
    assert display(mpmath.mpf("1e-1000000"), parse_unit("s")) == "1e-999991 ns"
    assert display(mpmath.mpf("0.1"), parse_unit("1")) == "0.10"
    assert display(Fraction(1, 7**5000), parse_unit("1")).endswith("e-4226")


SCALAR = st.sampled_from([q for q in SCALARS if q.unit.text != "bool"])
POSITIVE = st.fractions(min_value=Fraction(1, 10**12), max_value=10**18)


@given(SCALAR, POSITIVE, st.booleans())
def test_no_value_is_shown_as_zero_and_signs_are_kept(
    quantity: Quantity, value: Fraction, negative: bool
) -> None:
    value = -value if negative else value
    text = display(value, quantity.unit, quantity.label)
    assert any(digit in text for digit in "123456789")
    assert text.startswith("-") == negative


@given(SCALAR, POSITIVE)
def test_what_is_shown_is_the_value_in_four_digits(quantity: Quantity, value: Fraction) -> None:
    """Read back by hand here: the number before the unit, times the unit's scale."""
    text = display(value, quantity.unit, quantity.label).replace(THIN_SPACE, "")
    if text.startswith("$"):
        number, _, per = text[1:].partition("/")
        unit = parse_unit(f"$/{per}" if per else "$")
    elif text.endswith("/s") and " " not in text:
        number, unit = text.removesuffix("/s"), parse_unit("1/s")
    else:
        number, _, word = text.partition(" ")
        unit = parse_unit(word) if word else quantity.unit
    own = counted_in(quantity.unit, quantity.label if unit.tags else "")
    shown = read_number(number) * unit.scale / own.scale
    assert abs(shown - value) <= value * Fraction(1, 2000)
    if value.denominator == 1 and not quantity.unit.powers and value < 10**20:
        assert shown == value
