"""Numpy kernels: the one expression of a relation, lowered by sympy's lambdify and kept.

`array_value` answers a relation on arrays from values as people give them. `kernel` is the numpy
function itself. `lower` makes a function of any expressions: `kernel` is `lower` for one relation,
and a kernel of many scalar outputs is `lower` for several. numpy is imported on first use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from math import prod
from typing import TYPE_CHECKING, Any

from formulas.errors import Problem

if TYPE_CHECKING:
    from formulas.formula import Relation

Function = Callable[..., Any]


@dataclass(frozen=True)
class Kernel:
    """A relation as a numpy function of keyword arguments.

    It takes each of `inputs` by its full name, and each of `functions` by its own: the functions of
    a matrix that the sheet only names, and `hash`. RMSNorm and `hash` have a meaning where they are
    left out. `products` are the shapes of the matrix products on the way, by dimension.
    """

    gives: str
    inputs: tuple[str, ...]
    functions: tuple[str, ...]
    dimensions: tuple[str, ...]
    products: tuple[tuple[str, ...], ...]
    run: Callable[..., tuple[Any, ...]]

    def __call__(self, **values: Any) -> Any:
        """What the relation gives; a Problem where shapes disagree or everything is masked."""
        import numpy

        functions = {name: values.pop(name) for name in self.functions if name in values}
        given = {name: values.pop(name) for name in self.inputs}
        if values:
            raise TypeError(f"{self.gives} takes no {', '.join(sorted(values))}")
        if not self.is_opaque:
            given = {name: numpy.asarray(value, numpy.float64) for name, value in given.items()}
        return self.compute(given, functions)

    @property
    def is_opaque(self) -> bool:
        """True where the inputs are hashed, not calculated with."""
        return "hash" in self.functions

    def sizes(self, given: Mapping[str, Any]) -> dict[str, int]:
        """The size of each dimension; a Problem where two inputs disagree about one."""
        from formulas.arrays import SIZES
        from formulas.formula import VOCABULARY
        from solvers.array_values import check_shapes

        if self.is_opaque:
            return dict.fromkeys(self.dimensions, 0)
        return check_shapes({n: (VOCABULARY[n], a) for n, a in given.items()}, SIZES)

    def compute(self, given: Mapping[str, Any], functions: Mapping[str, Function]) -> Any:
        """What the relation gives, from float64 arrays."""
        import numpy

        sizes = self.sizes(given)
        arguments = [given[name] for name in self.inputs] + [sizes[d] for d in self.dimensions]
        with numpy.errstate(all="ignore"):
            (result,) = self.run(*arguments, functions=self._complete(functions))
        return result

    def _complete(self, functions: Mapping[str, Function]) -> dict[str, Function]:
        complete = {**_default_functions(), **functions}
        missing = [name for name in self.functions if name not in complete]
        if missing:
            needed = " and ".join(missing)
            message = f"{self.gives} needs {needed}, which a question cannot state: a function"
            shown = ", ".join(f"{name}=..." for name in missing)
            raise Problem("array", message, (f"from Python: kernel(relation)(..., {shown})",))
        return complete


def kernel(relation: Relation) -> Kernel:
    """The numpy function of the relation."""
    return _kernel(relation.value, relation.gives, relation.inputs)


def array_value(relation: Relation, values: Mapping[str, Any]) -> Any:
    """What the relation gives, from nested lists of exact numbers, as lists of Python numbers.

    Computed in float64. Minus infinity may stand in an array and in the answer. A block hash takes
    any nested values and is the sha256, in hex, of their canonical encoding (`solvers.block_hash`).
    A Problem where shapes disagree, a value is outside its domain, or the answer is not a number.
    """
    from formulas.formula import VOCABULARY
    from solvers.array_values import check_count, from_array, to_array

    function, gives = kernel(relation), VOCABULARY[relation.gives]
    if function.is_opaque:
        return function.compute({name: values[name] for name in function.inputs}, {})
    given = {name: to_array(VOCABULARY[name], values[name]) for name in function.inputs}
    sizes = function.sizes(given)
    for shape in (gives.shape, *function.products):
        check_count(gives.short_name, prod(sizes[dimension] for dimension in shape))
    return from_array(gives, function.compute(given, {}))


def _default_functions() -> dict[str, Function]:
    from formulas.tensors import RMS_NORM_EPSILON
    from solvers.array_functions import rms_norm
    from solvers.block_hash import block_hash

    return {"RMSNorm": partial(rms_norm, epsilon=float(RMS_NORM_EPSILON)), "hash": block_hash}


@lru_cache(maxsize=256)
def _kernel(expr: Any, gives: str, inputs: tuple[str, ...]) -> Kernel:
    from sympy import MatMul

    from formulas.formula import VOCABULARY
    from formulas.quantity import dimension
    from formulas.tensors import BlockHash, MatrixFunction

    quantities = [VOCABULARY[name] for name in inputs]
    dimensions = tuple(dict.fromkeys(d for quantity in quantities for d in quantity.shape))
    symbols = [*(q.symbol for q in quantities), *(dimension(d) for d in dimensions)]
    named = {node.name for node in expr.atoms(MatrixFunction)}
    hashes = {"hash"} if expr.has(BlockHash) else set()
    products = tuple(
        (str(factors[0].shape[0]), str(factor.shape[1]))
        for product in expr.atoms(MatMul)
        for factors in [product.as_coeff_matrices()[1]]
        for factor in factors[1:]
    )
    run = lower((expr,), symbols)
    return Kernel(gives, inputs, tuple(sorted(named | hashes)), dimensions, products, run)


def lower(
    expressions: Sequence[Any], symbols: Sequence[Any], share: bool = False
) -> Callable[..., tuple[Any, ...]]:
    """The expressions as one numpy function of the symbols' values, in order, and of `functions`.

    Each named function of a matrix is computed once, wherever it is used, so a stack of layers
    costs as much as its layers; with `share`, every other part of an expression as well.
    """
    import functools

    import numpy
    import sympy

    from solvers.array_functions import NAMESPACE
    from solvers.numpy_printer import ArrayPrinter

    printer = ArrayPrinter()
    steps, results = _steps(expressions)
    if share:
        parts, results = sympy.cse(results)
        steps += parts
    return sympy.lambdify(  # type: ignore[no-any-return]
        [*(printer.doprint(symbol) for symbol in symbols), "functions"],
        tuple(results),
        modules=[{"numpy": numpy, "functools": functools, **NAMESPACE}],
        printer=printer,
        cse=lambda _: (steps, tuple(results)),
        use_imps=False,
        docstring_limit=0,
    )


def _steps(expressions: Sequence[Any]) -> tuple[list[tuple[Any, Any]], list[Any]]:
    """Each named function of a matrix as a step of its own, and the expressions in these steps.

    The walk keeps its own stack and visits a shared node once: L layers have 4^L paths, and may be
    deeper than Python's stack.
    """
    from formulas.quantity import intermediate
    from formulas.tensors import MatrixFunction

    steps: list[tuple[Any, Any]] = []
    replaced: dict[Any, Any] = {}
    waiting = list(reversed(expressions))
    while waiting:
        node = waiting[-1]
        ahead = [part for part in reversed(node.args) if part not in replaced]
        if ahead:
            waiting.extend(ahead)
            continue
        waiting.pop()
        if node in replaced:
            continue
        parts = tuple(replaced[part] for part in node.args)
        same = all(new is old for new, old in zip(parts, node.args, strict=True))
        rebuilt = node if same else node.func(*parts)
        if isinstance(node, MatrixFunction):
            step = intermediate(f"step_{len(steps)}", node.shape)
            steps.append((step, rebuilt))
            rebuilt = step
        replaced[node] = rebuilt
    return steps, [replaced[expression] for expression in expressions]
