// Puts the page together: views, tabs, what is chosen, keys.
"use strict";

{
  const { h, data } = Coreach;
  const main = document.getElementById("main");
  const began = performance.now();

  // ---- the library, compressed in the page

  const unpack = async () => {
    const text = document.getElementById("library").textContent;
    const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    document.head.append(h("script", {}, await new Response(stream).text()));
    document.getElementById("library").remove();
  };

  // ---- the view of graphs

  let number = Math.max(0, data.graphs.findIndex((graph) => graph.stage === "test_case"));
  let chosen = {};
  let side = "details";

  const group = h("select", { "aria-label": "Models, or purpose and domain" });
  const stages = h("div", { class: "tabs stages", role: "tablist", "aria-label": "Stages" });
  const search = h("input", { type: "search", id: "search", placeholder: "search (/)", "aria-label": "Search locations, actions, guards" });
  const sideTabs = h("div", { class: "tabs", role: "tablist", "aria-label": "Beside the graph" });
  const sidePane = h("div", { class: "side" });
  const button = (text, title, onclick, more) => h("button", { type: "button", title, onclick, ...more }, text);
  const toggle = (name, text, change) => {
    const input = h("input", { type: "checkbox", "data-toggle": name, onchange: () => change(input.checked) });
    return h("label", {}, input, ` ${text}`);
  };
  const hiding = (name, text) => toggle(name, text, (on) => { Coreach.graph.hidden[name] = on; Coreach.graph.hide(); });
  const near = h("select", { "aria-label": "Only what is near the chosen location" },
    ["all", "1 step", "2 steps", "3 steps", "5 steps"].map((text) => h("option", { value: text.split(" ")[0] }, text)));
  near.addEventListener("change", () => Coreach.graph.neighbourhood(near.value === "all" ? undefined : chosen.location ?? graph().initial, Number(near.value)));
  const graphView = h("div", { class: "graphs" },
    h("div", { class: "toolbar" },
      group, stages, search, Coreach.graph.status,
      h("span", { class: "group" }, "hide ", hiding("fail", "Fail"), hiding("inconclusive", "Inconclusive")),
      h("label", {}, "near ", near),
      data.coverage && toggle("coverage", "coverage", (on) => { Coreach.graph.colour(on); document.body.classList.toggle("coloured", on); }),
      button("fit", "all of it (0)", () => Coreach.graph.fit(), { "data-do": "fit" })),
    h("div", { class: "split" },
      h("div", { class: "left" }, Coreach.graph.canvas, Coreach.graph.empty, Coreach.graph.hover),
      h("div", { class: "right" }, sideTabs, sidePane, Coreach.source.pane)));

  const graph = () => data.graphs[number];
  const groups = [...new Set(data.graphs.map(Coreach.groupName))];
  group.append(...groups.map((name) => h("option", { value: name }, name)));
  group.addEventListener("change", () => {
    const of = data.graphs.map((each, at) => ({ each, at })).filter(({ each }) => Coreach.groupName(each) === group.value);
    open((of.find(({ each }) => each.stage === graph().stage) ?? of[group.value === "models" ? 0 : of.length - 1]).at);
  });

  let markSide = () => {};
  const setSide = (name) => {
    side = name;
    markSide(name);
    const panes = {
      details: () => Coreach.details.pane, steps: () => Coreach.stepper.pane, run: () => Coreach.runs.pane,
      tables: () => Coreach.overview.graphTables(graph()),
    };
    sidePane.replaceChildren(panes[name]());
  };
  const sides = (hasRun) => {
    const names = ["details", "steps", ...(hasRun ? ["run"] : []), "tables"];
    markSide = Coreach.tabs(sideTabs, names.map((name) => ({ name })), side, setSide);
  };

  const open = (next) => {
    number = next;
    chosen = {};
    const name = Coreach.groupName(graph());
    group.value = name;
    const of = data.graphs.map((each, at) => ({ each, at })).filter(({ each }) => Coreach.groupName(each) === name);
    Coreach.tabs(stages, of.map(({ each, at }) => ({
      name: String(at), title: `${each.locations.length} locations, ${each.transitions.length} transitions`,
      text: name === "models" ? `${Coreach.stageName(each)} ${each.name}` : Coreach.stageName(each),
    })), String(number), (at) => open(Number(at)));
    near.value = "all";
    search.value = "";
    Coreach.graph.status.value = "";
    Coreach.graph.show(graph());
    Coreach.details.whole(graph());
    Coreach.stepper.show(graph());
    if (side === "run") side = "details";
    sides(false);
    setSide(side);
  };

  // What is chosen is shown everywhere: in the graph, beside it, in the source.
  Coreach.choose = (what) => {
    chosen = what;
    if (view !== "graphs") setView("graphs");
    if (what.location !== undefined) Coreach.details.location(graph(), what.location);
    else if ((what.aside ?? what.arrow) !== undefined) Coreach.details.several(graph(), graph().asides[what.aside] ?? graph().arrows[what.arrow]);
    else if (what.transition !== undefined) Coreach.details.transition(graph(), what.transition);
    else Coreach.details.whole(graph());
    Coreach.graph.select(what);
    Coreach.graph.bring(Coreach.graph.elementOf(what));
    if (side === "tables" || Object.values(what).some((each) => each !== undefined)) setSide("details");
  };

  const openRun = (run) => {
    setView("graphs");
    open(run.walk.graph);
    Coreach.runs.show(run);
    side = "run";
    sides(true);
    setSide("run");
  };

  // ---- views

  let view = "";
  const failures = Coreach.runs.failures();
  const runsText = Coreach.ran.length === 0 ? "example run" : `runs (${Coreach.ran.length}${failures.length > 0 ? `, ${failures.length} failed` : ""})`;
  const views = [
    data.graphs.length > 0 && { name: "graphs", text: "graphs", make: () => graphView },
    data.runs.length > 0 && { name: "runs", text: runsText, make: () => Coreach.runs.view(openRun) },
    data.coverage && { name: "coverage", text: "coverage", make: Coreach.overview.coverage },
    data.domains.length > 0 && { name: "domains", text: "stages and domains", make: () => Coreach.overview.domains((first, second, transition) => {
      setView("beside");
      Coreach.beside.open(first, second, transition);
    }) },
    Coreach.beside.possible && { name: "beside", text: "side by side", make: () => Coreach.beside.pane },
    { name: "about", text: "about", make: Coreach.overview.about },
  ].filter(Boolean);
  let markView = () => {};
  const setView = (name) => {
    if (name === view) return;
    view = name;
    markView(name);
    document.body.dataset.view = name;
    const right = graphView.querySelector(".right");
    main.replaceChildren(views.find((each) => each.name === name).make());
    if (name === "graphs") { right.append(Coreach.source.pane); Coreach.graph.resize(); }
    if (name === "beside") Coreach.beside.entered();
  };

  // ---- keys

  const KEYS = {
    "/": () => { search.focus(); search.select(); },
    "+": () => Coreach.graph.zoom(1.25), "=": () => Coreach.graph.zoom(1.25), "-": () => Coreach.graph.zoom(0.8), 0: () => Coreach.graph.fit(),
    ArrowLeft: () => Coreach.graph.pan(60, 0), ArrowRight: () => Coreach.graph.pan(-60, 0), ArrowUp: () => Coreach.graph.pan(0, 60), ArrowDown: () => Coreach.graph.pan(0, -60),
    "[": () => another(-1), "]": () => another(1),
    f: () => press("fail"), i: () => press("inconclusive"),
    n: () => { near.value = near.value === "all" ? "1" : "all"; near.dispatchEvent(new Event("change")); },
    Backspace: () => Coreach.stepper.back(), j: () => side === "run" && Coreach.runs.next(), k: () => side === "run" && Coreach.runs.before(),
    Escape: () => Coreach.choose({}),
  };
  const press = (name) => graphView.querySelector(`[data-toggle=${name}]`).click();
  const another = (step) => {
    const tabs = [...stages.querySelectorAll("button")];
    tabs[tabs.findIndex((tab) => tab.dataset.tab === String(number)) + step]?.click();
  };
  document.addEventListener("keydown", (event) => {
    const isField = event.target.closest("input:not([type=checkbox]), select, textarea");
    if (event.target === search) {
      if (event.key === "Enter") { Coreach.graph.next(event.shiftKey); event.preventDefault(); }
      if (event.key === "Escape") { search.value = ""; Coreach.graph.search(""); search.blur(); }
      return;
    }
    if (isField || event.ctrlKey || event.metaKey || event.altKey || view !== "graphs") return;
    const scrolls = event.key.startsWith("Arrow") && event.target.closest(".lines, .side");
    if (scrolls || KEYS[event.key] === undefined) return;
    event.preventDefault();
    KEYS[event.key]();
  });
  search.addEventListener("input", () => Coreach.graph.search(search.value));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { Coreach.graph.refresh(); Coreach.beside.refresh(); });
  addEventListener("resize", () => { Coreach.graph.resize(); Coreach.beside.resize(); });

  // ---- begin

  unpack().then(() => {
    markView = Coreach.tabs(document.getElementById("views"), views.map(({ name, text }) => ({ name, text })), views[0].name, setView);
    setView(views[0].name);
    if (data.graphs.length > 0) open(number);
    // What failed stands first.
    if (failures.length > 0 && Coreach.ran.length === 1 && failures[0].walk !== undefined) openRun(failures[0]);
    else if (failures.length > 0) setView("runs");
    requestAnimationFrame(() => requestAnimationFrame(() => {
      Coreach.drawn = performance.now();
      document.body.dataset.drawn = String(Math.round(Coreach.drawn));
      document.body.dataset.took = String(Math.round(Coreach.drawn - began));
    }));
  }).catch((error) => {
    main.replaceChildren(h("p", { class: "warning" }, `This page cannot be shown here: ${error.message}. It needs a browser of 2023 or later.`));
    throw error;
  });
}
