"""The weight matrices of an architecture by the names of their modules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from formulas.architecture import Architecture, DeltaAttention, DeltaNet, Mamba1, Mamba2

# Names that families have for one module, and the parameters of its matrix.
Matrix = tuple[tuple[str, ...], int]


def narrow_params(a: Architecture, kept_wide: Callable[[str], bool]) -> int:
    """Parameters in matrices that a quantizer takes and the patterns do not keep wide.

    Embeddings, the head, routers, norms, biases and convolutions are never taken.
    """
    total = 0
    for layer, (mixer, ffn) in enumerate(zip(a.mixers, a.ffns, strict=True)):
        for names, params in (*_MIXERS[mixer](a, mixer), *_FFNS[ffn](a)):
            if not any(kept_wide(f"layers.{layer}.{name}") for name in names):
                total += params
    return total


def replicated_params(a: Architecture, kept_wide: Callable[[str], bool]) -> tuple[int, int]:
    """Parameters that TP copies instead of cutting: in the narrow format, and kept wide.

    They are the projections onto a latent, the indexer, and the routers, which are always wide.
    """
    narrow = wide = 0
    for layer, (mixer, ffn) in enumerate(zip(a.mixers, a.ffns, strict=True)):
        if a.latent is not None and mixer == "F":
            for (name, *_), params in _latent(a):
                if name.endswith(_COPIED):
                    kept = kept_wide(f"layers.{layer}.{name}")
                    narrow, wide = (narrow, wide + params) if kept else (narrow + params, wide)
        if a.experts is not None and ffn in "EB":
            wide += a.d_model * a.experts.count
    return narrow, wide


_COPIED = ("q_a_proj", "kv_a_proj_with_mqa", "indexer.wq_b", "indexer.wk")


def _attention(a: Architecture, mixer: str) -> Iterator[Matrix]:
    if a.latent is not None:
        yield from _latent(a)
        return
    heads = a.heads_in(mixer)
    gate = 2 if a.structure.output_gate else 1
    value = 0 if heads.value_is_key else heads.kv * heads.d_value
    parts = {
        "q_proj": a.d_model * heads.query * heads.d_key * gate,
        "k_proj": a.d_model * heads.kv * heads.d_key,
        "v_proj": a.d_model * value,
        "o_proj": a.d_model * heads.query * heads.d_value,
    }
    for name, params in parts.items():
        yield (f"self_attn.{name}", f"mixer.{name}"), params


def _latent(a: Architecture) -> Iterator[Matrix]:
    latent, n_heads = a.latent, a.heads.query
    assert latent is not None
    d_query = latent.nope + latent.rope
    if latent.q_rank is None:
        yield ("self_attn.q_proj",), a.d_model * n_heads * d_query
    else:
        yield ("self_attn.q_a_proj",), a.d_model * latent.q_rank
        yield ("self_attn.q_b_proj",), latent.q_rank * n_heads * d_query
    yield ("self_attn.kv_a_proj_with_mqa",), a.d_model * (latent.kv_rank + latent.rope)
    yield ("self_attn.kv_b_proj",), latent.kv_rank * n_heads * (latent.nope + latent.value)
    yield ("self_attn.o_proj",), n_heads * latent.value * a.d_model
    if a.indexer is not None:
        query = (latent.q_rank or a.d_model) * a.indexer.heads * a.indexer.width
        yield ("self_attn.indexer.wq_b",), query
        yield ("self_attn.indexer.wk",), a.d_model * a.indexer.width


def _delta_net(a: Architecture, _mixer: str) -> Iterator[Matrix]:
    net = a.recurrent
    assert isinstance(net, DeltaNet)
    key, value = net.key_heads * net.d_key, net.value_heads * net.d_value
    yield ("linear_attn.in_proj_qkvz", "linear_attn.in_proj_qkv"), a.d_model * (2 * key + 2 * value)
    yield ("linear_attn.out_proj",), value * a.d_model


def _delta_attention(a: Architecture, _mixer: str) -> Iterator[Matrix]:
    net = a.recurrent
    assert isinstance(net, DeltaAttention)
    for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
        yield (f"self_attn.{name}",), a.d_model * net.heads * net.d_head


def _mamba2(a: Architecture, _mixer: str) -> Iterator[Matrix]:
    net = a.recurrent
    assert isinstance(net, Mamba2)
    inner = net.heads * net.d_head
    columns = 2 * inner + 2 * net.groups * net.state + net.heads
    yield ("mamba.in_proj", "mixer.in_proj"), a.d_model * columns
    yield ("mamba.out_proj", "mixer.out_proj"), inner * a.d_model


def _mamba1(a: Architecture, _mixer: str) -> Iterator[Matrix]:
    net = a.recurrent
    assert isinstance(net, Mamba1)
    yield ("mamba.in_proj",), 2 * a.d_model * net.inner
    yield ("mamba.out_proj",), net.inner * a.d_model


def _lightning(a: Architecture, _mixer: str) -> Iterator[Matrix]:
    width = a.heads.query * a.heads.d_key
    yield ("self_attn.qkv_proj",), 3 * a.d_model * width
    yield ("self_attn.output_gate",), a.d_model * width
    yield ("self_attn.out_proj",), a.d_model * width


def _mlp(a: Architecture, owners: tuple[str, ...], width: int) -> Iterator[Matrix]:
    inward = ("gate_proj", "up_proj") if a.structure.mlp_gated else ("up_proj",)
    for name in (*inward, "down_proj"):
        yield tuple(f"{owner}.{name}" for owner in owners), a.d_model * width


def _dense(a: Architecture) -> Iterator[Matrix]:
    return _mlp(a, ("mlp", "feed_forward", "mixer"), a.dense_width)


def _routed(a: Architecture) -> Iterator[Matrix]:
    assert a.experts is not None
    experts = ("mlp.experts.0", "block_sparse_moe.experts.0", "mixer.experts.0")
    for names, params in _mlp(a, experts, a.experts.width):
        yield names, params * a.experts.count
    shared = ("mlp.shared_experts", "mlp.shared_expert", "mixer.shared_experts")
    yield from _mlp(a, shared, a.experts.shared_width)


_MIXERS: Mapping[str, Callable[[Architecture, str], Iterator[Matrix]]] = MappingProxyType(
    {
        "F": _attention,
        "S": _attention,
        "C": _attention,
        "G": _delta_net,
        "K": _delta_attention,
        "M": _mamba2,
        "m": _mamba1,
        "L": _lightning,
        "-": lambda _a, _mixer: iter(()),
    }
)
_FFNS: Mapping[str, Callable[[Architecture], Iterator[Matrix]]] = MappingProxyType(
    {
        "D": _dense,
        "E": _routed,
        "B": lambda a: iter((*_dense(a), *_routed(a))),
        "-": lambda _a: iter(()),
    }
)
