"""Lines that are damaged at random: each is answered or refused, soon, and echoed as it was read.

    python tests/fuzz/mutate_lines.py --lines 100000 --seconds 3600 --seed 1

Prints what the lines came to and every failure with its line; exits with 1 where there is one.
`--read` only reads the lines, which is a thousand times faster than answering them.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent.parent))

from derive.complain import complain
from derive.conversation import Conversation
from derive.question import LONGEST_LINE, Question, canonical, parse
from formulas.errors import Problem

SLOW = 2.0
STATUSES = ("ok", "infeasible", "missing", "contradiction", "unbounded", "unproved", "error")

KNOWN = "model llama-3.1-8b, gpu 8 x h100-sxm, tp = 2, batch = 8, context = 4k"
SEEDS = (
    KNOWN,
    "model llama-3.1-70b",
    "gpu 8 x h100-sxm",
    "batch = 32, prompt = 2k, output = 512",
    "mbu = 80%, price_per_gpu_hour = $2.50/h",
    "link_bandwidth = 400 Gbit/s",
    "tpot <= 30 ms",
    "1 <= tp <= 8",
    "tp in {1, 2, 4, 8}",
    "mbu = 0.75 \u00b1 0.05",
    "weight_bytes_per_gpu + kv_bytes_per_gpu <= 0.92 * vram_bytes",
    "tpot",
    "tpot -> us",
    "kv_bytes_per_gpu / weight_bytes_per_gpu",
    "context given tpot = 20 ms",
    f"max context given tpot <= 30 ms, {KNOWN}",
    f"max batch given tpot <= 30 ms, {KNOWN}",
    "min tpot given context = 32Ki over tp, kv_dtype",
    "which tp given tpot <= 25 ms, context = 8192",
    "whatif gpu = 8 x h200-sxm: max context",
    "whatif memory_bandwidth = 1.1 * memory_bandwidth: tpot",
    "sweep tpot, output_token_rate over batch in 1..256 log2, tp in {4, 8}",
    "why tpot",
    "derive max context given tpot <= 30 ms, batch = 8",
    "max batch given tpot <= 30 ms --time 5",
    "why not tp = 2",
    "sens context by memory_bandwidth, vram_bytes, batch",
    "relax",
    "formulas kv cache",
    "show kv_bytes_per_token for n_kv_heads",
    "variants tpot",
    "use decode_step_kv for step_time",
    "need tpot",
    "check tpot = 20 ms, batch = 64",
    "tpot = 30 ms, context = ?",
    "n_layers given kv_bytes_per_token = 128 KiB, n_kv_heads = 8, d_head = 128, kv_dtype = bf16",
    "prompt given reload_time = recompute_time",
    "mbu = 0.7..0.8, tpot",
    "price * n_gpus -> $/day",
    "batch in 1..1000 log, kv_dtype in {bf16, fp8}",
    "plan min cost_per_hour given rate = 4 req/s, tpot <= 50 ms over tp, kv_dtype at h100-sxm $2/h",
    "plan front max output_token_rate, min tpot over batch in 1..64 require tp >= 2 or fp8 top 3",
    "tpot given profile = measured, engine = vllm",
    "cost_per_hour <= $50/h, rate = 600 req/min",
)
WORDS = (
    "tpot", "context", "batch", "tp", "gpu", "model", "kv_dtype", "probe_ok", "weight_bytes",
    "ttft", "mbu", "price", "lora_forward.A", "given", "over", "by", "for", "top", "to", "as", "in",
    "max", "min", "which", "whatif", "why", "not", "sens", "sweep", "relax", "use", "need", "check",
    "plan", "derive", "30", "ms", "GB", "80%", "$2.50/h", "8 x", "h100-sxm", "fp8", "1e60", "0",
    "-1", "1/3", "Ki", "{1, 2}", "1..8", "..", "log2", "step", "=", "<=", ":=", ">=", "->", ",",
    ":", "?", "(", ")", "+", "-", "*", "/", "^", "\u00b1", "#", '"', "derive>",
)  # fmt: skip
STRANGE = (
    "\u2264", "\u2265", "\u00d7", "\u2192", "\u00b5", "\u202f", "\u00a0", "\u00e9", "\u0663",
    "\u6a21", "\u20ac", "\u0301", "\ud800", "\x00", "\x1b[2J", "\r", "\t", "\n", "\U0001f4a5",
)  # fmt: skip

Damage = Callable[[random.Random, str], str]


def _cut(dice: random.Random, line: str) -> str:
    start = dice.randrange(len(line) + 1)
    return line[:start] + line[start + dice.randint(1, 4) :]


def _double(dice: random.Random, line: str) -> str:
    start = dice.randrange(len(line) + 1)
    return line[: start + dice.randint(1, 4)] + line[start:]


def _swap(dice: random.Random, line: str) -> str:
    start = dice.randrange(len(line) + 1)
    return line[:start] + line[start : start + 2][::-1] + line[start + 2 :]


def _insert(dice: random.Random, line: str) -> str:
    start = dice.randrange(len(line) + 1)
    return line[:start] + dice.choice(WORDS + STRANGE) + line[start:]


def _other_word(dice: random.Random, line: str) -> str:
    words = line.split(" ")
    words[dice.randrange(len(words))] = dice.choice(WORDS)
    return " ".join(words)


def _other_digit(dice: random.Random, line: str) -> str:
    places = [place for place, char in enumerate(line) if char.isdigit()]
    if not places:
        return line
    place = dice.choice(places)
    return line[:place] + dice.choice("0123456789.e_-") + line[place + 1 :]


def _run(dice: random.Random, line: str) -> str:
    start = dice.randrange(len(line) + 1)
    piece = dice.choice(WORDS + STRANGE) * dice.choice((40, 400, 4000))
    return (line[:start] + piece + line[start:])[: LONGEST_LINE + 5]


def _join(dice: random.Random, line: str) -> str:
    return line + dice.choice((", ", " given ", " ", ": ", "\n")) + dice.choice(SEEDS)


def _loud(dice: random.Random, line: str) -> str:
    return line.upper() if dice.random() < 0.5 else line.title()


DAMAGES: tuple[tuple[Damage, int], ...] = (
    (_cut, 4), (_double, 3), (_swap, 3), (_insert, 4), (_other_word, 6), (_other_digit, 5),
    (_run, 1), (_join, 3), (_loud, 1),
)  # fmt: skip


def damaged(dice: random.Random) -> str:
    """A line of the language with one to three faults."""
    line = dice.choice(SEEDS)
    for damage in dice.choices(*zip(*DAMAGES, strict=True), k=dice.choice((1, 1, 2, 3))):
        line = damage(dice, line)
    return line


@dataclass(frozen=True)
class Failure:
    """What went wrong with a line."""

    kind: str
    line: str
    detail: str


def try_line(
    line: str, before: Conversation | None, slow: float = SLOW
) -> tuple[str, Failure | None]:
    """What the line comes to, said after `before`, and what is wrong with that.

    Without a conversation the line is only read. One that takes more than `slow` seconds of the
    processor has failed too.
    """
    start = time.process_time()
    try:
        outcome = _outcome(line, before)
    except Problem as problem:
        outcome = f"error[{problem.kind}]"
        if not complain(problem, line).startswith("error["):
            return outcome, Failure("message", line, complain(problem, line))
    except Exception:
        return "traceback", Failure("traceback", line, traceback.format_exc(limit=-4))
    seconds = time.process_time() - start
    if outcome.startswith("echo"):
        return "echo", Failure("echo", line, outcome)
    if outcome.startswith("unknown"):
        return "status", Failure("status", line, outcome)
    if seconds > slow:
        return outcome, Failure("slow", line, f"{seconds:.1f} s")
    return outcome, None


def _outcome(line: str, before: Conversation | None) -> str:
    question = parse(line)
    wrong = _echo(question)
    # A file is not written by a line that a machine made up.
    if wrong or before is None or question.to is not None:
        return wrong or f"read {question.verb}"
    found = before.answer(question)[1]
    return found.status if found.status in STATUSES else f"unknown status {found.status}"


def _echo(question: Question) -> str:
    """Empty where the canonical spelling is read as the same question."""
    spelt = canonical(question)
    if len(spelt) > LONGEST_LINE:
        return ""
    try:
        again = parse(spelt)
    except Problem as problem:
        return f"echo: {spelt!r} is not read: {problem}"
    if _meaning(again) != _meaning(question):
        return f"echo: {spelt!r} is read as {_meaning(again)}, not {_meaning(question)}"
    return ""


def _meaning(question: Question) -> tuple[Any, ...]:
    values = {f.name: getattr(question, f.name) for f in fields(question)}
    values["statements"] = tuple(replace(row, text="") for row in question.statements)
    values["inner"] = question.inner and _meaning(question.inner)
    del values["text"], values["read_as"]
    return tuple(values.values())


def mutate(
    count: int, seconds: float, seed: int, read_only: bool = False, slow: float = SLOW
) -> tuple[Counter[str], list[Failure], float]:
    """Damaged lines until there were so many or the time is over: outcomes, failures, slowest."""
    dice = random.Random(seed)
    outcomes: Counter[str] = Counter()
    failures: list[Failure] = []
    slowest, end = 0.0, time.monotonic() + seconds
    befores = (None,) if read_only else tuple(_conversations())
    for _ in range(count):
        if time.monotonic() > end:
            break
        start = time.process_time()
        outcome, failure = try_line(damaged(dice), dice.choice(befores), slow)
        slowest = max(slowest, time.process_time() - start)
        outcomes[outcome] += 1
        if failure:
            failures.append(failure)
    return outcomes, failures, slowest


def _conversations() -> Iterator[Conversation]:
    yield Conversation(seconds=20)
    yield Conversation(seconds=20).say(KNOWN)[0]


def main() -> int:
    """The exit code: 1 where a line failed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--lines", type=int, default=10_000, help="at most so many lines")
    parser.add_argument("--seconds", type=float, default=600, help="at most so long")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers")
    parser.add_argument("--read", action="store_true", help="read the lines, answer none")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        outcomes, failures, slowest = mutate(chosen.lines, chosen.seconds, chosen.seed, chosen.read)
    for failure in failures:
        print(f"FAILED {failure.kind}: {failure.line[:300]!r}\n  {failure.detail[-1500:]}")
    for outcome, number in outcomes.most_common():
        print(f"{number:8d}  {outcome}")
    print(f"{outcomes.total()} lines, {len(failures)} failures, slowest {slowest:.2f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
