"""Which mixer and which feed-forward each layer has, from the many keys that say so.

A mixer is F full attention, S sliding window, C chunks, G gated delta net, K Kimi delta attention,
M Mamba-2, m Mamba-1, L lightning attention or - none; a feed-forward is D dense, E routed experts,
B both or - none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from formulas.config_keys import Keys, shown
from formulas.families import Structure

# Keys that only a model with recurrent layers has.
_RECURRENT_PREFIXES = ("mamba_", "ssm_", "linear_", "rwkv", "gdn_", "kda_")

_LAYER_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "full_attention": "F",
        "attention": "F",
        "sliding_attention": "S",
        "chunked_attention": "C",
        "mamba": "M",
    }
)
_HYBRID_MIXERS: Mapping[str, str] = MappingProxyType({"M": "M", "*": "F", "-": "-", "E": "-"})
_HYBRID_FFNS: Mapping[str, str] = MappingProxyType({"M": "-", "*": "-", "-": "D", "E": "E"})

Layout = Callable[[Keys, int, Structure], str | None]


def mixers_of(keys: Keys, n_layers: int, structure: Structure) -> str:
    """One letter for the mixer of each layer; a Problem where the config leaves it open."""
    for layout in _LAYOUTS:
        found = layout(keys, n_layers, structure)
        if found is not None:
            return found
    if structure.layout_key:
        raise keys.missing(structure.layout_key)
    recurrent = [name for name in keys.values if name.startswith(_RECURRENT_PREFIXES)]
    for name in recurrent:
        if keys.has(name):
            raise keys.problem(
                f"{shown(name)} is of recurrent layers, and nothing says which layers they are",
                "state the quantities instead:  n_layers = ..., n_params = ...",
            )
    pattern = structure.default_mixers
    if not keys.has("attention_chunk_size"):
        pattern = pattern.replace("C", "F")
    if not _has_window(keys, structure):
        pattern = pattern.replace("S", "F")
    return _repeated(pattern, n_layers)


def ffns_of(keys: Keys, n_layers: int, experts: int) -> str:
    """One letter for the feed-forward of each layer, where a layer has that many routed experts."""
    hybrid = _hybrid(keys, n_layers, _HYBRID_FFNS)
    if hybrid is not None:
        return hybrid
    if experts <= 1:
        return "D" * n_layers
    if keys.has("enable_moe_block"):
        return "B" * n_layers
    return _sparse_layers(keys, n_layers)


def _layer_types(keys: Keys, n_layers: int, structure: Structure) -> str | None:
    types = keys.texts("layer_types")
    if types is None:
        return None
    letters = {**_LAYER_TYPES, "linear_attention": structure.linear_mixer}
    for name in types:
        if name not in letters:
            raise keys.problem(f"'layer_types' holds {shown(name)}, which is not known here")
    return _of_length("".join(letters[name] for name in types), n_layers, keys, "layer_types")


def _hybrid_override_pattern(keys: Keys, n_layers: int, _structure: Structure) -> str | None:
    return _hybrid(keys, n_layers, _HYBRID_MIXERS)


def _hybrid(keys: Keys, n_layers: int, letters: Mapping[str, str]) -> str | None:
    pattern = keys.text("hybrid_override_pattern")
    if not pattern:
        return None
    for letter in pattern:
        if letter not in letters:
            raise keys.problem(f"'hybrid_override_pattern' holds {shown(letter)}, not M, *, - or E")
    found = "".join(letters[letter] for letter in pattern)
    return _of_length(found, n_layers, keys, "hybrid_override_pattern")


def _window_list(keys: Keys, n_layers: int, _structure: Structure) -> str | None:
    return _by_list(keys, "hybrid_layer_pattern", n_layers, "FS")


def _lightning_list(keys: Keys, n_layers: int, structure: Structure) -> str | None:
    return _by_list(keys, "attn_type_list", n_layers, structure.linear_mixer + "F")


def _rope_list(keys: Keys, n_layers: int, _structure: Structure) -> str | None:
    if not keys.has("attention_chunk_size") or not keys.has("no_rope_layers"):
        return None
    return _by_list(keys, "no_rope_layers", n_layers, "FC")


def _attention_period(keys: Keys, n_layers: int, _structure: Structure) -> str | None:
    period = keys.maybe("attn_layer_period")
    if period is None:
        return None
    offset = keys.whole("attn_layer_offset", least=0)
    return "".join("F" if layer % period == offset else "m" for layer in range(n_layers))


def _attention_indices(keys: Keys, n_layers: int, _structure: Structure) -> str | None:
    indices = keys.wholes("attn_layer_indices")
    if indices is None:
        return None
    return _marked(frozenset(indices), n_layers, "F", "M")


def _delta_attention_layers(keys: Keys, n_layers: int, _structure: Structure) -> str | None:
    """Kimi's lists of layers, which count from 1."""
    own = keys.section("linear_attn_config")
    full = own.wholes("full_attn_layers")
    if full is None:
        return None
    for layer in full:
        if not 1 <= layer <= n_layers:
            raise own.problem(f"'full_attn_layers' holds {layer}, not 1 to {n_layers}")
    return _marked(frozenset(layer - 1 for layer in full), n_layers, "F", "K")


