"""What a line comes to: a status, something to read, and an object for scripts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from derive.document import Document

if TYPE_CHECKING:
    from derive.paper import Paper
    from derive.picture import Picture
    from derive.plot import Drawing
    from derive.session import Reply


@dataclass(frozen=True, slots=True)
class Outcome:
    """The document for people and the flat object for scripts; `reply` is the answer behind them.

    `status` is ok, infeasible, missing, contradiction, unbounded, unproved or error.
    """

    status: str
    document: Document
    data: Mapping[str, Any] = field(default_factory=dict)
    reply: Reply | None = None
    picture: Picture | None = None

    def text(self, steps: bool = False, width: int = 100) -> str:
        """The document as plain text; `steps` shows every step of an answer."""
        from derive.as_text import as_text

        if steps and self.reply is not None:
            return self.reply.text(True, width)
        return as_text(self.document, width)

    def to_dict(self) -> dict[str, Any]:
        """The object for scripts."""
        return dict(self.data)

    @property
    def value(self) -> Any:
        """The value in the quantity's own unit, None where there is none."""
        return self.data.get("value")

    @property
    def rows(self) -> list[Mapping[str, Any]]:
        """The rows of a table; none where there is no table."""
        return list(self.data.get("rows", ()))

    def paper(self) -> Paper:
        """What `to FILE` and notebooks show: the derivation of an answer, else the document."""
        from derive.card_paper import paper_of

        return paper_of(self.document) if self.reply is None else self.reply.derivation()

    def plot(self, path: str | Path | None = None) -> Drawing:
        """The picture of sensitivities, a front, a region or a roofline, which a notebook shows.

        `path` is a .svg or a .png that it is written to. Problem where there is no picture.
        """
        from derive.plot import plotted

        return plotted(self, path)

    def written_as(self, form: str) -> str:
        """The paper as `tex`, `md` or `html`."""
        from derive.to_file import FORMATS

        return FORMATS[form](self.paper())

    def _repr_latex_(self) -> str:
        from derive.notebook import document_latex

        return document_latex(self.document)

    def _repr_html_(self) -> str:
        from derive.notebook import document_html

        return document_html(self.document)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        from derive.notebook import bundle

        return bundle(self.document)

    def __str__(self) -> str:
        return self.text()
