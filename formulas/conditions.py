"""When a relation of the sheet is valid, as conditions between quantities."""

from __future__ import annotations

from typing import Any

from formulas.expressions import both, equal
from formulas.formula import condition


@condition
def one_gpu(tp: Any, pp: Any, dp: Any) -> Any:
    """One replica is one GPU."""
    return both(equal(tp, 1), equal(pp, 1), equal(dp, 1))


@condition
def one_stage(pp: Any, dp: Any) -> Any:
    """One pipeline stage and one rank."""
    return both(equal(pp, 1), equal(dp, 1))


@condition
def dense(expert_params: Any) -> Any:
    """The model has no routed experts."""
    return equal(expert_params, 0)


@condition
def uniform_cache(windowed_layers: Any) -> Any:
    """Every layer caches every token in full."""
    return equal(windowed_layers, 0)


@condition
def mixed_cache(windowed_layers: Any, indexer_layers: Any) -> Any:
    """Some layers cache the last tokens only, or keep a state instead."""
    return both(windowed_layers > 0, equal(indexer_layers, 0))


@condition
def indexed_cache(indexer_layers: Any) -> Any:
    """Some layers cache the key of an indexer as well."""
    return indexer_layers > 0


@condition
def nothing_wide(wide_params: Any) -> Any:
    """Every weight is stored in the same format."""
    return equal(wide_params, 0)


@condition
def something_wide(wide_params: Any) -> Any:
    """A weight-only format leaves some weights in BF16."""
    return wide_params > 0


@condition
def whole_gpus(mig_instances: Any) -> Any:
    """Replicas use whole GPUs."""
    return equal(mig_instances, 0)


@condition
def shared_gpus(mig_instances: Any) -> Any:
    """A GPU is split into MIG instances."""
    return mig_instances > 0
