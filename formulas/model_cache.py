"""What the layers of an architecture cache, as facts: kinds of layers, heads, states, indexers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from formulas.architecture import Architecture, DeltaAttention, DeltaNet, Heads, Mamba1, Mamba2
from formulas.config_keys import Keys

# The letters of the mixers, by what their layers keep of a sequence.
FULL, WINDOWED, STATES = "F", "SC", "GKMmL"
# Keys under which families say in which format states are kept.
_STATE_FORMAT = ("mamba_ssm_dtype", "mamba_ssm_cache_dtype")
_STATE_BYTES: Mapping[str, int] = MappingProxyType({"float32": 4, "bfloat16": 2, "float16": 2})
# An indexer's key is in FP8, with a scale of 32 bits for each 128 elements.
_INDEX_SCALE_GROUP, _INDEX_SCALE_BYTES = 128, 4


def cache_facts(a: Architecture, keys: Keys) -> dict[str, Fraction]:
    """The facts of layers that do not cache every token in the usual way; none where all do."""
    known: dict[str, Fraction | int | None] = {}
    if a.indexer is not None:
        scales = -(-a.indexer.width // _INDEX_SCALE_GROUP)
        known |= {
            "full_layers": a.mixers.count(FULL),
            "indexer_layers": a.mixers.count(FULL),
            "index_bytes_per_token": a.indexer.width + _INDEX_SCALE_BYTES * scales,
            "index_topk": a.indexer.picked,
        }
    elif set(a.mixers) != {FULL} or a.heads_in(FULL) != a.heads_in("usual"):
        known |= _kinds(a, keys)
    return {name: Fraction(value) for name, value in known.items() if value is not None}


def _kinds(a: Architecture, keys: Keys) -> dict[str, Fraction | int | None]:
    count = {kinds: sum(map(a.mixers.count, kinds)) for kinds in (FULL, WINDOWED, STATES)}
    known: dict[str, Fraction | int | None] = {
        "full_layers": count[FULL],
        "window_layers": count[WINDOWED],
        "state_layers": count[STATES],
    }
    if count[FULL] and a.latent is None:
        known |= _heads("full", a.heads_in(FULL))
    if count[WINDOWED]:
        known |= _heads("window", a.heads_in("S"))
        known["sliding_window"] = keys.maybe("sliding_window", "attention_chunk_size")
    if count[STATES]:
        known |= _STATES[type(a.recurrent)](a)
        name = next((name for name in _STATE_FORMAT if keys.text(name)), "")
        if name:
            known["ssm_bytes_per_element"] = _STATE_BYTES.get(keys.text(name))
    return known


def _heads(kind: str, heads: Heads) -> dict[str, Fraction | int | None]:
    return {f"{kind}_kv_heads": heads.kv, f"{kind}_head_elements": heads.d_key + heads.d_value}


def _delta_net(a: Architecture) -> dict[str, Fraction | int | None]:
    net = a.recurrent
    assert isinstance(net, DeltaNet)
    key, value = net.key_heads * net.d_key, net.value_heads * net.d_value
    return _state(net.value_heads * net.d_key * net.d_value, 2 * key + value, net.kernel)


def _delta_attention(a: Architecture) -> dict[str, Fraction | int | None]:
    net = a.recurrent
    assert isinstance(net, DeltaAttention)
    width = net.heads * net.d_head
    # Its states are in 32 bits whatever the activations are in.
    return _state(width * net.d_head, 3 * width, net.kernel) | {"ssm_bytes_per_element": 4}


def _mamba2(a: Architecture) -> dict[str, Fraction | int | None]:
    net = a.recurrent
    assert isinstance(net, Mamba2)
    inner = net.heads * net.d_head
    return _state(inner * net.state, inner + 2 * net.groups * net.state, net.kernel)


def _mamba1(a: Architecture) -> dict[str, Fraction | int | None]:
    net = a.recurrent
    assert isinstance(net, Mamba1)
    return _state(net.inner * net.state, net.inner, net.kernel)


def _lightning(a: Architecture) -> dict[str, Fraction | int | None]:
    # One matrix for each head, and no convolution before it.
    return _state(a.heads.query * a.heads.d_key * a.heads.d_value, 0, 1)


def _state(elements: int, channels: int, kernel: int) -> dict[str, Fraction | int | None]:
    return {"ssm_elements": elements, "conv_channels": channels, "conv_kernel": kernel}


_STATES: Mapping[Any, Callable[[Architecture], dict[str, Fraction | int | None]]] = (
    MappingProxyType(
        {
            DeltaNet: _delta_net,
            DeltaAttention: _delta_attention,
            Mamba2: _mamba2,
            Mamba1: _mamba1,
            type(None): _lightning,
        }
    )
)
