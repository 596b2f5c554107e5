(function () {
  "use strict";
  var box = document.getElementById("filter");
  var count = document.getElementById("count");
  var parts = Array.prototype.slice.call(document.querySelectorAll("[data-words]"));
  var sections = Array.prototype.slice.call(document.querySelectorAll("section.sheet"));
  function filter() {
    var words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    var shown = 0;
    parts.forEach(function (part) {
      var text = part.getAttribute("data-words");
      var found = words.every(function (word) { return text.indexOf(word) >= 0; });
      part.classList.toggle("hidden", !found);
      if (found) { shown += 1; }
    });
    sections.forEach(function (section) {
      section.classList.toggle("hidden", !section.querySelector("[data-words]:not(.hidden)"));
    });
    count.textContent = words.length ? shown + " found" : "";
  }
  box.addEventListener("input", filter);

  var graph = document.getElementById("graph");
  var needs = JSON.parse(document.getElementById("graph-data").textContent);
  var told = document.getElementById("needs");
  function closure(name) {
    var seen = {}, stack = [name];
    while (stack.length) {
      needs[stack.pop()].needs.forEach(function (other) {
        if (!seen[other] && other !== name) { seen[other] = true; stack.push(other); }
      });
    }
    return seen;
  }
  function link(formula) {
    var anchor = document.createElement("a");
    anchor.href = "#formula-" + formula;
    anchor.textContent = formula;
    return anchor;
  }
  function choose(name) {
    var all = closure(name), direct = needs[name].needs;
    graph.classList.add("chosen");
    graph.querySelectorAll(".node").forEach(function (node) {
      var own = node.getAttribute("data-name");
      node.classList.toggle("self", own === name);
      node.classList.toggle("needed", !!all[own]);
    });
    graph.querySelectorAll("path").forEach(function (path) {
      var to = path.getAttribute("data-to");
      path.classList.toggle("needed", to === name || !!all[to]);
    });
    var rest = Object.keys(all).filter(function (other) { return direct.indexOf(other) < 0; });
    told.textContent = "";
    var line = document.createElement("p");
    var strong = document.createElement("strong");
    strong.textContent = name;
    line.appendChild(strong);
    line.appendChild(document.createTextNode(direct.length
      ? " needs " + direct.join(", ") + (rest.length ? "; and through them " + rest.join(", ") : "") + ". "
      : " is a fact: no formula of the sheet computes it. "));
    needs[name].formulas.forEach(function (formula) {
      line.appendChild(link(formula));
      line.appendChild(document.createTextNode(" "));
    });
    told.appendChild(line);
  }
  graph.querySelectorAll(".node").forEach(function (node) {
    node.addEventListener("click", function () { choose(node.getAttribute("data-name")); });
    node.addEventListener("keydown", function (event) {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        choose(node.getAttribute("data-name"));
      }
    });
  });
})();
