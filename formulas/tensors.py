"""What a formula may say of arrays: softmax, functions of a matrix, largest over an index, hash.

Each is a sympy node whose parts have names, so that a rule table can read it: it has a unit rule in
`formulas.arrays` and a numpy rule in `solvers.numpy_printer`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any
from weakref import WeakValueDictionary

import sympy
from sympy.core.parameters import global_parameters
from sympy.core.symbol import Str
from sympy.matrices.expressions.matexpr import MatrixExpr

from formulas.quantity import bound_index

# What keeps RMSNorm finite on a row of zeros; Llama 3's config.json has this rms_norm_eps.
RMS_NORM_EPSILON = Fraction(1, 10**5)


class Softmax(MatrixExpr):  # type: ignore[misc]
    """Each row of a matrix as probabilities: e to each entry, over the sum of the row."""

    def __new__(cls, matrix: Any) -> Softmax:
        """The node of one matrix."""
        return MatrixExpr.__new__(cls, matrix)  # type: ignore[no-any-return]

    @property
    def matrix(self) -> Any:
        """The matrix of scores."""
        return self.args[0]

    @property
    def shape(self) -> Any:
        """The shape of the scores."""
        return self.matrix.shape

    def _entry(self, row: Any, column: Any, **hints: Any) -> Any:
        k = bound_index("k")
        total = sympy.Sum(sympy.exp(self.matrix[row, k]), (k, 0, self.shape[1] - 1))
        return sympy.exp(self.matrix[row, column]) / total

    def _latex(self, printer: Any) -> str:
        return rf"\text{{softmax}}\left({printer._print(self.matrix)}\right)"


_MATRIX_FUNCTIONS: WeakValueDictionary[Any, MatrixFunction] = WeakValueDictionary()


class MatrixFunction(MatrixExpr):  # type: ignore[misc]
    """A function of a matrix that keeps its shape and is known by its name only, such as MLP(x)."""

    def __new__(cls, name: Any, argument: Any) -> MatrixFunction:
        """The one node of this name and argument."""
        parts = (name if isinstance(name, Str) else Str(name), argument)
        return _MATRIX_FUNCTIONS.setdefault(parts, MatrixExpr.__new__(cls, *parts))

    @property
    def name(self) -> str:
        """The name of the function; a kernel takes the function itself under it."""
        return str(self.args[0].name)

    @property
    def argument(self) -> Any:
        """The matrix that it is applied to."""
        return self.args[1]

    @property
    def shape(self) -> Any:
        """The shape of the argument."""
        return self.argument.shape

    # A stack of L layers shares its parts: as a tree it has 4^L nodes. That equal nodes are one
    # object, and the methods below, keep sympy from walking it as a tree.

    @property
    def free_symbols(self) -> set[Any]:
        """The symbols of the argument."""
        return set(self._free)

    @cached_property
    def _free(self) -> frozenset[Any]:
        return frozenset(self.argument.free_symbols)

    def sort_key(self, order: Any = None) -> Any:
        """sympy's key, found once."""
        return self._key

    @cached_property
    def _key(self) -> Any:
        return super().sort_key()

    def doit(self, **hints: Any) -> Any:
        """The node itself: nothing is known about the function."""
        return self

    def _latex(self, printer: Any) -> str:
        return rf"\text{{{self.name}}}\left({printer._print(self.argument)}\right)"


def _as_expr(value: Any) -> Any:
    """A whole number as a sympy one; a node as it is. Text is never read."""
    if isinstance(value, int):
        return sympy.Integer(value)
    if isinstance(value, sympy.Basic):
        return value
    raise TypeError(f"{type(value).__name__} is no part of an expression")


class OverIndex(sympy.Expr):  # type: ignore[misc]
    """Something made of a term for each value of an index that is bound inside it."""

    is_commutative = True

    def __new__(cls, term: Any, limits: Any) -> OverIndex:
        """The node of a term and of its index with the first and the last value."""
        parts = (_as_expr(term), sympy.Tuple(*limits))
        return sympy.Expr.__new__(cls, *parts)  # type: ignore[no-any-return]

    @property
    def term(self) -> Any:
        """What stands for each value of the index."""
        return self.args[0]

    @property
    def index(self) -> Any:
        """The bound index."""
        return self.args[1][0]

    @property
    def low(self) -> Any:
        """The first value of the index."""
        return self.args[1][1]

    @property
    def high(self) -> Any:
        """The last value of the index."""
        return self.args[1][2]

    @property
    def free_symbols(self) -> set[Any]:
        """The symbols of the term and of the limits, without the bound index."""
        bounds = self.low.free_symbols | self.high.free_symbols
        return set((self.term.free_symbols - {self.index}) | bounds)

    @property
    def bound_symbols(self) -> list[Any]:
        """The index, so that sympy renames rather than replaces it."""
        return [self.index]

    def _eval_subs(self, old: Any, new: Any) -> Any:
        return self if old == self.index else None

    def at(self, value: Any) -> Any:
        """The term for one value of the index."""
        new = _as_expr(value)
        inner = {s for node in self.term.atoms(sympy.Sum, OverIndex) for s in node.bound_symbols}
        if inner & new.free_symbols:
            raise ValueError(f"{new} would be bound in {self.term}; give one another index")
        return self.term.xreplace({self.index: new})


