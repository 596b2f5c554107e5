"""A derivation for a review: as LaTeX, Markdown and HTML, and one part of it as it stands there."""

from derive import Session

serving = Session("model llama-3.1-70b, gpu 8 x h100-sxm, tp = 8, batch = 32")
reply = serving.max("context", given="tpot <= 30 ms")
for name, text in (
    ("LaTeX", reply.to_latex()),
    ("Markdown", reply.to_markdown()),
    ("HTML", reply.to_html()),
):
    print(name, "starts with", text.split("\n", maxsplit=1)[0])
print("sections:", ", ".join(line[3:] for line in reply.to_markdown().splitlines() if line[:3] == "## "))
print()

# How many layers have caches of 320 KiB a token: the formula taken apart, and the numbers put in.
cache = Session("n_kv_heads = 8, d_head = 128, kv_bytes_per_element = 2")
layers = cache.ask("n_layers given kv_bytes_per_token = 320 KiB")
sections = layers.to_markdown().split("\n## ")
print(next(part for part in sections if part.startswith("Solved for")).partition("\n\n")[2])

# The answer meets its limit, and nothing longer does.
assert serving.ask(f"tpot given context = {reply.value}").value <= 0.030
assert serving.ask(f"tpot given context = {reply.value + 1}").value > 0.030
assert layers.value == 320 * 1024 / (2 * 8 * 128 * 2)
