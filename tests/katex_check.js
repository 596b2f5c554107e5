// Reads a JSON list of [latex, display] and prints those that KaTeX, strict, does not render.
const katex = require(process.argv[2]);
const rows = JSON.parse(require("fs").readFileSync(0, "utf8"));
const refused = [];
for (const [latex, display] of rows) {
  try {
    katex.renderToString(latex, { displayMode: display, strict: "error", throwOnError: true, trust: false });
  } catch (error) {
    refused.push([latex, String(error.message)]);
  }
}
console.log(JSON.stringify({ version: katex.version, rendered: rows.length - refused.length, refused }));
