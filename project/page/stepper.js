// Stepping through a graph by hand: choose values, take a transition, see the state and what is allowed, go back.
"use strict";

{
  const { h, semantics: S, values: V } = Coreach;
  const pane = h("section", { class: "stepper", "aria-label": "Steps" });
  let graph;
  let history = [];

  const show = (next) => {
    graph = next;
    history = [];
    start();
  };

  const field = (datum, value, change) => {
    const type = Coreach.type(datum.type);
    const words = { bool: ["true", "false"], enum: type.literals }[type.kind];
    const typed = value === undefined ? "" : V.typed(value, datum.type);
    const input = words
      ? h("select", {}, words.map((word) => h("option", { selected: word === typed }, word)))
      : h("input", { type: "text", value: typed, size: Math.max(4, Math.min(16, typed.length + 1)), spellcheck: "false", autocomplete: "off" });
    input.addEventListener("input", change);
    input.dataset.datum = datum.name;
    return { datum, input, label: h("label", {}, `${datum.name} `, input) };
  };

  // Values of the fields, or why there are none.
  const read = (fields) => {
    const found = [];
    for (const { datum, input } of fields) {
      try {
        const value = V.parse(input.value, datum.type);
        if (!V.isIn(value, datum.type)) throw new Error(`not in ${Coreach.type(datum.type).text}`);
        input.removeAttribute("aria-invalid");
        found.push(value);
      } catch (error) {
        input.setAttribute("aria-invalid", "true");
        return { why: `${datum.name}: ${error.message}` };
      }
    }
    return { values: found };
  };

  // The first page: constants and variables.
  const start = () => {
    let first;
    try { first = S.begin(graph, graph.start ?? {}); } catch (error) {
      Coreach.fill(pane, h("p", { class: "warning" }, `The data cannot be read by this page: ${error.message}`));
      return;
    }
    const why = h("p", { class: "why", role: "status" });
    const fields = [...graph.constants, ...graph.variables].map((datum) => field(datum, first.data.get(datum.name), () => look()));
    const button = h("button", { type: "submit" }, "begin");
    const look = () => {
      const { values, why: wrong } = read(fields);
      if (wrong) { button.disabled = true; why.textContent = wrong; return undefined; }
      const state = { location: graph.initial, data: new Map(fields.map(({ datum }, at) => [datum.name, values[at]])) };
      const condition = S.holds(graph.condition, state.data);
      button.disabled = condition.holds === false;
      why.textContent = condition.holds === true ? "" : condition.why;
      return state;
    };
    look();
    const form = h("form", { onsubmit: (event) => { event.preventDefault(); const state = look(); if (state && !button.disabled) { history = [{ state }]; step(); } } },
      graph.constants.length > 0 && h("fieldset", {}, h("legend", {}, "constants"), fields.slice(0, graph.constants.length).map((each) => each.label)),
      graph.variables.length > 0 && h("fieldset", {}, h("legend", {}, "variables"), fields.slice(graph.constants.length).map((each) => each.label)),
      h("p", {}, "initially ", h("code", {}, Coreach.text(graph.condition))),
      why, button);
    Coreach.graph.walk([], undefined, undefined);
    Coreach.fill(pane, h("h3", {}, "step through ", h("strong", {}, graph.name)), form);
  };

  const taken = () => history.map((each) => each.transition).filter((each) => each !== undefined);

  const step = () => {
    const { state, transition } = history[history.length - 1];
    const location = graph.locations[state.location];
    const numbers = Coreach.outgoing(graph, state.location);
    const before = history.length > 1 ? history[history.length - 2].state : undefined;
    Coreach.graph.walk(taken(), state.location, transition);
    const rows = numbers.map((number) => offer(number, state));
    // What can be taken stands first.
    rows.sort((a, b) => Number(b.is) - Number(a.is));
    const events = history.slice(1).map((each, at) => h("li", {}, h("button", { type: "button", class: "link", onclick: () => { history = history.slice(0, at + 2); step(); } }, each.event)));
    Coreach.fill(pane, 
      h("h3", {}, "in ", h("strong", { class: `mark ${location.mark ?? ""}`, "data-place": location.name }, location.label)),
      h("div", { class: "buttons" },
        h("button", { type: "button", disabled: history.length < 2, onclick: back, "data-do": "back" }, "\u2190 back"),
        h("button", { type: "button", onclick: start, "data-do": "again" }, "begin again")),
      Coreach.stateTable(graph, state, before),
      h("h4", {}, location.mark && numbers.length === 0 ? "the end" : "what can happen"),
      rows.map((row) => row.element),
      graph.others_fail !== undefined && numbers.length > 0 && h("p", { class: "hint" }, "any other output leads to Fail"),
      events.length > 0 && [h("h4", {}, "so far"), h("ol", { class: "events" }, events)]);
  };

  const offer = (number, state) => {
    const transition = graph.transitions[number];
    const action = graph.actions[transition.action];
    const suggested = S.suggest(graph, number, state);
    const why = h("span", { class: "why", role: "status" });
    const button = h("button", { type: "submit", "data-take": String(number) }, "take");
    const fields = action.parameters.map((parameter, at) => field(parameter, suggested?.[at] ?? V.any(parameter.type), () => look()));
    const target = graph.locations[transition.target];
    let next;
    const look = () => {
      const { values, why: wrong } = read(fields);
      const result = wrong ? { why: wrong } : S.fire(graph, number, state, values);
      next = result.state;
      button.disabled = next === undefined;
      why.textContent = next === undefined ? result.why ?? "" : "";
      if (next !== undefined) next.event = action.name + (values.length === 0 ? "" : `(${values.map((value, at) => V.show(value, action.parameters[at].type)).join(", ")})`);
    };
    look();
    const element = h("form", { class: `offer ${target.mark ?? ""}`, onsubmit: (event) => {
      event.preventDefault();
      look();
      if (next === undefined) return;
      history.push({ state: { location: next.location, data: next.data }, transition: number, event: next.event });
      step();
    } },
    h("div", {}, h("strong", {}, action.name + action.sign), " ", fields.map((each) => each.label), h("span", { class: "to" }, ` \u2192 ${target.label} `), button),
    transition.guard !== undefined && h("div", {}, h("code", {}, Coreach.text(transition.guard))),
    why);
    return { element, is: next !== undefined };
  };

  const back = () => {
    if (history.length < 2) return;
    history.pop();
    step();
  };

  // The data of a state; what the last step has changed stands out.
  Coreach.stateTable = (of, state, before) => {
    const row = (datum) => {
      const value = V.show(state.data.get(datum.name), datum.type);
      const changed = before !== undefined && V.show(before.data.get(datum.name), datum.type) !== value;
      return h("tr", { class: changed && "changed" }, h("th", { scope: "row" }, datum.name), h("td", { "data-value": datum.name }, value));
    };
    return h("table", { class: "state" }, h("tbody", {}, [...of.constants, ...of.variables].map(row)));
  };

  Coreach.stepper = { pane, show, back, begun: () => history.length > 0 };
}
