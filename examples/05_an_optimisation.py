"""The cheapest deployment for each of three latency targets, from a script, an object a line."""

import json
import subprocess
import sys

facts = {"model": "llama-3.1-70b", "gpu": "8 x h100-sxm", "price": "$2.50/h", "arrival_rate": "4/s",
         "prompt": 1500, "output": 400, "batch": 32}
space = {"tp": [2, 4, 8], "weight_dtype": ["bf16", "fp8"], "kv_dtype": ["bf16", "fp8"]}
targets = {"relaxed": "<= 50 ms", "interactive": "<= 20 ms", "impossible": "<= 2 ms"}
questions = [
    {"id": name, "find": "min cost_per_hour", "given": {**facts, "tpot": limit}, "over": space}
    for name, limit in targets.items()
]
run = subprocess.run(
    [sys.executable, "-m", "derive", "ask", "--jsonl"],
    input="\n".join(map(json.dumps, questions)),
    capture_output=True,
    text=True,
    check=True,
)
answers = {answer["id"]: answer for answer in map(json.loads, run.stdout.splitlines())}
for name, answer in answers.items():
    print(name, answer["status"], answer["display"], answer.get("choice", "-"))

# A tighter target never costs less, and nothing reads the weights in 2 ms.
assert answers["relaxed"]["value"] <= answers["interactive"]["value"]
assert answers["impossible"]["status"] == "infeasible"

# A search with a proof, over more, for people who have a file of prices:
#   derive plan examples/llama-70b.toml --json
