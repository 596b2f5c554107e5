"""The calculation that was asked, with its numbers put in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from derive.as_latex import shape_latex
from derive.layout import lay_out
from derive.paper import Aligned, Block, Paragraph
from derive.printed import printed
from derive.setting import Setting
from derive.step_lines import digits_for

if TYPE_CHECKING:
    from derive.session import Reply


def expression_blocks(reply: Reply, setting: Setting) -> list[Block]:
    """The calculation, the numbers, the result; nothing where a quantity was asked."""
    expression = reply.asked.expression
    if expression is None or reply.answer.find not in setting.values:
        return []
    shape = lay_out(expression)
    value = setting.values[reply.answer.find]
    letters = shape_latex(shape, setting.letters)
    result = printed(reply.asked.quantity, value)
    if any(symbol.name not in setting.values for symbol in expression.free_symbols):
        return [Paragraph(("What was asked:",)), Aligned(((letters, f"= {result.latex}"),))]
    numbers, result = digits_for(reply.asked.quantity, shape, setting.values, value)
    rows = ((letters, f"= {shape_latex(shape, numbers)}"), ("", f"= {result.latex}"))
    return [Paragraph(("What was asked:",)), Aligned(rows)]
