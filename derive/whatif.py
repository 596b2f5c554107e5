"""The verb `whatif`: an answer now and with other facts, and what would make both the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from derive.asked import SENSES, Asked, asked_of
from derive.deadline import answer
from derive.document import Block, Document, Fields, Table
from derive.outcome import Outcome
from derive.replace import replaced, subject
from derive.session import Reply
from derive.wording import shown
from formulas.amounts import display
from formulas.catalogue import catalogue
from formulas.errors import Problem
from formulas.statements import Fact, Statement, UseGpu
from solvers.answer import Answer, Choice, Exact, Infeasible, Missing
from solvers.number import Number, divide, is_number, minus

if TYPE_CHECKING:
    from derive.conversation import Conversation
    from derive.question import Question

PRICE = "price_per_gpu_hour"
# What is said of a price belongs to the GPU that it was said of.
_KEPT = f"{PRICE} stays as it is stated; the other GPU's own can be stated in whatif"


@dataclass(frozen=True, slots=True)
class BreakEven:
    """The price of a GPU at which both sides cost the same, and how many times the present one."""

    price: Number
    ratio: Number


@dataclass(frozen=True, slots=True)
class Comparison:
    """One question answered twice: with what is stated, and with some of it replaced by `new`."""

    now: Reply
    then: Reply
    new: tuple[Statement, ...]
    break_even: BreakEven | None = None

    @property
    def change(self) -> Number | None:
        """The relative change of the value; None where one of the two has none."""
        before, after = _value(self.now.answer), _value(self.then.answer)
        if before is None or after is None or before == 0:
            return None
        return divide(minus(after, before), abs(before))

    @property
    def delta(self) -> str:
        """The change as people read it: +74.4 %."""
        return "" if self.change is None else percent(self.change)


def answer_whatif(conversation: Conversation, question: Question) -> tuple[Conversation, Outcome]:
    """The question now and with other facts; nothing that is stated changes."""
    if not question.statements:
        raise Problem("syntax", "whatif needs a fact", ("example: whatif gpu = 8 x h200-sxm",))
    now = _now(conversation, question)
    seconds = conversation.seconds
    found = compare(now, question.statements, seconds)
    status = found.then.status
    return conversation, Outcome(status, document(found), data(found), found.then)


def compare(now: Asked | Reply, new: Iterable[Statement], seconds: float = 60.0) -> Comparison:
    """A question, or an answer that is there already, beside the same with other facts."""
    fresh = tuple(new)
    before = now if isinstance(now, Reply) else Reply(now, answer(now, seconds))
    statements = replaced(before.asked.statements, fresh, same_count=True)
    asked = replace(before.asked, statements=statements)
    after = Reply(asked, answer(asked, seconds))
    return Comparison(before, after, fresh, _break_even(before, after, seconds))


def _now(conversation: Conversation, question: Question) -> Asked | Reply:
    """What is compared: the question behind the colon, else the last one."""
    inner = question.inner
    if inner is not None:
        if inner.verb not in ("value", *SENSES):
            word = inner.verb
            raise Problem("syntax", f"whatif compares values, and '{word}' is none", (_EXAMPLE,))
        return asked_of(inner, conversation.statements, conversation.prefer)
    if conversation.last is None:
        raise Problem("syntax", "nothing has been asked yet that whatif could compare", (_EXAMPLE,))
    return conversation.last


_EXAMPLE = "example: whatif gpu = 8 x h200-sxm: max context"


# -- the price at which the choice flips


def _break_even(now: Reply, then: Reply, seconds: float) -> BreakEven | None:
    """The price on the other side that makes its cost that of this side, found backwards."""
    find = now.asked.find
    price = _stated_price(now.asked.statements)
    cost = _value(now.answer)
    if price is None or not price or now.asked.sense or now.asked.over or cost is None:
        return None
    if _value(then.answer) is None or find not in catalogue().downstream(PRICE):
        return None
    kept = tuple(row for row in then.asked.statements if subject(row) != ("value", PRICE))
    equal = Fact(find, cost, text=f"{find} as it is now")
    asked = replace(then.asked, find=PRICE, statements=(*kept, equal), unit=None)
    found = _value(answer(asked, seconds))
    return None if found is None else BreakEven(found, divide(found, price))


def _stated_price(statements: Iterable[Statement]) -> Fraction | None:
    rows = [row.value for row in statements if isinstance(row, Fact) and row.quantity == PRICE]
    return rows[-1] if rows and isinstance(rows[-1], Fraction) else None


def _value(found: Answer) -> Number | None:
    """The one number that answers, None where there is none."""
    value = found.value if isinstance(found, Exact | Choice) else None
    return value if is_number(value) else None


# -- what people and scripts see


def percent(change: Number) -> str:
    """A relative change with its sign and three digits: +74.4 %."""
    share = float(f"{100 * float(change):.3g}")
    return f"{share:+g} %" if share else "0 %"


def document(found: Comparison) -> Document:
    """Both answers side by side, then what would make them the same, and why one has none."""
    find = found.now.asked.find
    rows: list[tuple[str, ...]] = [(find, _cell(found.now), _cell(found.then), found.delta)]
    bound = [", ".join(_binding(side)) for side in (found.now, found.then)]
    if any(bound):
        rows.append(("binds", *bound, "unchanged" if bound[0] == bound[1] else "changed"))
    chosen = [side.answer.choice if isinstance(side.answer, Choice) else {} for side in
              (found.now, found.then)]  # fmt: skip
    for name in dict.fromkeys([*chosen[0], *chosen[1]]):
        texts = [_shown_choice(name, side.get(name)) for side in chosen]
        rows.append((name, *texts, "" if texts[0] == texts[1] else "changed"))
    blocks: list[Block] = [Table(("", "now", "whatif", ""), tuple(rows), numeric=("now", "whatif"))]
    fields = [*_reasons(found), *_costs(found), *_notes(found)]
    return (*blocks, Fields(tuple(fields))) if fields else tuple(blocks)


def _cell(side: Reply) -> str:
    words = {Infeasible: "none", Missing: "needs facts"}
    text = words.get(type(side.answer))
    return text or shown(side.answer, side.asked.quantity, side.asked.unit)


def _binding(side: Reply) -> tuple[str, ...]:
    found = side.answer
    return found.binding if isinstance(found, Exact | Choice) else ()


def _shown_choice(name: str, value: Any) -> str:
    quantity = catalogue().quantities.get(name)
    if value is None or quantity is None or not is_number(value):
        return "" if value is None else str(value)
    return display(value, quantity.unit, quantity.label)


def _reasons(found: Comparison) -> list[tuple[str, str]]:
    sides = (("now", found.now), ("whatif", found.then))
    texts = [(label, side.to_dict().get("message")) for label, side in sides]
    return [(label, str(text)) for label, text in texts if text]


def _costs(found: Comparison) -> list[tuple[str, str]]:
    """What is saved, and the price at which nothing would be."""
    find = found.now.asked.find
    before, after = _value(found.now.answer), _value(found.then.answer)
    even = found.break_even
    if even is None or before is None or after is None:
        return []
    quantity, price = found.now.asked.quantity, catalogue().quantities[PRICE]
    saved = minus(before, after)
    word = "saves" if saved >= 0 else "costs"
    amount = display(abs(saved), quantity.unit, quantity.label, found.now.asked.unit)
    more = "" if saved >= 0 else " more"
    at = display(even.price, price.unit, price.label)
    times = f"{float(even.ratio):.4g} times the present one"
    return [
        (word, f"{amount}{more}"),
        ("break-even", f"at {PRICE} = {at}, {times}, {find} is the same"),
    ]


def _notes(found: Comparison) -> list[tuple[str, str]]:
    changes_gpu = any(isinstance(row, UseGpu) for row in found.new)
    says_price = _stated_price(found.new) is not None
    return [("note", _KEPT)] if found.break_even and changes_gpu and not says_price else []


def data(found: Comparison) -> Mapping[str, Any]:
    """The flat object of each side, the relative change and the break-even price."""
    even = found.break_even
    rows = {
        "status": found.then.status,
        "find": found.now.asked.find,
        "now": found.now.to_dict(),
        "whatif": found.then.to_dict(),
        "change": None if found.change is None else float(found.change),
        "break_even": None
        if even is None
        else {
            "name": PRICE,
            "value": float(even.price),
            "unit": catalogue().quantities[PRICE].unit.text,
            "ratio": float(even.ratio),
        },
    }
    return {key: value for key, value in rows.items() if value is not None}
