// The page's data, and what is asked of it everywhere. Nothing else reads the document.
"use strict";

const Coreach = { data: JSON.parse(document.getElementById("data").textContent) };

{
  const data = Coreach.data;

  Coreach.type = (number) => data.types[number];
  Coreach.text = (expression) => (expression === undefined ? "true" : data.expressions[expression].text);
  Coreach.term = (expression) => data.expressions[expression].term;

  // What a graph is called in tabs and tables.
  const NAMES = {
    specification: "specification", test_purpose: "purpose", complete_purpose: "complete purpose", product: "product",
    closed: "closed", visible: "visible", test_graph: "test graph", test_case: "test case", online_test: "on-line test",
  };
  Coreach.stageName = (graph) => NAMES[graph.stage] ?? graph.stage;

  // Graphs that are shown beside each other: those of one purpose and one domain, with the models they are made of.
  Coreach.groupName = (graph) => {
    if (graph.purpose === undefined) return graph.stage === "specification" ? "models" : graph.name;
    if (graph.domain === undefined) return "models";
    return `${graph.purpose} (${graph.domain})`;
  };

  // Transitions by their sources, made once for each graph.
  Coreach.outgoing = (graph, location) => {
    if (graph.outgoing === undefined) {
      graph.outgoing = graph.locations.map(() => []);
      graph.transitions.forEach((transition, number) => graph.outgoing[transition.source].push(number));
    }
    return graph.outgoing[location];
  };
  Coreach.incoming = (graph, location) => {
    if (graph.incoming === undefined) {
      graph.incoming = graph.locations.map(() => []);
      graph.transitions.forEach((transition, number) => graph.incoming[transition.target].push(number));
    }
    return graph.incoming[location];
  };

  Coreach.actionText = (graph, transition) => {
    const action = graph.actions[transition.action];
    const names = action.parameters.map((parameter) => parameter.name);
    return action.name + action.sign + (names.length === 0 ? "" : `(${names.join(", ")})`);
  };

  Coreach.describe = (graph, transition) => {
    const label = (location) => graph.locations[location].label;
    return `${label(transition.source)} -${graph.actions[transition.action].name}-> ${label(transition.target)}`;
  };

  // All of a transition: its action, its guard, its assignments, a line each.
  Coreach.linesOf = (graph, transition) => [
    Coreach.actionText(graph, transition),
    ...(transition.guard === undefined ? [] : [`[${Coreach.text(transition.guard)}]`]),
    ...(transition.assignments ?? []).map(({ variable, value }) => `${variable} := ${Coreach.text(value)}`),
  ];

  // Runs that an implementation has made, and examples that were computed: only these have no seed.
  Coreach.ran = data.runs.filter((run) => run.seed !== undefined);
  Coreach.examples = data.runs.filter((run) => run.seed === undefined);
}
