"""The limits of an answer, each taken apart, and how they combine to the value."""

from __future__ import annotations

from typing import Any

from derive.as_latex import SIGNS, shape_latex
from derive.derivation_parts import shown_checks
from derive.isolation import Collected, Isolated, Peel, isolated
from derive.layout import lay_out
from derive.paper import Aligned, Block, Grid, Math, Note, Paragraph, Section, Typed, cells
from derive.printed import fraction, plain_number, printed
from derive.setting import Setting
from derive.step_lines import expression_latex, put_in
from derive.tex_break import fits
from formulas.formula import VOCABULARY
from solvers.answer import Answer, Check, Exact
from solvers.spans import contains

_LONGEST_SLOPE = 22.0


def is_isolated(setting: Setting) -> bool:
    """Whether a limit on what is asked itself is all there is."""
    return any(c.quantity == setting.find and c.stated for c in setting.evidence.checks)


def inverse_blocks(setting: Setting) -> list[Block]:
    """What is stated, solved for what is asked."""
    last = setting.last
    assert last is not None
    target = last.because
    given = setting.scenario.given.get(target)
    goal = given.value if given is not None else setting.values.get(target)
    head: list[Block] = [Section(f"Solved for {setting.find}")]
    found = isolated(setting, target, "=", goal)
    if found is None:
        return [*head, *_in_numbers(setting, target)]
    return [*head, *_isolated_blocks(setting, found)]


def _in_numbers(setting: Setting, target: str) -> list[Block]:
    letter, name = setting.letter(setting.find), Typed(setting.find)
    text = " has no inverse that is written out line by line; its value was found in numbers"
    value = setting.printed(setting.find, None, 8)
    return [
        Paragraph((Typed(target), " as a function of ", name, f"{text}:")),
        Aligned(((letter, f"= {value.latex}"),)),
    ]


def limit_blocks(setting: Setting) -> list[Block]:
    """One part for every limit on what is asked, with the bound that it sets."""
    blocks: list[Block] = []
    for check in _limits(setting):
        blocks.append(Section(f"Limit: {check.name}"))
        found = bound_of(setting, check)
        if found is None:
            text = (
                " moves with ", Typed(setting.find), ", by steps or in a way that is not solved "
                "line by line; it was settled in numbers, and is checked below.",
            )  # fmt: skip
            blocks.append(Paragraph((Typed(check.quantity or check.name), *text)))
            continue
        blocks += _isolated_blocks(setting, found)
    return blocks


def _limits(setting: Setting) -> list[Check]:
    """The comparisons that what is asked has a part in."""
    return [c for c in shown_checks(setting.evidence) if c.quantity and setting.depends(c.quantity)]


def bound_of(setting: Setting, check: Check) -> Isolated | None:
    """The bound that a comparison sets; None where its other side moves too, or it has none."""
    from formulas.catalogue import catalogue

    sides = next((c.inputs for c in catalogue().constraints if c.name == check.name), ())
    if any(setting.depends(name) for name in sides if name != check.quantity):
        return None
    return isolated(setting, check.quantity, check.relation, check.right)


def _isolated_blocks(setting: Setting, found: Isolated) -> list[Block]:
    """The limit, then each relation turned round, its numbers, and what is left."""
    goal = setting.printed(found.name, found.goal)
    head = Aligned(((setting.letter(found.name), f"{SIGNS[found.sign]} {goal.latex}"),))
    blocks: list[Block] = [head]
    for step in found.peels:
        blocks += _collected(setting, step) if isinstance(step, Collected) else _peel(setting, step)
    return blocks


def _peel(setting: Setting, step: Peel) -> list[Block]:
    relation, letter = step.link.relation, setting.letter(step.name)
    values = {**setting.values, relation.gives: step.goal}
    formula = expression_latex(setting, step.expr)
    rows = [(setting.letter(relation.gives), f"= {formula}")]
    sign = SIGNS[step.turned]
    shape = lay_out(step.value)
    result = [(letter, f"{sign} {shape_latex(shape, setting.letters)}")]
    result += put_in(setting, step.name, shape, values, step.then, step.turned)
    return [
        Paragraph((Typed(relation.key), *_arms(setting, step), ":")),
        Aligned(tuple(rows)),
        Paragraph(_reason(setting, step)),
        Aligned(tuple(result)),
    ]


def _arms(setting: Setting, step: Peel) -> tuple[Any, ...]:
    """Which arm decides, against which others."""
    parts: list[Any] = []
    for best, other in step.decides:
        names = [expression_latex(setting, arm) for arm in (best, other)]
        parts += [", where ", Math(names[0]), " decides and ", Math(names[1]), " does not"]
    return tuple(parts)


