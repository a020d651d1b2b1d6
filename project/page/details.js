// What is known of the chosen location, transition or aside.
"use strict";

{
  const { h } = Coreach;
  const pane = h("section", { class: "details", "aria-label": "Details", "aria-live": "polite" });

  const row = (name, ...value) => [h("dt", {}, name), h("dd", {}, ...value)];
  const code = (text) => h("code", {}, text);
  const link = (text, go) => h("button", { type: "button", class: "link", onclick: go }, text);

  const transitionRows = (graph, transition) => [
    row("action", code(Coreach.actionText(graph, transition))),
    row("guard", code(Coreach.text(transition.guard))),
    (transition.assignments ?? []).length > 0 && row("assigns", (transition.assignments ?? []).map(({ variable, value }) =>
      h("div", {}, code(`${variable} := ${Coreach.text(value)}`)))),
  ];

  const originText = (origin) => origin && `${Coreach.data.files[origin.file].name}:${origin.line}`;

  const neverSilent = (when) => ["the specification is never silent here", ...(when === "true" ? [] : [" when ", code(when)])];

  const location = (graph, number) => {
    const shown = graph.locations[number];
    const outgoing = Coreach.outgoing(graph, number);
    const incoming = Coreach.incoming(graph, number);
    Coreach.fill(pane, 
      h("h3", {}, "location ", h("strong", {}, shown.label)),
      h("dl", {},
        shown.label !== shown.name && row("name", code(shown.name)),
        shown.description && row("description", shown.description),
        shown.mark && row("mark", h("span", { class: `mark ${shown.mark}` }, shown.mark)),
        shown.reach !== undefined && row("reach", code(Coreach.text(shown.reach))),
        shown.coreach !== undefined && row("coreach", code(Coreach.text(shown.coreach))),
        shown.must_answer !== undefined && row("silence", ...neverSilent(Coreach.text(shown.must_answer))),
        row("leaving", list(graph, outgoing)),
        row("arriving", list(graph, incoming))));
    Coreach.source.highlight(outgoing.map((each) => graph.transitions[each].origin).filter((origin) => origin !== undefined));
  };

  const MOST = 60;
  const list = (graph, numbers) => {
    const items = numbers.slice(0, MOST).map((number) => h("li", {}, link(Coreach.describe(graph, graph.transitions[number]), () => Coreach.choose({ transition: number }))));
    return numbers.length === 0 ? "none" : h("ul", {}, items, numbers.length > MOST && h("li", {}, `and ${numbers.length - MOST} more`));
  };

  const transition = (graph, number) => {
    const shown = graph.transitions[number];
    const name = (at) => link(graph.locations[at].label, () => Coreach.choose({ location: at }));
    Coreach.fill(pane, 
      h("h3", {}, "transition ", h("strong", {}, Coreach.actionText(graph, shown))),
      h("dl", {},
        row("from", name(shown.source)),
        row("to", name(shown.target)),
        transitionRows(graph, shown),
        shown.origin ? row("written", originText(shown.origin)) : row("written", "nowhere: a stage made it")));
    Coreach.source.highlight(shown.origin ? [shown.origin] : []);
  };

  const several = (graph, shown) => {
    const label = graph.locations[graph.transitions[shown.transitions[0]].target].label;
    const title = shown.kind === "loop" ? "back to" : "to";
    Coreach.fill(pane, 
      h("h3", {}, `${shown.transitions.length === 1 ? "one transition" : `${shown.transitions.length} transitions`} ${title} `, h("strong", {}, label)),
      shown.transitions.map((each) => h("dl", { class: "part" }, row("", link(Coreach.describe(graph, graph.transitions[each]), () => Coreach.choose({ transition: each }))), transitionRows(graph, graph.transitions[each]))));
    Coreach.source.highlight(shown.transitions.map((each) => graph.transitions[each].origin).filter((origin) => origin !== undefined));
  };

  // Of the graph as a whole, when nothing is chosen.
  const whole = (graph) => {
    Coreach.source.highlight([]);
    const count = (mark) => graph.transitions.filter((each) => graph.locations[each.target].mark === mark).length;
    Coreach.fill(pane, 
      h("h3", {}, `${Coreach.stageName(graph)} `, h("strong", {}, graph.name)),
      graph.reachable === false && h("p", { class: "warning" }, "The purpose cannot be reached."),
      h("dl", {},
        row("locations", String(graph.locations.length)),
        row("transitions", String(graph.transitions.length)),
        count("Inconclusive") > 0 && row("into Inconclusive", String(count("Inconclusive"))),
        count("Fail") > 0 && row("into Fail", String(count("Fail"))),
        row("initially", code(Coreach.text(graph.condition))),
        graph.constants.length > 0 && row("constants", graph.constants.map((datum) => h("div", {}, code(`${datum.name}: ${Coreach.type(datum.type).text}`)))),
        graph.variables.length > 0 && row("variables", graph.variables.map((datum) => h("div", {}, code(`${datum.name}: ${Coreach.type(datum.type).text}`)))),
        row("signs", graph.is_testers_side ? "! the tester sends, ? the tester observes" : "? the system receives, ! the system sends"),
        graph.said_once && row("besides", graph.said_once),
        graph.imprecisions.length > 0 && row("imprecisions", h("ul", {}, graph.imprecisions.slice(0, MOST).map((imprecision) => h("li", {}, imprecision)))),
        graph.size === undefined && row("picture", "too large to be drawn; the tables have all")));
  };

  Coreach.details = { pane, location, transition, several, whole };
}
