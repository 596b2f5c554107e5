"""Keys of a config.json, each checked before it is believed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from formulas.errors import Problem

# Far above any model; what is larger is a mistake or an attack.
LARGEST_SIZE = 10**9
MOST_LAYERS = 10_000
# What no model comes near, key by key; widths first.
_LARGEST: Mapping[str, int] = MappingProxyType(
    {
        **dict.fromkeys(("hidden_size", "n_embd", "d_model"), 10**6),
        **dict.fromkeys(("intermediate_size", "moe_intermediate_size", "ffn_dim"), 10**7),
        **dict.fromkeys(("num_attention_heads", "n_head", "num_heads"), 10**4),
        **dict.fromkeys(("num_key_value_heads", "num_kv_heads", "n_head_kv"), 10**4),
        **dict.fromkeys(("head_dim", "attention_head_dim", "global_head_dim"), 10**5),
        **dict.fromkeys(("kv_lora_rank", "q_lora_rank", "index_head_dim"), 10**6),
        **dict.fromkeys(("num_experts", "n_routed_experts", "num_local_experts"), 10**5),
        "vocab_size": 10**8,
        "num_hidden_layers": 10**3,
    }
)
_LONGEST_SHOWN = 40
_HALF = Fraction(1, 2)

# What a person can state instead of a key that is missing; everything else only serves the count.
STATED_AS: Mapping[str, str] = MappingProxyType(
    {
        "num_hidden_layers": "n_layers",
        "hidden_size": "d_model",
        "num_attention_heads": "n_heads",
        "num_key_value_heads": "n_kv_heads",
        "head_dim": "d_head",
        "kv_lora_rank": "kv_lora_rank",
        "qk_rope_head_dim": "qk_rope_head_dim",
        "qk_nope_head_dim": "qk_nope_head_dim",
        "v_head_dim": "v_head_dim",
        "max_position_embeddings": "max_position_embeddings",
    }
)
# Of the shape of attention one key may be absent.
_SHAPE = ("num_hidden_layers", "hidden_size", "num_attention_heads")
_NOT_NEEDED = (
    "      (a missing num_key_value_heads means no grouped heads, and is shown as assumed)"
)


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of one model; `where` names them in messages and `word` is what the person typed."""

    values: Mapping[str, Any]
    where: str = "config.json"
    word: str = ""

    def with_stated(self, stated: Mapping[str, Fraction]) -> Keys:
        """The keys, where those that are missing are what a person states instead."""
        added = {
            key: int(stated[name])
            for key, name in STATED_AS.items()
            if self.values.get(key) is None and stated.get(name, _HALF).denominator == 1
        }
        return replace(self, values={**self.values, **added})

    def whole(self, *names: str, least: int = 1, most: int = LARGEST_SIZE) -> int:
        """The first of `names` that is there, a whole number; a Problem where none is."""
        found = self.maybe(*names, least=least, most=most)
        if found is None:
            raise self.missing(names[0])
        return found

    def maybe(self, *names: str, least: int = 1, most: int = LARGEST_SIZE) -> int | None:
        """The first of `names` that is there and not null, a whole number; None where none is."""
        name = next((name for name in names if self.values.get(name) is not None), None)
        return None if name is None else self._checked(name, self.values[name], least, most)

    def flag(self, name: str, *, default: bool) -> bool:
        """Whether `name` is true; `default` where it is absent or null."""
        value = self.values.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.problem(f"{name!r} is {shown(value)}, not true or false")
        return value

    def text(self, name: str) -> str:
        """The string under `name`; empty where it is absent or null."""
        value = self.values.get(name)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise self.problem(f"{name!r} is {shown(value)}, not a text")
        return value

    def wholes(self, name: str) -> tuple[int, ...] | None:
        """The list of whole numbers from 0 under `name`; None where it is absent or null."""
        items = self._items(name)
        if items is None:
            return None
        return tuple(self._checked(name, item, 0, LARGEST_SIZE) for item in items)

    def texts(self, name: str) -> tuple[str, ...] | None:
        """The list of strings under `name`; None where it is absent or null."""
        items = self._items(name)
        if items is None:
            return None
        for item in items:
            if not isinstance(item, str):
                raise self.problem(f"{name!r} holds {shown(item)}, not a text")
        return items

    def section(self, name: str) -> Keys:
        """The keys of the object under `name`; none where it is absent or null."""
        value = self.values.get(name)
        if value is None:
            return Keys({}, self.where, self.word)
        if not isinstance(value, Mapping):
            raise self.problem(f"{name!r} is {shown(value)}, not an object")
        return Keys(value, f"{self.where}: {name}", self.word)

    def has(self, name: str) -> bool:
        """Whether `name` is there with a value that is neither null, zero, false nor empty."""
        return bool(self.values.get(name))

    def missing(self, name: str) -> Problem:
        """What to raise where `name` is needed and absent."""
        quantity = STATED_AS.get(name, "n_params")
        assumed = _NOT_NEEDED if name in _SHAPE else ""
        help_lines = (f"state it:  {quantity} = ...{assumed}",)
        return Problem("model", f"{self.where} has no '{name}'", help_lines, self.word)

    def problem(self, what: str, *help_lines: str) -> Problem:
        """What to raise where the keys are there and cannot be right."""
        return Problem("config", f"{self.where}: {what}", help_lines, self.word)

    def _items(self, name: str) -> tuple[Any, ...] | None:
        value = self.values.get(name)
        if value is None:
            return None
        if not isinstance(value, (list, tuple)):
            raise self.problem(f"{name!r} is {shown(value)}, not a list")
        if len(value) > MOST_LAYERS:
            raise self.problem(f"{name!r} has {len(value)} items, more than {MOST_LAYERS}")
        return tuple(value)

    def _checked(self, name: str, value: Any, least: int, most: int) -> int:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.problem(f"{name!r} is {shown(value)}, not a whole number")
        if value < least:
            wanted = "not positive" if least == 1 else f"less than {least}"
            raise self.problem(f"{name!r} is {shown(value)}, {wanted}")
        most = min(most, _LARGEST.get(name, most))
        if value > most:
            raise self.problem(f"{name!r} is {shown(value)}, more than {most}")
        return value


def shown(value: Any) -> str:
    """A value as JSON spells it, in ASCII, and not longer than a message can bear."""
    if isinstance(value, (Mapping, list, tuple)):
        return "an object" if isinstance(value, Mapping) else "a list"
    text = json.dumps(value if isinstance(value, (str, int, float, bool)) else str(value))
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
