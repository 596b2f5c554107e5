"""`check`: whether what is stated fits together, relation by relation."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from derive.conversation import Conversation
from derive.document import Block, Document, Fields, Line, Table
from derive.outcome import Outcome
from derive.question import Question
from derive.replace import replaced
from formulas.amounts import display
from formulas.catalogue import catalogue
from formulas.scenario import scenario
from solvers.audit import Audit, Loose, audit
from solvers.audit_text import apart, is_beyond
from solvers.trial import Finding

_STATUS = {"inconsistent": "contradiction"}
_PARALLEL = ("tp", "pp", "dp", "ep")
_READINGS = {
    "expert_params": "a dense model",
    "prefix_hit_rate": "no prompt in the cache beforehand",
    "wide_params": "every weight in one format",
}
_SIGNS = {"=": "", ">=": ">= ", "<=": "<= ", "..": "", "": ""}


def answer_check(conversation: Conversation, question: Question) -> tuple[Conversation, Outcome]:
    """What is stated, tried against every relation that ties it; contradiction where one breaks."""
    stated = scenario(replaced(conversation.statements, question.statements))
    found = audit(stated)
    status = _STATUS.get(found.verdict, "ok")
    document = (*_blocks(found), *_read_as(question))
    return conversation, Outcome(status, document, _data(found, status))


def verdict_line(found: Audit) -> str:
    """The verdict with what it rests on, in a line."""
    broken, tried = len(found.broken), len(found.findings)
    if not tried:
        return "nothing to compare: no relation ties what is stated to anything else stated"
    if broken:
        return f"inconsistent: {broken} of {_counted(tried, 'relation')} broken"
    return f"consistent: {_counted(tried, 'relation')} tried, none broken"


def _counted(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _blocks(found: Audit) -> Iterator[Block]:
    yield Line(verdict_line(found))
    if found.findings:
        yield Table(
            ("", "relation", "quantity", "stated", "computed", "off by"),
            tuple(_row(finding) for finding in found.findings),
            ("stated", "computed", "off by"),
        )
    rows = [("broken" if i == 0 else "", f.text) for i, f in enumerate(found.broken)]
    if found.untied:
        rows.append(("untied", f"{', '.join(found.untied)}: no relation ties them to the others"))
    rows += [("loose" if i == 0 else "", text) for i, text in enumerate(_loose(found.loose))]
    if found.read and found.findings:
        rows.append(("read as", _assumed(found.read)))
    if rows:
        yield Fields(tuple(rows))


def _row(finding: Finding) -> tuple[str, ...]:
    mark = "ok" if finding.holds else "broken"
    stated, computed = _shown(finding, finding.left), _shown(finding, finding.right)
    sign = _SIGNS[finding.sense] if finding.right is not None else ""
    computed += f" to {_shown(finding, finding.high)}" if finding.high is not None else ""
    told = finding.sense == "=" or not finding.holds or is_beyond(finding)
    off = _off(finding) if told and finding.off is not None else ""
    return (mark, finding.relation, finding.quantity, stated, f"{sign}{computed}", off)


def _off(finding: Finding) -> str:
    off = finding.off or 0.0
    # Less than what is shown of the figures is no difference.
    within = ", within the digits" if finding.holds and is_beyond(finding) else ""
    return "0 %" if abs(off) < 5e-5 else f"{apart(off)}{within}"


def _shown(finding: Finding, value: Any) -> str:
    if value is None:
        return ""
    quantity = catalogue().quantities.get(finding.quantity)
    if quantity is None:
        return f"{float(value):.4g}"
    return display(Fraction(value), quantity.unit, quantity.label)


def _loose(rows: tuple[Loose, ...]) -> Iterator[str]:
    """The facts of which a slip would not be noticed, those of one kind together."""
    kinds = {(True, True): "lower or higher", (True, False): "lower", (False, True): "higher"}
    for (lower, higher), way in kinds.items():
        names = [row.name for row in rows if (row.lower, row.higher) == (lower, higher)]
        if names:
            yield f"{', '.join(names)}: a figure 20 % {way} would break no relation"


def _assumed(read: tuple[tuple[str, float, float], ...]) -> str:
    """What was read into the facts where they say nothing."""
    names = [name for name, _, _ in read if name in _PARALLEL]
    high = max((high for name, _, high in read if name in _PARALLEL), default=1.0)
    parallel = f"{', '.join(names)} = {'1' if high == 1 else f'1 to {high:.0f}'}" if names else ""
    words = [_READINGS[name] for name, _, _ in read if name in _READINGS]
    return "; ".join(part for part in (parallel, *words) if part)


def _read_as(question: Question) -> Document:
    return (Fields(tuple(("read as", note) for note in question.read_as)),) * bool(question.read_as)


def _data(found: Audit, status: str) -> dict[str, Any]:
    return {
        "status": status,
        "verdict": found.verdict,
        "findings": [_finding_data(finding) for finding in found.findings],
        "untied": list(found.untied),
        "loose": [{"name": r.name, "lower": r.lower, "higher": r.higher} for r in found.loose],
    }


def _finding_data(finding: Finding) -> dict[str, Any]:
    quantity = catalogue().quantities.get(finding.quantity)
    unit = {} if quantity is None else {"unit": quantity.unit.text or str(quantity.unit)}
    return {
        "relation": finding.relation,
        "holds": finding.holds,
        "name": finding.quantity,
        "sense": finding.sense,
        "stated": None if finding.left is None else float(finding.left),
        "computed": None if finding.right is None else float(finding.right),
        **({} if finding.high is None else {"computed_high": float(finding.high)}),
        **unit,
        "off": finding.off,
        "facts": list(finding.quantities),
        "through": list(finding.through),
        "text": finding.text,
    }
