"""`derive sheet`: the whole sheet as HTML, LaTeX or Markdown."""

from __future__ import annotations

import sys

from formulas.errors import Problem


def sheet_text(form: str) -> str:
    """The sheet as `html`, `tex`, `md` or `json`."""
    if form == "json":
        from derive.as_json import json_text
        from derive.numbers_list import numbers_data
        from derive.show import show_data
        from formulas.catalogue import catalogue

        formulas = [show_data(key)["relations"] for key in catalogue().formulas]
        found = {"formulas": [row for rows in formulas for row in rows], "numbers": numbers_data()}
        return json_text(found, "utf-8", indent=1) + "\n"
    if form == "html":
        from derive.sheet_html import sheet_html

        return sheet_html()
    from derive.sheet_paper import sheet_paper
    from derive.to_file import FORMATS

    return FORMATS[form](sheet_paper())


def write_sheet(form: str, target: str | None) -> None:
    """Print the sheet, or write it to a file; Problem where that fails."""
    if target is None:
        sys.stdout.write(sheet_text(form))
        return
    from derive.to_file import checked_document

    path = checked_document(target)
    suffix = path.suffix.lower().removeprefix(".")
    try:
        path.write_text(sheet_text(suffix), encoding="utf-8", newline="\n")
    except OSError as error:
        reason = error.strerror or str(error)
        raise Problem("file", f"'{target}' cannot be written: {reason}") from None
