// Runs: their table, what failed, how many there were over time, and the way of each through its graph.
"use strict";

{
  const { h, semantics: S } = Coreach;
  const pane = h("section", { class: "walk", "aria-label": "Run" });
  let run;
  let states = [];
  let at = 0;

  const eventText = (step) => {
    if (step.action === undefined) return step.direction;
    const values = Object.values(step.values ?? {}).map((value) => (typeof value === "object" ? JSON.stringify(value) : String(value)));
    return `${step.action}${step.direction === "stimulus" ? "!" : "?"}${values.length === 0 ? "" : `(${values.join(", ")})`}`;
  };

  const show = (next) => {
    run = next;
    const graph = Coreach.data.graphs[run.walk.graph];
    states = [];
    at = 0;
    try {
      states.push({ state: S.begin(graph, run.walk.start) });
      for (const step of run.walk.steps) {
        const found = S.follow(graph, states[states.length - 1].state, step);
        if (found.state === undefined) { states.push({ why: found.why }); break; }
        states.push(found);
      }
    } catch (error) {
      states.push({ why: error.message });
    }
    draw();
  };

  const go = (next) => { at = Math.max(0, Math.min(states.length - 1, next)); draw(); };

  const draw = () => {
    const graph = Coreach.data.graphs[run.walk.graph];
    const here = states[at] ?? {};
    const known = states.slice(1, at + 1).map((each) => each.transition).filter((each) => each !== undefined);
    Coreach.graph.walk(known, here.state?.location, here.transition);
    if (here.transition !== undefined) {
      const origin = graph.transitions[here.transition].origin;
      Coreach.source.highlight(origin ? [origin] : []);
    }
    const place = here.state && graph.locations[here.state.location];
    const steps = run.walk.steps.map((step, number) => h("li", {},
      h("button", { type: "button", class: "link", "aria-current": number + 1 === at ? "step" : undefined, "data-step": String(number + 1), onclick: () => go(number + 1) },
        h("span", { class: step.direction }, eventText(step)), step.at_ms !== undefined && h("small", {}, ` ${step.at_ms.toFixed(1)} ms`))));
    const { reason } = run;
    Coreach.fill(pane, 
      h("h3", {}, `${run.name}: `, h("strong", { class: `mark ${run.verdict}` }, run.verdict)),
      reason.summary && h("p", {}, reason.summary),
      h("div", { class: "buttons" },
        h("button", { type: "button", disabled: at === 0, onclick: () => go(0), title: "to the beginning" }, "\u21e4"),
        h("button", { type: "button", disabled: at === 0, onclick: () => go(at - 1), "data-do": "before" }, "\u2190 before"),
        h("button", { type: "button", disabled: at >= states.length - 1, onclick: () => go(at + 1), "data-do": "next" }, "next \u2192"),
        h("span", { class: "count" }, `${at} of ${run.walk.steps.length}`)),
      place && h("p", {}, "in ", h("strong", { class: `mark ${place.mark ?? ""}`, "data-place": place.name }, place.label)),
      here.why && h("p", { class: "warning" }, `The data cannot be followed here: ${here.why}`),
      here.state && Coreach.stateTable(graph, here.state, states[at - 1]?.state),
      h("ol", { class: "events" }, steps),
      (reason.guards ?? []).length > 0 && [h("h4", {}, "guards that decided"), h("ul", {}, reason.guards.map((guard) => h("li", {}, h("code", {}, guard.part), guard.holds ? " holds" : " does not hold", ` (${guard.transition})`)))],
      (reason.expected ?? []).length > 0 && [h("h4", {}, "what would have led on"), h("ul", {}, reason.expected.map((text) => h("li", {}, h("code", {}, text))))]);
    pane.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  };

  // ---- the view of all runs

  const constants = (of) => Object.entries(of).map(([name, value]) => `${name} = ${typeof value === "object" ? JSON.stringify(value) : value}`).join(", ");
  const mark = (word) => h("span", { class: `mark ${word}` }, word);

  const buckets = () => {
    const found = new Map();
    for (const each of Coreach.data.runs) {
      if (each.bucket === undefined || !["Fail", "RunError"].includes(each.verdict)) continue;
      const known = found.get(each.bucket) ?? { id: each.bucket, ...each.failed, count: 0, iuts: new Set(), tests: new Set(), shortest: undefined };
      known.count += 1;
      known.iuts.add(each.iut ?? "");
      known.tests.add(each.test);
      if (known.shortest === undefined || each.events < known.shortest.events || (known.shortest.walk === undefined && each.walk !== undefined)) known.shortest = each;
      found.set(each.bucket, known);
    }
    return [...found.values()].sort((a, b) => b.count - a.count);
  };

  const groups = () => {
    const found = new Map();
    for (const each of Coreach.data.runs) {
      const name = JSON.stringify([each.test, each.iut]);
      const known = found.get(name) ?? { test: each.test, iut: each.iut ?? "", runs: 0, events: 0, counts: {} };
      known.runs += 1;
      known.events += each.events;
      known.counts[each.verdict] = (known.counts[each.verdict] ?? 0) + 1;
      found.set(name, known);
    }
    return [...found.values()];
  };

  const VERDICTS = ["Pass", "WeakPass", "Inconclusive", "Fail", "RunError"];

  // How many runs had ended how, as they came in.
  const overTime = () => {
    const runs = Coreach.data.runs.filter((each) => each.started !== undefined);
    if (runs.length < 2) return undefined;
    const [width, height] = [720, 140];
    const sorted = [...runs].sort((a, b) => (a.started < b.started ? -1 : a.started > b.started ? 1 : 0));
    const pieces = Math.min(240, sorted.length);
    const totals = [];
    const sums = Object.fromEntries(VERDICTS.map((verdict) => [verdict, 0]));
    let next = 0;
    for (let piece = 1; piece <= pieces; piece += 1) {
      const end = Math.round((piece * sorted.length) / pieces);
      for (; next < end; next += 1) sums[sorted[next].verdict] += 1;
      totals.push({ ...sums });
    }
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", "Runs over time by verdict");
    let below = totals.map(() => 0);
    for (const verdict of VERDICTS) {
      const above = totals.map((total, piece) => below[piece] + total[verdict]);
      const x = (piece) => (pieces === 1 ? 0 : (piece * width) / (pieces - 1));
      const y = (count) => height - (count * height) / sorted.length;
      const up = above.map((count, piece) => `${x(piece).toFixed(1)},${y(count).toFixed(1)}`);
      const down = below.map((count, piece) => `${x(piece).toFixed(1)},${y(count).toFixed(1)}`).reverse();
      const area = document.createElementNS("http://www.w3.org/2000/svg", "polygon");
      area.setAttribute("points", [...up, ...down].join(" "));
      area.setAttribute("class", `area ${verdict}`);
      svg.append(area);
      below = above;
    }
    const legend = VERDICTS.filter((verdict) => sums[verdict] > 0).map((verdict) => h("span", { class: `mark ${verdict}` }, `${sums[verdict]} ${verdict}`));
    return h("figure", { class: "chart" }, svg, h("figcaption", {}, `${sorted[0].started} to ${sorted[sorted.length - 1].started} `, legend));
  };

  const view = (choose) => {
    const runs = Coreach.data.runs;
    const failed = buckets();
    const go = (each) => { if (each.walk !== undefined) choose(each); };
    const verdicts = VERDICTS.filter((verdict) => runs.some((each) => each.verdict === verdict));
    return h("div", { class: "page" },
      failed.length > 0 && Coreach.table({ name: "what failed", rows: failed, choose: (bucket) => go(bucket.shortest), columns: [
        { title: "runs", of: (row) => row.count },
        { title: "verdict", of: (row) => row.verdict, show: (row) => mark(row.verdict) },
        { title: "place", of: (row) => row.place },
        { title: "action", of: (row) => row.action ?? row.cause },
        { title: "violated", of: (row) => (row.violated ?? []).map((set) => set.join(" and ")).join("; or ") || (row.action ? "not allowed there" : ""), wide: true },
        { title: "implementations", of: (row) => [...row.iuts].join(", ") },
        { title: "shortest", of: (row) => row.shortest.events },
        { title: "bucket", of: (row) => row.id },
      ] }),
      Coreach.table({ name: "test cases and implementations", rows: groups(), filter: false, columns: [
        { title: "test case", of: (row) => row.test },
        { title: "implementation", of: (row) => row.iut },
        { title: "runs", of: (row) => row.runs },
        ...verdicts.map((verdict) => ({ title: verdict, of: (row) => row.counts[verdict] ?? 0 })),
        { title: "events", of: (row) => row.events },
      ] }),
      overTime(),
      Coreach.table({ name: "runs", rows: runs, choose: go, filter: true, columns: [
        { title: "run", of: (row) => row.name, show: (row) => (row.walk ? h("span", { class: "link" }, row.name) : row.name) },
        { title: "test case", of: (row) => row.test },
        { title: "implementation", of: (row) => row.iut ?? "" },
        { title: "verdict", of: (row) => row.verdict, show: (row) => mark(row.verdict) },
        { title: "events", of: (row) => row.events },
        { title: "constants", of: (row) => constants(row.constants) },
        { title: "seed", of: (row) => row.seed ?? "" },
        { title: "seconds", of: (row) => row.seconds, show: (row) => row.seconds?.toFixed(4) ?? "" },
        { title: "reason", of: (row) => row.reason.summary, wide: true },
      ] }));
  };

  Coreach.runs = { pane, show, view, next: () => go(at + 1), before: () => go(at - 1) };
}