def _full_attention_interval(keys: Keys, n_layers: int, structure: Structure) -> str | None:
    interval = keys.maybe("full_attention_interval")
    return None if interval is None else _every(interval, structure.linear_mixer, n_layers)


def _sliding_window_pattern(keys: Keys, n_layers: int, structure: Structure) -> str | None:
    interval = keys.maybe("sliding_window_pattern")
    if interval is None or not _has_window(keys, structure):
        return None
    return _every(interval, "S", n_layers)


def _upper_window(keys: Keys, n_layers: int, structure: Structure) -> str | None:
    """A switched-on window holds from layer max_window_layers; without that key, everywhere."""
    if structure.default_mixers != "F" or structure.layout_key or not _has_window(keys, structure):
        return None
    full = 0
    if keys.has("use_sliding_window"):
        full = min(n_layers, keys.maybe("max_window_layers", least=0) or 0)
    return "F" * full + "S" * (n_layers - full)


# The first that answers is believed: lists of layers before intervals, intervals before windows.
_LAYOUTS: tuple[Layout, ...] = (
    _layer_types,
    _hybrid_override_pattern,
    _window_list,
    _lightning_list,
    _rope_list,
    _attention_period,
    _attention_indices,
    _delta_attention_layers,
    _full_attention_interval,
    _sliding_window_pattern,
    _upper_window,
)


def _has_window(keys: Keys, structure: Structure) -> bool:
    switched_on = keys.flag("use_sliding_window", default=structure.window_without_switch)
    return switched_on and keys.maybe("sliding_window", least=0) not in (None, 0)


def _sparse_layers(keys: Keys, n_layers: int) -> str:
    """E for each layer with routed experts, by whichever of the families' rules is used."""
    if isinstance(keys.values.get("moe_layer_freq"), (list, tuple)):
        return _by_list(keys, "moe_layer_freq", n_layers, "DE") or ""
    chosen = keys.wholes("moe_layers")
    if chosen is not None:
        return _marked(frozenset(chosen), n_layers, "E", "D")
    dense = frozenset(keys.wholes("mlp_only_layers") or ())
    dense_until = keys.maybe("first_k_dense_replace", least=0) or 0
    # Each rule keeps the layers whose number, counted from an offset, is a multiple of a step.
    step = keys.maybe("decoder_sparse_step", "interleave_moe_layer_step") or 1
    rules = [(keys.maybe("moe_layer_freq") or 1, 0), (step, -1)]
    period = keys.maybe("expert_layer_period")
    if period is not None:
        rules.append((period, keys.whole("expert_layer_offset", least=0)))
    sparse = frozenset(
        layer
        for layer in range(dense_until, n_layers)
        if layer not in dense and all((layer - offset) % step == 0 for step, offset in rules)
    )
    return _marked(sparse, n_layers, "E", "D")


def _marked(layers: frozenset[int], n_layers: int, inside: str, outside: str) -> str:
    return "".join(inside if layer in layers else outside for layer in range(n_layers))


def _by_list(keys: Keys, name: str, n_layers: int, letters: str) -> str | None:
    """The list of 0 and 1 under `name`, with the two letters that stand for them."""
    listed = keys.wholes(name)
    if listed is None:
        return None
    for item in listed:
        if item > 1:
            raise keys.problem(f"{name!r} holds {item}, not 0 or 1")
    return _of_length("".join(letters[item] for item in listed), n_layers, keys, name)


def _of_length(letters: str, n_layers: int, keys: Keys, name: str) -> str:
    if len(letters) != n_layers:
        raise keys.problem(
            f"{name!r} has {len(letters)} items, and num_hidden_layers is {n_layers}"
        )
    return letters


def _every(interval: int, between: str, n_layers: int) -> str:
    """Full attention in every layer whose number is a multiple of the interval, counted from 1."""
    return "".join("F" if layer % interval == 0 else between for layer in range(1, n_layers + 1))


def _repeated(pattern: str, n_layers: int) -> str:
    return (pattern * (n_layers // len(pattern) + 1))[:n_layers]
