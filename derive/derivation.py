"""The derivation of an answer as a document that stands for itself."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from derive import document as card
from derive.asked import Asked
from derive.derivation_limits import bound_blocks, inverse_blocks, is_isolated, limit_blocks
from derive.derivation_parts import (
    SENSES,
    assumption_blocks,
    card_blocks,
    check_blocks,
    fact_blocks,
    formula_blocks,
    grid_of,
    letter_blocks,
    question_blocks,
    reproduction_blocks,
)
from derive.document import Fields, Heading, Table
from derive.formulas_of_answer import expression_blocks
from derive.paper import Block, Math, Note, Paper, Paragraph, Section, Strong, Title, Typed
from derive.session import Reply
from derive.setting import Setting, setting_of
from derive.step_lines import step_blocks
from derive.wording import remarks, shown, status
from formulas.errors import Problem
from formulas.formula import VOCABULARY
from formulas.scenario import Scenario
from solvers.answer import Choice, Evidence, Exact, Infeasible, Range


def derivation(reply: Reply) -> Paper:
    """Title, question, facts, letters, formulas, steps, check, sensitivity, assumptions, lines.

    Of a refusal what is known: what clashes, what lacks, the ways out, and the numbers at the point
    that comes nearest.
    """
    asked = reply.asked
    scenario = asked.request().scenario
    blocks: list[Block] = [Title(_title(reply)), *_answer_blocks(reply), *question_blocks(asked)]
    setting = _setting(reply, scenario)
    if setting is None:
        return (*blocks, *_stated(asked), *reproduction_blocks(asked))
    blocks += fact_blocks(setting)
    blocks += letter_blocks(setting)
    blocks += formula_blocks(setting)
    blocks += _steps(reply, setting)
    blocks += [Section(_check_title(reply)), *_check_head(reply, setting), *check_blocks(setting)]
    blocks += _sensitivity(reply)
    blocks += assumption_blocks(setting.evidence)
    return (*blocks, *reproduction_blocks(asked))


def _has_value(reply: Reply) -> bool:
    return isinstance(reply.answer, Exact | Choice | Range)


def _title(reply: Reply) -> str:
    find, answer = reply.answer.find, reply.answer
    if isinstance(answer, Exact | Choice | Range):
        sense = reply.asked.sense
        return f"{SENSES[sense]} {find}" if sense else f"{find}: a derivation"
    words = {
        "infeasible": f"No {find} satisfies this",
        "missing": f"{find}: what is missing",
        "contradiction": f"{find}: the facts contradict each other",
        "unbounded": f"{find}: nothing limits it",
        "unproved": f"{find}: not proved",
    }
    return words[status(answer)]


def _answer_blocks(reply: Reply) -> list[Block]:
    """The answer in a line, and what the card says beside it."""
    answer, asked = reply.answer, reply.asked
    if not isinstance(answer, Exact | Choice | Range):
        # How to see the steps is of no use here: they follow.
        wanted = [b for b in reply.document() if not _is_hint(b)]
        return [Section("Answer"), *card_blocks(tuple(wanted))]
    heads = [block.text for block in reply.document() if isinstance(block, Heading)]
    parts: list[Any] = [Strong(" ".join(heads[0].split("    ")) if heads else "")]
    if isinstance(answer, Exact) and answer.binding:
        parts.append(f". Binding: {', '.join(answer.binding)}.")
    blocks: list[Block] = [Section("Answer"), Paragraph(tuple(parts))]
    if isinstance(answer, Choice):
        text = ", ".join(f"{key} = {_plain(value)}" for key, value in answer.choice.items())
        over = ", ".join(axis.name for axis in asked.over) or "the choices"
        note = f"Of every combination of {over}, {text} is the best that meets every limit."
        blocks.append(Paragraph((note,)))
    if isinstance(answer, Exact) and answer.branches:
        for branch in answer.branches:
            text = shown(Exact(answer.find, branch.value), asked.quantity, asked.unit)
            where = f", where {branch.condition}" if branch.condition else ""
            blocks.append(Paragraph((f"One of its values is {text}{where}.",)))
    blocks += [Note((f"{note}.",)) for note in remarks(answer, asked.quantity.domain)
               if note not in answer.evidence.notes]  # fmt: skip
    return blocks


def _is_hint(block: card.Block) -> bool:
    return isinstance(block, Fields) and [label for label, _ in block.rows] == ["steps"]


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else f"{float(value):g}"


def _setting(reply: Reply, scenario: Scenario) -> Setting | None:
    """The point of which the derivation speaks; none where nothing has a value."""
    found = _point(reply)
    if found is None:
        return None
    value, evidence = found
    values = {} if value is None else {reply.answer.find: value}
    speaks_of = tuple(c.quantity for c in evidence.checks if c.quantity)
    setting = setting_of(
        reply.answer.find, reply.asked.quantity, evidence, scenario, values, speaks_of
    )
    return setting if setting.links or setting.facts() else None


def _point(reply: Reply) -> tuple[Any, Evidence] | None:
    from derive.why import at_value, nearest_of

    answer = reply.answer
    match answer:
        case Exact(value=value) | Choice(value=value):
            return value, answer.evidence
        case Range(intervals=spans):
            ends = [end for span in spans for end in (span.high, span.low) if end is not None]
            if reply.asked.expression is not None or not ends:
                return None
            end = ends[0] if isinstance(ends[0], Fraction) else Fraction(str(ends[0]))
            return end, at_value(reply.asked, end).evidence
        case Infeasible():
            return nearest_of(reply)
        case _:
            return None


def _steps(reply: Reply, setting: Setting) -> list[Block]:
    """What does not depend on what is asked, then each limit, then the value itself."""
    answer = reply.answer
    backwards = _is_backwards(reply, setting)
    fixed = [link for name, link in setting.links.items() if not setting.depends(name)]
    after = [link for name, link in setting.links.items() if setting.depends(name)]
    blocks: list[Block] = []
    if fixed:
        title = "What is fixed" if backwards else "Derivation"
        blocks += [Section(title), *(b for link in fixed for b in step_blocks(setting, link))]
    if not backwards:
        if after and not fixed:
            blocks.append(Section("Derivation"))
        blocks += [b for link in after for b in step_blocks(setting, link)]
        return [*blocks, *expression_blocks(reply, setting)]
    if setting.last is not None and not reply.asked.sense:
        blocks += inverse_blocks(setting)
    else:
        blocks += limit_blocks(setting)
        blocks += bound_blocks(setting, answer)
    if after:
        blocks.append(Section(_forwards_title(setting, reply)))
        blocks += [b for link in after for b in step_blocks(setting, link)]
    return blocks


def _forwards_title(setting: Setting, reply: Reply) -> str:
    value = setting.printed(setting.find).text
    if isinstance(reply.answer, Infeasible):
        return f"The nearest point: {setting.find} = {value}"
    return f"Forwards, with {setting.find} = {value}"


def _is_backwards(reply: Reply, setting: Setting) -> bool:
    """Whether the value follows from something that is computed from it."""
    if isinstance(reply.answer, Choice) or setting.find in setting.links:
        return False
    if setting.find not in VOCABULARY:
        return False
    return setting.last is not None or len(setting.moving) > 1 or is_isolated(setting)


def _check_title(reply: Reply) -> str:
    return "Check by substitution" if _has_value(reply) else "Where it comes nearest"


def _check_head(reply: Reply, setting: Setting) -> list[Block]:
    answer = reply.answer
    name = setting.find
    if name not in setting.values:
        return []
    value = setting.printed(name, None, 10).text
    parts: list[Any] = [Typed(name), f" = {value} put into every constraint"]
    blocks: list[Block] = []
    last = setting.last
    if last is not None and last.because in setting.scenario.given:
        stated = setting.scenario.given[last.because].value
        again = setting.printed(last.because)
        wanted = setting.printed(last.because, stated)
        parts += [" gives ", Math(setting.letter(last.because)), f" = {again.text}; stated was "
                  f"{wanted.text}. The constraints"]  # fmt: skip
    blocks.append(Paragraph((*parts, ":")))
    if isinstance(answer, Exact) and answer.sense and isinstance(answer.value, Fraction):
        blocks = [*blocks, *_beyond(reply, setting, answer.value)]
    return blocks


def _beyond(reply: Reply, setting: Setting, value: Fraction) -> list[Block]:
    """The next value of the grid, and what it breaks."""
    from derive.why import at_value
    from formulas.deployment.constraints import GRIDS

    domain = reply.asked.quantity.domain
    if not domain.whole or reply.asked.expression is not None:
        return []
    grid = Fraction(1)
    if setting.find in GRIDS:
        for name in GRIDS[setting.find][1]:
            grid *= setting.values.get(name, Fraction(1))
    beyond = value + (grid if reply.asked.sense == "max" else -grid)
    if not domain.holds(beyond):
        return []
    broken = [c.name for c in at_value(reply.asked, beyond).evidence.checks if not c.holds]
    if not broken:
        return []
    text = setting.printed(setting.find, beyond).text
    return [Paragraph((f"The next value, {text}, breaks {', '.join(broken)}.",))]


def _sensitivity(reply: Reply) -> list[Block]:
    """What one per cent of each fact does, or why that has no answer."""
    from derive.sens import document, sensitivities

    if not isinstance(reply.answer, Exact | Choice):
        return []
    try:
        rows = sensitivities(reply)
        table, *rest = document(reply, rows)
    except Problem as reason:
        return [Section("Sensitivity"), Note((f"None: {reason.message}.",))]
    if not rows or not isinstance(table, Table) or not table.rows:
        return []
    notes = [row for block in rest if isinstance(block, Fields) for row in block.rows]
    return [
        Section("Sensitivity"),
        grid_of(table),
        *(Note((f"{label}: {text}.",)) for label, text in notes),
    ]


def _stated(asked: Asked) -> list[Block]:
    """What was said, where nothing could be computed from it."""
    from derive.derivation_parts import stated_blocks

    return stated_blocks(asked)