class MaxOver(OverIndex):
    """The largest term; `doit` gives the Max of the terms where their number is known."""

    def doit(self, **hints: Any) -> Any:
        """The Max over numbered terms, else the node itself."""
        low, high = self.low.doit(**hints), self.high.doit(**hints)
        if not (low.is_Integer and high.is_Integer):
            return self
        return sympy.Max(*(self.at(k).doit(**hints) for k in range(int(low), int(high) + 1)))

    def _latex(self, printer: Any) -> str:
        limits = f"{printer._print(self.index)}={printer._print(self.low)}"
        below = rf"{limits},\dots,{printer._print(self.high)}"
        return rf"\max_{{{below}}} \left({printer._print(self.term)}\right)"


class Entries(OverIndex):
    """A vector, by its entry for each value of the index, the lowest first."""

    @property
    def shape(self) -> Any:
        """One dimension: how many values the index has."""
        return sympy.Tuple(self.high - self.low + 1)

    def __getitem__(self, position: Any) -> Any:
        """The entry at a position, so that a formula of vectors can be applied to the result."""
        return self.at(self.low + position)

    def _latex(self, printer: Any) -> str:
        limits = f"{printer._print(self.index)}={printer._print(self.low)}"
        term, high = printer._print(self.term), printer._print(self.high)
        return rf"\left( {term} \right)_{{{limits}}}^{{{high}}}"


class BlockHash(sympy.Expr):  # type: ignore[misc]
    """hash(parent, tokens, extra keys), uninterpreted: equal where all three parts are."""

    is_commutative = True

    def __new__(cls, parent: Any, tokens: Any, extra_keys: Any) -> BlockHash:
        """The node of the three parts."""
        parts = (_as_expr(part) for part in (parent, tokens, extra_keys))
        return sympy.Expr.__new__(cls, *parts)  # type: ignore[no-any-return]

    @property
    def parent(self) -> Any:
        """The hash of the block before."""
        return self.args[0]

    @property
    def tokens(self) -> Any:
        """The tokens of the block."""
        return self.args[1]

    @property
    def extra_keys(self) -> Any:
        """What else changes keys and values, such as the adapter."""
        return self.args[2]

    def _latex(self, printer: Any) -> str:
        return rf"\text{{hash}}\left({', '.join(printer._print(part) for part in self.args)}\right)"


def attention(matrix: Any) -> Any:
    """Attention with its own weights, as a function of the residual stream."""
    return MatrixFunction("Attention", matrix)


def mlp(matrix: Any) -> Any:
    """The feed-forward block, as a function of the residual stream."""
    return MatrixFunction("MLP", matrix)


def rms_norm(matrix: Any) -> Any:
    """RMSNorm, as a function of the residual stream."""
    return MatrixFunction("RMSNorm", matrix)


def total(over: Any, term: Callable[[Any], Any], index: str = "j") -> Any:
    """The sum of `term(j)` over the positions j of a vector."""
    bound = bound_index(index)
    parts = (term(bound), sympy.Tuple(bound, 0, over.shape[0] - 1))
    if global_parameters.evaluate:
        return sympy.Sum(*parts)
    # With evaluation off, sympy's own constructor would write 1 times each term.
    written = sympy.Expr.__new__(sympy.Sum, *parts)
    written.is_commutative = True
    return written


def largest_of(over: Any, term: Callable[[Any], Any], index: str = "j") -> Any:
    """The largest `term(j)` over the positions j of a vector."""
    bound = bound_index(index)
    return MaxOver(term(bound), (bound, 0, over.shape[0] - 1))


def entries(over: Any, term: Callable[[Any], Any], index: str = "i") -> Any:
    """The vector of `term(i)`, as long as another vector."""
    bound = bound_index(index)
    return Entries(term(bound), (bound, 0, over.shape[0] - 1))


def in_order_of(symbols: Sequence[Any], expr: Any) -> Any:
    """The same matrices, the terms of each sum in the order of their symbols, the plainer first.

    sympy sorts the terms of a matrix sum even while its evaluation is off.
    """
    if not expr.args or isinstance(expr, sympy.MatrixSymbol):
        return expr
    parts = [in_order_of(symbols, part) for part in expr.args]
    if isinstance(expr, sympy.MatAdd):
        parts.sort(key=lambda term: _place(symbols, term))
    return expr if tuple(parts) == expr.args else expr.func(*parts)


def _place(symbols: Sequence[Any], term: Any) -> tuple[list[int], int]:
    found = [k for k, symbol in enumerate(symbols) if symbol in term.atoms(type(symbol))]
    return found, sum(1 for _ in sympy.preorder_traversal(term))
