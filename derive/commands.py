"""The table of verbs: what each is written like, what it says of itself, and what answers it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from derive.conversation import Conversation
    from derive.outcome import Outcome
    from derive.question import Question

Handler = Callable[["Conversation", "Question"], "tuple[Conversation, Outcome]"]


@dataclass(frozen=True, slots=True)
class Verb:
    """One word that begins a line; `module` holds its handler, imported when it is first used."""

    name: str
    syntax: str
    help: str
    example: str
    module: str

    @property
    def handler(self) -> Handler:
        """The function that answers it, which is named for the verb."""
        found: Handler = getattr(import_module(f"derive.{self.module}"), f"answer_{self.name}")
        return found


VERBS = {
    verb.name: verb
    for verb in (
        Verb("which", "which NAMES [given FACTS]", "every choice, and what each breaks",
             "which tp given tpot <= 25 ms, context = 8192", "which"),
        Verb("whatif", "whatif FACTS [: QUESTION]", "the answer now and with other facts",
             "whatif gpu = 8 x h200-sxm: max context", "whatif"),
        Verb("why", "why [NAME]", "where an answer comes from, as a tree", "why tpot", "why"),
        Verb("whynot", "why not FACTS", "what fails if it were so", "why not tp = 2", "whynot"),
        Verb("sens", "sens [NAME] [by NAMES]", "what one per cent of each fact does",
             "sens context by memory_bandwidth, batch", "sens"),
        Verb("sweep", "sweep NAMES over NAME in VALUES [to FILE.csv]", "a table along quantities",
             "sweep tpot over batch in 1..256 log2", "sweep"),
        Verb("relax", "relax [NAMES]", "the ways out of an infeasible answer", "relax", "relax"),
        Verb("variants", "variants NAME", "the relations that give a quantity, compared",
             "variants tpot", "variants"),
        Verb("use", "use RELATION for NAME", "let a relation answer for a quantity",
             "use decode_step_kv for step_time", "variants"),
        Verb("need", "need NAME", "what to give for a quantity", "need tpot", "need"),
        Verb("check", "check [given FACTS]", "whether what is stated fits together",
             "check", "check"),
        Verb("plan", "plan min NAME [given FACTS] over NAMES [require CONDITIONS] [top N|all]",
             "the best of all configurations, proved",
             "plan min cost_per_hour given tpot <= 30 ms over tp, pp, batch top 5", "plan"),
        Verb("plot", "plot QUESTION [to FILE.svg]", "sens, plan, region or roofline as a picture",
             "plot region batch, context given tpot <= 30 ms to region.svg", "plot"),
        Verb("derive", "derive [QUESTION] to FILE.tex", "the derivation of an answer as a document",
             "derive max context given tpot <= 30 ms to report.tex", "derive_verb"),
        Verb("formulas", "formulas [WORDS]", "formulas, definitions and quantities by words",
             "formulas kv cache", "knowledge"),
        Verb("show", "show NAME [for NAME]", "a formula or quantity, with its inversions",
             "show kv_bytes_per_token for n_kv_heads", "knowledge"),
    )
}  # fmt: skip

# Pictures of their own, and the questions that have one.
PICTURES = {
    "roofline": "a GPU's roofs, and where the work lies",
    "region": "which pairs of two quantities meet every limit",
}
DRAWN = ("sens", "plan")
