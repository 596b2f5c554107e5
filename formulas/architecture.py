"""The parameter count of an architecture, layer by layer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from formulas.families import Structure


@dataclass(frozen=True, slots=True)
class Heads:
    """The heads of one kind of attention layer."""

    query: int
    kv: int
    d_key: int
    d_value: int
    # Values are the keys, so that there is no value projection; both are cached all the same.
    value_is_key: bool = False
    sinks: bool = False

    @property
    def cached(self) -> int:
        """Elements that one token adds to the cache of one such layer."""
        return self.kv * (self.d_key + self.d_value)


@dataclass(frozen=True, slots=True)
class Latent:
    """Multi-head latent attention: all heads share a compressed key and value and a rotary key."""

    kv_rank: int
    q_rank: int | None
    rope: int
    nope: int
    value: int


@dataclass(frozen=True, slots=True)
class Indexer:
    """The small attention that picks the tokens which sparse attention reads."""

    heads: int
    width: int
    picked: int | None


@dataclass(frozen=True, slots=True)
class DeltaNet:
    """Gated delta net."""

    key_heads: int
    d_key: int
    value_heads: int
    d_value: int
    kernel: int


@dataclass(frozen=True, slots=True)
class DeltaAttention:
    """Kimi's delta attention: a delta net whose gates are of low rank."""

    heads: int
    d_head: int
    kernel: int


@dataclass(frozen=True, slots=True)
class Mamba2:
    """The second Mamba, with heads."""

    heads: int
    d_head: int
    state: int
    groups: int
    kernel: int


@dataclass(frozen=True, slots=True)
class Mamba1:
    """The first Mamba, with a low-rank time step."""

    inner: int
    rank: int
    state: int
    kernel: int


@dataclass(frozen=True, slots=True)
class Experts:
    """The experts of one layer; `shared_width` is that of all shared experts together."""

    count: int
    used: int
    width: int
    shared_width: int


@dataclass(frozen=True, slots=True)
class Architecture:
    """A decoder; `mixers` and `ffns` have one letter a layer, as data/models.toml defines them."""

    structure: Structure
    d_model: int
    vocab_size: int
    tied: bool
    mixers: str
    ffns: str
    heads: Heads
    # The heads of the mixers that have other ones.
    heads_of: Mapping[str, Heads]
    latent: Latent | None
    indexer: Indexer | None
    recurrent: DeltaNet | DeltaAttention | Mamba2 | Mamba1 | None
    dense_width: int
    experts: Experts | None
    positions: int

    def heads_in(self, mixer: str) -> Heads:
        """The heads of the layers with that mixer."""
        return self.heads_of.get(mixer, self.heads)


@dataclass(frozen=True, slots=True)
class Counts:
    """Parameters: all; those of one token; those in routed experts; those in embedding and head."""

    total: int
    active: int
    expert: int
    embedding: int


def count_parameters(a: Architecture) -> Counts:
    """Every parameter of the text model, without vision towers and multi-token prediction."""
    norm = a.d_model * (2 if a.structure.norm_bias else 1)
    embedding = a.vocab_size * a.d_model * (1 if a.tied else 2)
    total = embedding + a.positions * a.d_model + norm
    for (mixer, ffn), layers in Counter(zip(a.mixers, a.ffns, strict=True)).items():
        norms = a.structure.norms_per_layer
        norms += a.structure.norms_beside_experts if ffn == "B" else 0
        total += layers * (norms * norm + _MIXERS[mixer](a, mixer) + _FFNS[ffn](a))
    if a.experts is None:
        return Counts(total, total, 0, embedding)
    one = _one_expert(a, a.experts) * moe_layers(a)
    idle = (a.experts.count - a.experts.used) * one
    return Counts(total, total - idle, a.experts.count * one, embedding)


def moe_layers(a: Architecture) -> int:
    """How many layers have routed experts."""
    return sum(ffn in "EB" for ffn in a.ffns)


def _attention(a: Architecture, mixer: str) -> int:
    if a.latent is not None:
        return _latent_attention(a, a.latent) + _indexer(a, a.latent)
    heads, structure = a.heads_in(mixer), a.structure
    query, key = heads.query * heads.d_key, heads.kv * heads.d_key
    value, output = heads.kv * heads.d_value, heads.query * heads.d_value
    columns = query * (2 if structure.output_gate else 1) + key
    columns += 0 if heads.value_is_key else value
    total = a.d_model * (columns + output)
    total += query + key + value if structure.qkv_bias else 0
    total += a.d_model if structure.output_bias else 0
    total += {"per_head": 2 * heads.d_key, "full": query + key}.get(structure.qk_norm, 0)
    return total + (heads.query if structure.sinks or heads.sinks else 0)


