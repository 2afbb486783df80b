// Links names between the panes of a graph and its tables: a name that is chosen is marked wherever it stands in that
// graph, and every pane scrolls to where it is made. Nothing here adds facts; without it the page reads the same.
"use strict";
(() => {
  const nameOf = (one) => one.dataset.n || one.textContent;
  const show = (graph, name) => {
    for (const one of document.querySelectorAll(".on")) one.classList.remove("on");
    let found = 0;
    for (const pane of graph.querySelectorAll(".pane")) {
      let target = null;
      for (const one of pane.querySelectorAll("u, b")) {
        if (nameOf(one) !== name) continue;
        one.classList.add("on");
        found += 1;
        if (!target || (target.tagName === "U" && one.tagName === "B")) target = one;
      }
      if (target) pane.scrollTo({ top: target.offsetTop - pane.clientHeight / 3, left: 0 });
    }
    return found;
  };
  const choose = (one) => {
    const graph = one.closest("[data-graph]") || document.querySelector(`[data-graph="${one.dataset.g}"]`);
    if (!graph || !show(graph, nameOf(one))) return;
    if (!one.closest(".pane")) graph.querySelector(".panes").scrollIntoView({ block: "start" });
    history.replaceState(null, "", `#${graph.dataset.graph}:${nameOf(one)}`);
  };
  document.addEventListener("click", (event) => {
    const name = event.target.closest("u, b");
    if (name) choose(name);
    const copy = event.target.closest("button[data-copy]");
    if (copy && navigator.clipboard) navigator.clipboard.writeText(document.getElementById(copy.dataset.copy).textContent);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.matches("b")) choose(event.target);
  });
  const [, at, name] = decodeURIComponent(location.hash).match(/^#(\d+):(.+)$/) || [];
  const graph = at && document.querySelector(`[data-graph="${at}"]`);
  if (graph) {
    show(graph, name);
    graph.querySelector(".panes").scrollIntoView({ block: "start" });
  }
})();
