"""How long may the context be on eight H100, and what would a slower link cost?"""

from derive import Session

serving = Session("model llama-3.1-70b, gpu 8 x h100-sxm, tp = 8, batch = 32")

longest = serving.max("context", given="tpot <= 30 ms")
print(longest)
assert longest.binding == ("tpot",)

# Backwards: the hop latency at which a context of 30 000 tokens would just meet the limit.
latency = serving.ask("link_latency given context = 30000, tpot = 30 ms -> us")
print()
print(latency.text().splitlines()[0])
assert latency.status == "ok"

# Put back: with that latency the step takes what was asked for.
again = serving.ask(f"tpot given context = 30000, link_latency = {latency.value}")
assert abs(again.value - 0.030) < 1e-9