def _latent_attention(a: Architecture, latent: Latent) -> int:
    n_heads, d_query = a.heads.query, latent.nope + latent.rope
    if latent.q_rank is None:
        query = a.d_model * n_heads * d_query
    else:
        query = a.d_model * latent.q_rank + latent.q_rank + latent.q_rank * n_heads * d_query
    down = a.d_model * (latent.kv_rank + latent.rope) + latent.kv_rank
    up = latent.kv_rank * n_heads * (latent.nope + latent.value)
    return query + down + up + n_heads * latent.value * a.d_model


def _indexer(a: Architecture, latent: Latent) -> int:
    if a.indexer is None:
        return 0
    width, heads = a.indexer.width, a.indexer.heads
    query = (latent.q_rank or a.d_model) * heads * width
    # The key has a LayerNorm with bias, and each head a weight.
    return query + a.d_model * width + 2 * width + a.d_model * heads


def _delta_net(a: Architecture, _mixer: str) -> int:
    net = a.recurrent
    assert isinstance(net, DeltaNet)
    key, value = net.key_heads * net.d_key, net.value_heads * net.d_value
    project_in = a.d_model * (2 * key + 2 * value) + a.d_model * 2 * net.value_heads
    convolution = (2 * key + value) * net.kernel
    # Decay and time step of each head, and the norm before the output projection.
    return project_in + convolution + 2 * net.value_heads + net.d_value + value * a.d_model


def _delta_attention(a: Architecture, _mixer: str) -> int:
    net = a.recurrent
    assert isinstance(net, DeltaAttention)
    width = net.heads * net.d_head
    project = 4 * a.d_model * width + a.d_model * net.heads
    # Two gates, each by way of one head; decay and time step; the norm before the output.
    gates = 2 * (a.d_model * net.d_head + net.d_head * width)
    return project + gates + 3 * width * net.kernel + net.heads + width + net.d_head


def _mamba2(a: Architecture, _mixer: str) -> int:
    net = a.recurrent
    assert isinstance(net, Mamba2)
    inner = net.heads * net.d_head
    convolved = inner + 2 * net.groups * net.state
    project_in = a.d_model * (inner + convolved + net.heads)
    # The convolution has a bias; decay, skip and time step are one number a head; then the norm.
    rest = convolved * net.kernel + convolved + 3 * net.heads + inner
    return project_in + rest + inner * a.d_model


def _mamba1(a: Architecture, _mixer: str) -> int:
    net = a.recurrent
    assert isinstance(net, Mamba1)
    project_in = 2 * a.d_model * net.inner
    convolution = net.inner * net.kernel + net.inner
    time_step = net.inner * (net.rank + 2 * net.state) + net.rank * net.inner + net.inner
    # Decay and skip, and the norms of time step, B and C that Jamba adds.
    rest = net.inner * net.state + net.inner + net.rank + 2 * net.state
    return project_in + convolution + time_step + rest + net.inner * a.d_model


def _lightning(a: Architecture, _mixer: str) -> int:
    width = a.heads.query * a.heads.d_key
    # Query, key, value, output gate and output projection, and the norm before it.
    return 5 * a.d_model * width + width


_MIXERS: Mapping[str, Callable[[Architecture, str], int]] = MappingProxyType(
    {
        "F": _attention,
        "S": _attention,
        "C": _attention,
        "G": _delta_net,
        "K": _delta_attention,
        "M": _mamba2,
        "m": _mamba1,
        "L": _lightning,
        "-": lambda _a, _mixer: 0,
    }
)


def _dense(a: Architecture) -> int:
    return _mlp(a, a.dense_width, bias=a.structure.mlp_bias)


def _routed(a: Architecture) -> int:
    assert a.experts is not None
    router = a.d_model * a.experts.count
    router += a.experts.count if a.structure.router_bias else 0
    shared = _mlp(a, a.experts.shared_width, bias=False)
    shared += a.d_model if a.structure.shared_expert_gate and a.experts.shared_width else 0
    return a.experts.count * _one_expert(a, a.experts) + router + shared


def _one_expert(a: Architecture, experts: Experts) -> int:
    return _mlp(a, experts.width, bias=a.structure.expert_bias)


def _mlp(a: Architecture, width: int, *, bias: bool) -> int:
    inward = 2 if a.structure.mlp_gated else 1
    return (inward + 1) * a.d_model * width + (inward * width + a.d_model if bias else 0)


_FFNS: Mapping[str, Callable[[Architecture], int]] = MappingProxyType(
    {
        "D": _dense,
        "E": _routed,
        "B": lambda a: _dense(a) + _routed(a),
        "-": lambda _a: 0,
    }
)