def _reason(setting: Setting, step: Peel) -> tuple[Any, ...]:
    """Why the direction of the limit stays or turns round."""
    gives, name = (setting.letter(n) for n in (step.link.relation.gives, step.name))
    if step.sign == "=":
        return ("Solved for ", Math(name), ":")
    slope = expression_latex(setting, step.slope)
    sign = ">" if step.rises else "<"
    shown = rf"\frac{{\partial {gives}}}{{\partial {name}}} = {slope} {sign} 0"
    if not fits(shown, _LONGEST_SLOPE):
        shown = rf"\frac{{\partial {gives}}}{{\partial {name}}} {sign} 0"
    verb = "rises" if step.rises else "falls"
    before, after = SIGNS[step.sign], SIGNS[step.turned]
    turned = ("stays" if step.rises else "becomes ", *(() if step.rises else (Math(after),)))
    return (
        "Solved for ", Math(name), "; ", Math(gives), f" {verb} with it, ", Math(shown),
        ", so ", Math(before), " ", *turned, ":",
    )  # fmt: skip


def _collected(setting: Setting, step: Collected) -> list[Block]:
    """The quantity as a line in what is asked, and the line solved for it."""
    own, asked = VOCABULARY[step.name], setting.letter(setting.find)
    letter = setting.letter(step.name)
    for digits in range(5, 16):
        start, slope, goal = (
            printed(own, part, digits) for part in (step.start, step.slope, step.goal)
        )
        assert start.value is not None
        assert slope.value is not None
        assert goal.value is not None
        value = setting.printed(setting.find, step.value, 6)
        again = setting.printed(setting.find, (goal.value - start.value) / slope.value, 6)
        if again.latex == value.latex:
            break
    negative = slope.latex.startswith("-")
    term = rf"{slope.latex.removeprefix('-')} \cdot {asked}"
    line = f"= {start.latex} {'-' if negative else '+'} {term}"
    if step.start == 0:
        line = f"= {'-' if negative else ''}{term}"
    stays = SIGNS[step.turned]
    minus = _minus(goal.latex, start.latex) if step.start else goal.latex
    words = "" if step.sign == "=" else ", so the limit " + (
        "stays" if step.turned == step.sign else "turns round"
    )  # fmt: skip
    falls = "falls" if negative else "rises"
    return [
        Paragraph((
            Typed(setting.find), " comes into ", Typed(step.name),
            " by more than one way; with every other number put in, one line is left, which "
            f"{falls} with it{words}:",
        )),
        Aligned((
            (letter, line),
            (asked, rf"{stays} \frac{{{minus}}}{{{slope.latex}}}"),
            ("", f"{stays} {value.latex}"),
        )),
    ]  # fmt: skip


def _minus(left: str, right: str) -> str:
    """A difference without a sign before a sign."""
    return f"{left} + {right[1:]}" if right.startswith("-") else f"{left} - {right}"


def bound_blocks(setting: Setting, answer: Answer) -> list[Block]:
    """The bounds side by side, the one that decides, and the step down to the grid."""
    if not isinstance(answer, Exact) or not answer.sense:
        return []
    towards = "<" if answer.sense == "max" else ">"
    bounds = [(c, b) for c in _limits(setting) if (b := bound_of(setting, c)) is not None]
    side = [(c.name, b.turned, b.bound) for c, b in bounds if b.turned.startswith(towards)]
    side += _in_numbers_only(answer, {name for name, _, _ in side}, f"{towards}=")
    if not side:
        return []
    rows = [
        cells(
            Typed(name),
            Math(SIGNS[sign]),
            printed(setting.quantity, bound, 8).text,
            "binds" if name in answer.binding else "",
        )
        for name, sign, bound in side
    ]
    blocks: list[Block] = [
        Section("Combined"),
        Grid(("limit", "", setting.find, ""), tuple(rows), right=(2,)),
    ]
    return [*blocks, *_rounding(setting, answer, [bound for _, _, bound in side])]


def _in_numbers_only(answer: Exact, named: set[str], sign: str) -> list[tuple[str, str, Any]]:
    """The end of what is feasible, where nothing that is solved line by line sets it."""
    if named & set(answer.binding) or len(answer.binding) != 1:
        return []
    span = next((s for s in answer.intervals if contains(s, answer.value)), None)
    end = None if span is None else span.high if answer.sense == "max" else span.low
    return [] if end is None else [(answer.binding[0], sign, end)]


def _rounding(setting: Setting, answer: Exact, bounds: list[Any]) -> list[Block]:
    """The least of the bounds, on the grid of the quantity; said only where it comes to that."""
    value = fraction(answer.value)
    numbers = [number for number in map(fraction, bounds) if number is not None]
    if value is None or not numbers:
        return []
    upwards = answer.sense == "max"
    best = (min if upwards else max)(numbers)
    letter, result = setting.letter(setting.find), setting.printed(setting.find)
    word = r"\min" if upwards else r"\max"
    inside = r", \; ".join(plain_number(number, 8) for number in numbers)
    several = rf"{word}({inside})" if len(numbers) > 1 else inside
    rounded = best.__floor__() if upwards else best.__ceil__()
    if setting.quantity.domain.whole and value == rounded:
        ends = ("floor", "floor") if upwards else ("ceil", "ceil")
        fenced = rf"\left\l{ends[0]} {several} \right\r{ends[1]}"
        return [Aligned(((letter, f"= {fenced}"), ("", f"= {result.latex}")))]
    if abs(value - best) <= abs(best) / 10**9:
        return [Aligned(((letter, f"= {several}"), ("", f"= {result.latex}")))]
    text = f"On its grid, and with what is checked below, the value is {result.text}."
    return [Note((text,))]
