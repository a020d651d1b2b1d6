// Coverage, domains, and the graph's own tables.
"use strict";

{
  const { h } = Coreach;
  const mark = (word) => h("span", { class: `mark ${word}` }, word);

  // ---- coverage

  const KINDS = ["locations", "transitions", "conjuncts", "parameters"];
  const figures = (models) => Coreach.table({ name: "covered", rows: models, filter: false, columns: [
    { title: "model", of: (row) => row.title },
    { title: "runs", of: (row) => row.runs },
    ...KINDS.map((kind) => ({
      title: kind, of: (row) => row.figures[kind].percent,
      show: (row) => {
        const { covered, all, unreachable, rejected, percent } = row.figures[kind];
        return [h("meter", { min: "0", max: "100", value: String(percent), title: `${percent}%` }), ` ${covered}/${all - unreachable - rejected} ${percent}%`];
      },
    })),
  ] });

  const items = (model) => {
    const met = (each) => ({ status: each.status, runs: each.runs, times: each.times, line: each.line });
    const found = model.locations.map((each) => ({ kind: "location", name: each.name, ...met(each) }));
    for (const transition of model.transitions) {
      found.push({ kind: "transition", name: transition.name, ...met(transition) });
      const own = { line: transition.line };
      for (const conjunct of transition.conjuncts) {
        found.push({ kind: "conjunct", name: `${transition.name}: ${conjunct.text} holds`, ...met(conjunct.holds), ...own });
        found.push({ kind: "conjunct", name: `${transition.name}: ${conjunct.text} alone fails`, ...met(conjunct.fails), ...own });
      }
      for (const parameter of transition.parameters) {
        for (const each of parameter.classes) found.push({ kind: "parameter", name: `${transition.name}: ${parameter.name} is ${each.class}`, ...met(each), ...own });
      }
    }
    return found;
  };

  const coverage = () => {
    const models = [];
    const tables = [];
    for (const specification of Coreach.data.coverage.specifications) {
      models.push({ title: specification.name, ...specification });
      for (const purpose of specification.purposes) {
        models.push({ title: `by ${purpose.name}`, runs: purpose.runs, figures: purpose.of_specification });
        models.push({ title: `purpose ${purpose.name}`, ...purpose });
      }
      for (const model of [specification, ...specification.purposes]) {
        const at = Coreach.data.files.findIndex((file) => file.name === model.file);
        tables.push(Coreach.table({
          name: model.name, rows: items(model),
          choose: (row) => { if (at >= 0) Coreach.source.highlight([{ file: at, line: row.line, last: row.line }]); },
          columns: [
            { title: "status", of: (row) => row.status, show: (row) => mark(row.status) },
            { title: "kind", of: (row) => row.kind },
            { title: "what", of: (row) => row.name, wide: true },
            { title: "line", of: (row) => row.line },
            { title: "runs", of: (row) => row.runs },
            { title: "times", of: (row) => row.times },
          ],
        }));
      }
    }
    return h("div", { class: "split" }, h("div", { class: "page" }, figures(models), tables), Coreach.source.pane);
  };

  // ---- domains

  const sized = (row, stage) => row.stages.find((each) => each.stage === stage);
  const domains = (open) => {
    const rows = Coreach.data.domains;
    const size = (stage, what) => (row) => sized(row, stage)?.[what];
    const table = Coreach.table({ name: "domains", rows, filter: false, columns: [
      { title: "purpose", of: (row) => row.purpose },
      { title: "domain", of: (row) => row.domain },
      { title: "result", of: (row) => row.result },
      { title: "graph: locations", of: size("test_graph", "locations") },
      { title: "transitions", of: size("test_graph", "transitions") },
      { title: "inconclusive", of: size("test_graph", "inconclusive") },
      { title: "pruned", of: (row) => row.pruned },
      { title: "strengthened", of: (row) => row.strengthened },
      { title: "case: locations", of: size("test_case", "locations") },
      { title: "transitions", of: size("test_case", "transitions") },
      { title: "fail", of: size("test_case", "fail") },
      { title: "queries", of: (row) => row.queries },
      { title: "why", of: (row) => row.reason ?? "", wide: true },
    ] });
    const stages = Coreach.table({ name: "stages", rows: rows.flatMap((row) => row.stages.map((stage) => ({ ...row, ...stage }))), columns: [
      { title: "purpose", of: (row) => row.purpose },
      { title: "domain", of: (row) => row.domain },
      { title: "stage", of: (row) => row.stage.replace("_", " ") },
      { title: "locations", of: (row) => row.locations },
      { title: "transitions", of: (row) => row.transitions },
      { title: "inconclusive", of: (row) => row.inconclusive },
      { title: "fail", of: (row) => row.fail },
    ] });
    return h("div", { class: "page" }, table, differences(open), stages);
  };

  // What one domain keeps and another one does not: transitions by where they lead, by what and under which guard.
  const name = (graph, transition) => `${Coreach.describe(graph, transition)} [${Coreach.text(transition.guard)}]`;
  const differences = (open) => {
    const graphs = Coreach.data.graphs.map((graph, number) => ({ graph, number })).filter(({ graph }) => graph.stage === "test_graph" && graph.domain !== undefined);
    const purposes = [...new Set(graphs.map(({ graph }) => graph.purpose))].filter((purpose) => graphs.filter(({ graph }) => graph.purpose === purpose).length > 1);
    return purposes.map((purpose) => {
      const own = graphs.filter(({ graph }) => graph.purpose === purpose);
      const kept = own.map(({ graph }) => new Map(graph.transitions.map((transition, at) => [name(graph, transition), at])));
      const all = [...new Set(kept.flatMap((known) => [...known.keys()]))];
      const rows = all.filter((each) => kept.some((known) => !known.has(each))).map((each) => ({ each, has: kept.map((known) => known.has(each)) }));
      if (rows.length === 0) return h("p", {}, `${purpose}: all domains keep the same.`);
      return Coreach.table({
        name: `${purpose}: what not all domains keep in the test graph`, rows,
        choose: (row) => {
          const [has, hasNot] = [row.has.indexOf(true), row.has.indexOf(false)];
          open(own[has].number, own[hasNot].number, kept[has].get(row.each));
        },
        columns: [
          { title: "transition", of: (row) => row.each, wide: true },
          ...own.map(({ graph }, at) => ({ title: graph.domain, of: (row) => (row.has[at] ? "kept" : "-") })),
        ],
      });
    });
  };

  // ---- a graph as tables

  const graphTables = (graph) => h("div", { class: "page" },
    Coreach.table({ name: "locations", rows: graph.locations.map((location, number) => ({ ...location, number })), choose: (row) => Coreach.choose({ location: row.number }), columns: [
      { title: "location", of: (row) => row.label },
      { title: "mark", of: (row) => row.mark ?? "", show: (row) => row.mark && mark(row.mark) },
      { title: "leaving", of: (row) => Coreach.outgoing(graph, row.number).length },
      { title: "arriving", of: (row) => Coreach.incoming(graph, row.number).length },
      { title: "reach", of: (row) => (row.reach === undefined ? "" : Coreach.text(row.reach)), wide: true },
      { title: "coreach", of: (row) => (row.coreach === undefined ? "" : Coreach.text(row.coreach)), wide: true },
    ] }),
    Coreach.table({ name: "transitions", rows: graph.transitions.map((transition, number) => ({ transition, number })), choose: (row) => Coreach.choose({ transition: row.number }), columns: [
      { title: "from", of: (row) => graph.locations[row.transition.source].label },
      { title: "action", of: (row) => Coreach.actionText(graph, row.transition) },
      { title: "to", of: (row) => graph.locations[row.transition.target].label },
      { title: "guard", of: (row) => Coreach.text(row.transition.guard), wide: true },
      { title: "assigns", of: (row) => (row.transition.assignments ?? []).map((each) => `${each.variable} := ${Coreach.text(each.value)}`).join(", "), wide: true },
    ] }));

  const about = () => h("div", { class: "page about" },
    h("h3", {}, `made by coreach ${Coreach.data.version}`),
    Coreach.data.notes.length > 0 && h("ul", { class: "notes" }, Coreach.data.notes.map((note) => h("li", {}, note))),
    h("h3", {}, "keys"),
    h("dl", {}, [
      ["/", "search"], ["Enter, Shift+Enter", "the next found, the one before"], ["+ - 0", "larger, smaller, all"], ["arrows", "move the graph"],
      ["[ ]", "the stage before, the next one"], ["f i", "hide or show Fail, Inconclusive"], ["n", "only what is near the chosen location"],
      ["Backspace", "one step back"], ["j k", "the next event of a run, the one before"], ["Esc", "choose nothing"],
    ].map(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])),
    h("h3", {}, "how to read a graph"),
    h("p", {}, "Arrows into Fail and Inconclusive, and arrows back over many pages, stand beside the location that they leave, in a dashed box. " +
      "Loops (\u21ba) are listed in their location. One arrow stands for all between two locations. Guards and assignments are shortened. Rest the mouse on an arrow to see all. " +
      "The graph begins at the double border. Lines of the source that belong to what is chosen are marked."),
    h("p", {}, "The graph is drawn by cytoscape.js (MIT licence, in this file's text)."));

  Coreach.overview = { coverage, domains, graphTables, about };
}
