"""A thousand questions from a script: one JSON object a line, one answer a line."""

import json
import subprocess
import sys

questions = [
    {"id": tp, "find": "max batch", "given": {"model": "llama-3.1-70b", "gpu": "8 x h100-sxm",
                                              "tp": tp, "context": 8192, "tpot": "<= 40 ms"}}
    for tp in (1, 2, 4, 8)
]
run = subprocess.run(
    [sys.executable, "-m", "derive", "ask", "--jsonl"],
    input="\n".join(map(json.dumps, questions)),
    capture_output=True,
    text=True,
    check=True,
)
answers = [json.loads(line) for line in run.stdout.splitlines()]
for answer in answers:
    print(answer["id"], answer["status"], answer["value"], answer.get("binding", "-"))

# One GPU cannot hold the weights; two have room for a single sequence beside them.
assert [answer["status"] for answer in answers] == ["infeasible", "ok", "ok", "ok"]
assert answers[1]["value"] == 1
assert answers[2]["value"] < answers[3]["value"]
