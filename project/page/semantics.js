// States and steps of a graph: which transitions can be taken with which values, and what follows. As docs/reference/model-format.md says: a transition is
// enabled where its guard holds and every assigned value is in its variable's type.
"use strict";

{
  const V = Coreach.values;
  const T = Coreach.terms;

  // The state with these data (JSON by names) at the initial location; data that are not given have the value nearest to nothing.
  const begin = (graph, start) => {
    const data = new Map();
    for (const datum of [...graph.constants, ...graph.variables]) {
      const json = start[datum.name];
      data.set(datum.name, json === undefined ? V.any(datum.type) : V.fromJson(json, datum.type));
    }
    return { location: graph.initial, data };
  };

  // Does the initial condition hold? { holds } or { why }.
  const holds = (expression, data) => {
    try {
      const known = new Map();
      const root = Coreach.term(expression);
      if (T.evaluate(root, data, known)) return { holds: true };
      const wrong = T.conjuncts(root).filter((part) => { try { return !T.evaluate(part, data, known); } catch { return false; } });
      return { holds: false, why: wrong.map((part) => T.text(part)).join(" and ") + (wrong.length === 1 ? " does not hold" : " do not hold") };
    } catch (error) {
      if (error instanceof T.Undefined) return { holds: false, why: error.message };
      return { holds: undefined, why: error.message };
    }
  };

  // The state after a transition with these values, in the order of its parameters: { state }, or { why } it cannot be taken.
  const fire = (graph, number, state, values) => {
    const transition = graph.transitions[number];
    const action = graph.actions[transition.action];
    const data = new Map(state.data);
    for (const [at, parameter] of action.parameters.entries()) {
      if (!V.isIn(values[at], parameter.type)) {
        return { why: `${parameter.name} = ${V.show(values[at], parameter.type)} is not in ${Coreach.type(parameter.type).text}` };
      }
      data.set(parameter.name, values[at]);
    }
    if (transition.guard !== undefined) {
      const guard = holds(transition.guard, data);
      if (guard.holds !== true) return { why: guard.why, beyond: guard.holds === undefined };
    }
    const next = new Map(state.data);
    for (const { variable, value } of transition.assignments ?? []) {
      const datum = graph.variables.find((known) => known.name === variable);
      try {
        const result = T.evaluate(Coreach.term(value), data);
        if (datum !== undefined && !V.isIn(result, datum.type)) {
          return { why: `${variable} would be ${V.show(result, datum.type)}, which is not in ${Coreach.type(datum.type).text}` };
        }
        next.set(variable, result);
      } catch (error) {
        return { why: `${variable}: ${error.message}`, beyond: error instanceof T.Beyond };
      }
    }
    return { state: { location: transition.target, data: next } };
  };

  // Values with which a transition can be taken, looked for among those that its guard names and those that are about: none where none is found.
  const MOST_TRIED = 600;
  const suggest = (graph, number, state) => {
    const transition = graph.transitions[number];
    const parameters = graph.actions[transition.action].parameters;
    const parts = transition.guard === undefined ? [] : T.conjuncts(Coreach.term(transition.guard));
    const data = new Map(state.data);
    // `p == e` names p, once everything in e is known.
    for (let round = 0; round < parameters.length; round += 1) {
      for (const part of parts) {
        const [name, a, b] = Coreach.data.terms[part];
        if (name !== "==") continue;
        for (const [one, other] of [[a, b], [b, a]]) {
          const node = Coreach.data.terms[one];
          const parameter = node[0] === "data" && parameters.find((known) => known.name === node[1]);
          if (!parameter || data.has(parameter.name)) continue;
          try { data.set(parameter.name, T.evaluate(other, data)); } catch { /* not known yet */ }
        }
      }
    }
    let lists = parameters.map((parameter) => (data.has(parameter.name) && !state.data.has(parameter.name))
      ? [data.get(parameter.name)] : candidates(parameter.type, state));
    let tried = 0;
    const search = (chosen) => {
      if (chosen.length === lists.length) {
        tried += 1;
        return fire(graph, number, state, chosen).state === undefined ? undefined : chosen;
      }
      for (const value of lists[chosen.length]) {
        if (tried > MOST_TRIED) return undefined;
        const found = search([...chosen, value]);
        if (found !== undefined) return found;
      }
      return undefined;
    };
    const found = search([]);
    // Are these the only values?
    if (found !== undefined) found.isOnly = lists.every((list) => list.length === 1);
    return found;
  };

  const candidates = (number, state) => {
    const of = Coreach.type(number);
    if (of.kind === "bool") return [true, false];
    if (of.kind === "enum") return of.literals;
    const found = new Map();
    const add = (value) => { if (V.isIn(value, number)) found.set(V.key(value), value); };
    const about = [...state.data.values()].filter((value) => typeof value === "bigint");
    if (["int", "nat", "range"].includes(of.kind)) {
      [1n, 0n, 2n, -1n, ...about.flatMap((value) => [value, value + 1n, value - 1n]), 10n, 100n].forEach(add);
      if (of.kind === "range") [BigInt(of.low), BigInt(of.high)].forEach(add);
    } else if (of.kind === "real") {
      [V.real(1n), V.real(0n), V.real(1n, 2n), V.real(-1n), V.real(10n)].forEach(add);
    } else if (of.kind === "id") {
      const known = (value) => Array.isArray(value) ? value.flatMap(known) : typeof value === "string" ? [value] : [];
      [...[...state.data.values()].flatMap(known), "id0", "id1", "id2"].forEach(add);
    } else if (of.kind === "string") {
      const literals = Coreach.data.terms.filter(([name, type]) => name === "literal" && Coreach.type(type).kind === "string");
      const known = [...state.data.values()].filter((value) => typeof value === "string");
      ["", "a", ...known, ...literals.slice(0, 40).flatMap(([, , word]) => [word, `${word}a`])].forEach(add);
    } else {
      add(V.any(number));
    }
    return [...found.values()];
  };

  // The state after an event of a run: through the transition that it took, or through the only one that its values allow.
  const follow = (graph, state, step) => {
    if (step.action === undefined) return { state };
    const values = (transition) => graph.actions[transition.action].parameters.map((parameter) => V.fromJson(step.values?.[parameter.name], parameter.type));
    const numbers = step.transition !== undefined && graph.transitions[step.transition] !== undefined
      ? [step.transition]
      : Coreach.outgoing(graph, state.location).filter((number) => graph.actions[graph.transitions[number].action].name === step.action);
    let why = `no transition of ${graph.locations[state.location].label} takes ${step.action}`;
    for (const number of numbers) {
      const next = fire(graph, number, state, values(graph.transitions[number]));
      if (next.state !== undefined) return { state: next.state, transition: number };
      why = next.why;
    }
    if (graph.others_fail !== undefined && step.direction === "observation") {
      return { state: { location: graph.others_fail, data: state.data } };
    }
    return { why };
  };

  Coreach.semantics = { begin, holds, fire, suggest, follow };
}
