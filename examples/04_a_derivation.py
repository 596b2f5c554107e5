"""A derivation for a review: the longest context under a limit, as LaTeX, Markdown and HTML."""

from pathlib import Path
from tempfile import TemporaryDirectory

from derive import Session

serving = Session("model llama-3.1-70b, gpu 8 x h100-sxm, tp = 8, batch = 32")
reply = serving.max("context", given="tpot <= 30 ms")

with TemporaryDirectory() as folder:
    for ending, text in (
        (".tex", reply.to_latex()),
        (".md", reply.to_markdown()),
        (".html", reply.to_html()),
    ):
        path = Path(folder) / f"context{ending}"
        path.write_text(text, encoding="utf-8")
        print(path.name, "starts with", text.split("\n", maxsplit=1)[0])

markdown = reply.to_markdown()
for heading in (line for line in markdown.splitlines() if line.startswith("## ")):
    print(heading)

# What the document says is what the answer is, and the answer meets its limit as nothing longer does.
assert f"{reply.value:,}".replace(",", "\u202f") in markdown
assert serving.ask("tpot given context = " + str(reply.value)).value <= 0.030
assert serving.ask("tpot given context = " + str(reply.value + 1)).value > 0.030
