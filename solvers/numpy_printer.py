"""The numpy code of an expression: sympy's printer, with rules for the nodes that formulas adds.

A bound index becomes all its values at once, and its term is evaluated for them together. Scalars
print as in sympy's own printer, so the same rules serve a kernel of many scalar outputs. A node
without a rule is an error, never a comment in the code.
"""
# ruff: noqa: N802  (sympy finds a rule by the name of the class)

from __future__ import annotations

from typing import Any

import sympy
from sympy.printing.numpy import NumPyPrinter

from formulas.tensors import OverIndex


def identifier(symbol: Any) -> str:
    """A Python name for the symbol of a quantity, a dimension or a bound index; all differ."""
    name = str(symbol.name).replace(".", "__")
    return f"{name}_" if symbol.is_integer else name


class ArrayPrinter(NumPyPrinter):  # type: ignore[misc]
    """Prints for a namespace that holds numpy and the functions of `solvers.array_functions`."""

    def __init__(self) -> None:
        """A printer with whole module names, strict about missing rules."""
        super().__init__({"fully_qualified_modules": True, "strict": True, "inline": True})

    def _print_Symbol(self, symbol: Any) -> str:
        return identifier(symbol)

    def _print_MatrixSymbol(self, symbol: Any) -> str:
        return str(symbol.name).replace(".", "__")

    def _print_IndexedBase(self, base: Any) -> str:
        return str(base.label.name).replace(".", "__")

    def _print_Indexed(self, node: Any) -> str:
        (index,) = node.indices
        short = str(node.base.label.name).rpartition(".")[2]
        return f"take({self._print(node.base)}, {self._print(index)}, {short!r})"

    def _print_Sum(self, node: Any) -> str:
        (limits,) = node.limits
        return self._over("add_up", node.function, *limits)

    def _print_MaxOver(self, node: Any) -> str:
        return self._over("largest", node.term, node.index, node.low, node.high)

    def _print_Entries(self, node: Any) -> str:
        return self._over("entries", node.term, node.index, node.low, node.high)

    def _over(self, function: str, term: Any, index: Any, low: Any, high: Any) -> str:
        for inner in term.atoms(sympy.Sum, OverIndex):
            if index in inner.free_symbols:
                raise NotImplementedError(f"{inner} depends on the outer index {index}")
        lambda_code = f"lambda {identifier(index)}: {self._print(term)}"
        return f"{function}({self._print(low)}, {self._print(high)}, {lambda_code})"

    def _print_Mul(self, node: Any) -> str:
        """A product; e^a over a sum of e^b prints as one call, which cannot overflow."""
        powers = [f for f in node.args if isinstance(f, sympy.exp)]
        sums = [f for f in node.args if _is_over_sum_of_exp(f)]
        if len(powers) != 1 or len(sums) != 1:
            return str(super()._print_Mul(node))
        rest = sympy.Mul(*(f for f in node.args if f not in (powers[0], sums[0])))
        (limits,) = sums[0].base.limits
        exponents = self._over("entries", sums[0].base.function.args[0], *limits)
        share = f"share({self._print(powers[0].args[0])}, {exponents})"
        return share if rest == 1 else f"{share}*({self._print(rest)})"

    def _print_Softmax(self, node: Any) -> str:
        return f"softmax({self._print(node.matrix)})"

    def _print_MatrixFunction(self, node: Any) -> str:
        return f"functions[{node.name!r}]({self._print(node.argument)})"

    def _print_BlockHash(self, node: Any) -> str:
        return f"functions['hash']({', '.join(self._print(part) for part in node.args)})"

    def _print_Round(self, node: Any) -> str:
        return f"numpy.rint({self._print(node.args[0])})"

    def _print_Piecewise(self, node: Any) -> str:
        """Nested where; numpy.select, sympy's choice, wants conditions of one shape."""
        code = "numpy.nan"
        for term, condition in reversed(node.args):
            if condition == True:  # noqa: E712  (sympy's true is no bool)
                code = self._print(term)
            else:
                code = f"numpy.where({self._print(condition)}, {self._print(term)}, {code})"
        return code


def _is_over_sum_of_exp(factor: Any) -> bool:
    over = isinstance(factor, sympy.Pow) and factor.exp == -1 and isinstance(factor.base, sympy.Sum)
    return over and isinstance(factor.base.function, sympy.exp)
