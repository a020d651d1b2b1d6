// Runs: what failed, how many ended how, their table, and the way of each through its graph.
"use strict";

{
  const { h, semantics: S, values: V } = Coreach;
  const pane = h("section", { class: "walk", "aria-label": "Run" });
  let run;
  let states = [];
  let at = 0;

  const valueText = (value) => (typeof value === "object" ? JSON.stringify(value) : String(value));
  const named = (values) => Object.entries(values ?? {}).map(([name, value]) => `${name} = ${valueText(value)}`).join(", ");
  const eventText = (step) => {
    if (step.action === undefined) return step.direction;
    const values = Object.values(step.values ?? {}).map(valueText);
    return `${step.action}${step.direction === "stimulus" ? "!" : "?"}${values.length === 0 ? "" : `(${values.join(", ")})`}`;
  };

  // The states on a run's way, each with the transition that led to it, or why the way cannot be followed.
  const follow = ({ walk }) => {
    const graph = Coreach.data.graphs[walk.graph];
    const found = [];
    try {
      found.push({ state: S.begin(graph, walk.start) });
      for (const step of walk.steps) {
        found.push(S.follow(graph, found[found.length - 1].state, step));
        if (found[found.length - 1].state === undefined) break;
      }
    } catch (error) {
      found.push({ why: error.message });
    }
    return found;
  };

  const failed = (each) => ["Fail", "RunError"].includes(each.verdict);

  // A run that failed is shown from its end, all others from their beginning.
  const show = (next) => {
    run = next;
    states = follow(run);
    at = failed(run) ? states.length - 1 : 0;
    draw();
  };

  // What came last, and what could have come instead: with values where the page can find them, else as the judge has said it.
  const end = (each) => {
    const { reason, walk } = each;
    const last = walk?.steps[walk.steps.length - 1];
    const isEvent = each.cause === "event" && last?.action !== undefined && (reason.event ?? last.action).startsWith(last.action);
    const got = isEvent ? `${last.action}(${named(last.values)})` : reason.event ?? (each.cause === "silence" ? "nothing" : reason.summary);
    let expected = [];
    const way = walk === undefined ? [] : follow(each);
    const before = isEvent ? way[walk.steps.length - 1] : way[walk?.steps.length];
    // Only where the judge has known one state all along is what the page computes what the judge expected.
    const isKnown = (isEvent ? walk.steps.slice(0, -1) : walk?.steps ?? []).every((step) => step.action === undefined || step.transition !== undefined);
    if (isKnown && before?.state !== undefined && each.verdict === "Fail" && (isEvent || each.cause === "silence")) {
      const graph = Coreach.data.graphs[walk.graph];
      for (const number of Coreach.outgoing(graph, before.state.location)) {
        const transition = graph.transitions[number];
        const action = graph.actions[transition.action];
        if (action.kind !== "output" || graph.locations[transition.target].mark === "Fail") continue;
        const values = S.suggest(graph, number, before.state);
        if (values === undefined) continue;
        const text = `${action.name}(${values.map((value, place) => `${action.parameters[place].name} = ${V.show(value, action.parameters[place].type)}`).join(", ")})`;
        expected.push({ text, when: values.isOnly ? undefined : Coreach.text(transition.guard) });
      }
    }
    if (expected.length === 0) expected = (reason.expected ?? []).map((text) => ({ text }));
    const texts = new Set();
    return { got, expected: expected.filter(({ text }) => !texts.has(text) && texts.add(text)) };
  };
  const expectedText = ({ expected }) => expected.map(({ text, when }) => text + (when === undefined ? "" : ` for example, when ${when}`)).join(" or ");

  const go = (next) => { at = Math.max(0, Math.min(states.length - 1, next)); draw(); };

  const draw = () => {
    const graph = Coreach.data.graphs[run.walk.graph];
    const here = states[at] ?? {};
    const known = states.slice(1, at + 1).map((each) => each.transition).filter((each) => each !== undefined);
    Coreach.graph.walk(known, here.state?.location, here.transition);
    if (here.transition !== undefined) {
      const { action, origin, source } = graph.transitions[here.transition];
      // What leads to Fail was written nowhere: the lines are those of what the action could have been.
      const written = Coreach.outgoing(graph, source).map((number) => graph.transitions[number]).filter((each) => each.origin);
      const could = written.filter((each) => each.action === action);
      Coreach.source.highlight(origin ? [origin] : (could.length > 0 ? could : written).map((each) => each.origin));
    }
    const place = here.state && graph.locations[here.state.location];
    const steps = run.walk.steps.map((step, number) => h("li", {},
      h("button", { type: "button", class: "link", "aria-current": number + 1 === at ? "step" : undefined, "data-step": String(number + 1), onclick: () => go(number + 1) },
        h("span", { class: step.direction }, eventText(step)), step.at_ms !== undefined && h("small", {}, ` ${step.at_ms.toFixed(1)} ms`))));
    const { reason } = run;
    const wrong = (reason.guards ?? []).filter((guard) => failed(run) && !guard.holds);
    const { got, expected } = end(run);
    Coreach.fill(pane,
      h("h3", {}, `${run.name}: `, h("strong", { class: `mark ${run.verdict}` }, run.verdict)),
      reason.summary && h("p", {}, reason.summary),
      failed(run) && h("dl", { class: "end" },
        h("dt", {}, "got"), h("dd", {}, h("code", {}, got)),
        expected.length > 0 && [h("dt", {}, "expected"), h("dd", {}, expected.map(({ text, when }, number) => h("div", {}, number > 0 && "or ", h("code", {}, text), when !== undefined && [" for example, when ", h("code", {}, when)])))],
        wrong.length > 0 && [h("dt", {}, "violated"), h("dd", {}, wrong.map((guard) => h("div", {}, h("code", {}, guard.part), named(guard.values) && [", where ", h("code", {}, named(guard.values))])))]),
      h("div", { class: "buttons" },
        h("button", { type: "button", disabled: at === 0, onclick: () => go(0), title: "to the beginning" }, "\u21e4"),
        h("button", { type: "button", disabled: at === 0, onclick: () => go(at - 1), "data-do": "before" }, "\u2190 before"),
        h("button", { type: "button", disabled: at >= states.length - 1, onclick: () => go(at + 1), "data-do": "next" }, "next \u2192"),
        h("span", { class: "count" }, `${at} of ${run.walk.steps.length}`)),
      place && h("p", {}, "in ", h("strong", { class: `mark ${place.mark ?? ""}`, "data-place": place.name }, place.label)),
      here.why && h("p", { class: "warning" }, `The data cannot be followed here: ${here.why}`),
      h("ol", { class: "events" }, steps),
      here.state && Coreach.stateTable(graph, here.state, states[at - 1]?.state),
      !failed(run) && (reason.guards ?? []).length > 0 && [h("h4", {}, "guards that decided"), h("ul", {}, reason.guards.map((guard) => h("li", {}, h("code", {}, guard.part), guard.holds ? " holds" : " does not hold", ` (${guard.transition})`)))],
      !failed(run) && (reason.expected ?? []).length > 0 && [h("h4", {}, "what would have led on"), h("ul", {}, reason.expected.map((text) => h("li", {}, h("code", {}, text))))]);
    // Where the pane is not shown yet, nothing has a place.
    requestAnimationFrame(() => {
      const [list, now] = [pane.querySelector(".events"), pane.querySelector("[aria-current]")];
      if (now) list.scrollTop += now.getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientHeight / 2;
    });
  };

  // ---- the view of all runs

  const mark = (word) => h("span", { class: `mark ${word}` }, word);

  const buckets = () => {
    const found = new Map();
    for (const each of Coreach.ran) {
      if (each.bucket === undefined || !failed(each)) continue;
      const known = found.get(each.bucket) ?? { id: each.bucket, ...each.failed, count: 0, iuts: new Set(), tests: new Set(), shortest: undefined };
      known.count += 1;
      known.iuts.add(each.iut ?? "");
      known.tests.add(each.test);
      if (known.shortest === undefined || each.events < known.shortest.events || (known.shortest.walk === undefined && each.walk !== undefined)) known.shortest = each;
      found.set(each.bucket, known);
    }
    return [...found.values()].sort((a, b) => b.count - a.count).map((each) => ({ ...each, end: end(each.shortest) }));
  };

  const groups = () => {
    const found = new Map();
    for (const each of Coreach.ran) {
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
  const svg = (name, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  const overTime = () => {
    const runs = Coreach.ran.filter((each) => each.started !== undefined);
    if (runs.length < 2) return undefined;
    const [width, height] = [720, 140];
    const sorted = [...runs].sort((a, b) => (a.started < b.started ? -1 : a.started > b.started ? 1 : 0));
    const pieces = Math.min(240, sorted.length);
    const totals = [];
    const sums = Object.fromEntries(VERDICTS.map((verdict) => [verdict, 0]));
    totals.push({ ...sums });
    let next = 0;
    for (let piece = 1; piece <= pieces; piece += 1) {
      const end = Math.round((piece * sorted.length) / pieces);
      for (; next < end; next += 1) sums[sorted[next].verdict] += 1;
      totals.push({ ...sums });
    }
    const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": "Runs so far by verdict" });
    let below = totals.map(() => 0);
    for (const verdict of VERDICTS) {
      const above = totals.map((total, piece) => below[piece] + total[verdict]);
      const x = (piece) => (piece * width) / pieces;
      const y = (count) => height - (count * height) / sorted.length;
      const up = above.map((count, piece) => `${x(piece).toFixed(1)},${y(count).toFixed(1)}`);
      const down = below.map((count, piece) => `${x(piece).toFixed(1)},${y(count).toFixed(1)}`).reverse();
      picture.append(svg("polygon", { points: [...up, ...down].join(" "), class: `area ${verdict}` }));
      below = above;
    }
    const half = Math.floor(sorted.length / 2);
    const middle = [height - (half * height) / sorted.length, (half * width) / sorted.length];
    picture.append(svg("path", { d: `M0 ${middle[0]} H${width} M${middle[1]} 0 V${height}`, class: "grid" }));
    const legend = VERDICTS.filter((verdict) => sums[verdict] > 0).map((verdict) => h("span", { class: `key ${verdict}` }, `${sums[verdict]} ${verdict}`));
    const ticks = (name, counts) => h("div", { class: name }, counts.map((count) => h("span", {}, String(count))));
    const day = (run) => run.started.replace("T", " ").replace(/(\.\d+)?Z$/, " UTC");
    const times = [...new Set([day(sorted[0]), day(sorted[sorted.length - 1])])].join(" to ");
    return h("figure", { class: "chart" },
      h("figcaption", {}, h("strong", {}, "Runs so far, by verdict "), legend),
      ticks("up", [sorted.length, half, 0]), picture, ticks("along", [0, half, sorted.length]),
      h("figcaption", { class: "below" }, `Number of runs started (${times})`));
  };

  const view = (choose) => {
    const runs = Coreach.ran;
    const found = buckets();
    const go = (each) => { if (each.walk !== undefined) choose(each); };
    const name = (row) => (row.walk ? h("span", { class: "link" }, row.name) : row.name);
    const verdicts = VERDICTS.filter((verdict) => runs.some((each) => each.verdict === verdict));
    return h("div", { class: "page" },
      found.length > 0 && h("p", { class: "hint" }, "Click a failure to see how its shortest run ended."),
      found.length > 0 && Coreach.table({ name: "what failed", rows: found, choose: (bucket) => go(bucket.shortest), columns: [
        { title: "verdict", of: (row) => row.verdict, show: (row) => mark(row.verdict) },
        { title: "got", of: (row) => row.end.got, show: (row) => h("code", { class: row.shortest.walk && "link" }, row.end.got), wide: true },
        { title: "expected", of: (row) => expectedText(row.end), show: (row) => h("code", {}, expectedText(row.end)), wide: true },
        { title: "in", of: (row) => row.place },
        { title: "implementations", of: (row) => [...row.iuts].join(", ") },
        { title: "runs", of: (row) => row.count },
        { title: "violated", of: (row) => (row.violated ?? []).map((set) => set.join(" and ")).join("; or ") || (row.action ? `${row.action} is not allowed there` : row.cause), wide: true },
        { title: "shortest run", of: (row) => row.shortest.name },
        { title: "bucket", of: (row) => row.id },
      ] }),
      runs.length > 0 && Coreach.table({ name: "test cases and implementations", rows: groups(), filter: false, columns: [
        { title: "test case", of: (row) => row.test },
        { title: "implementation", of: (row) => row.iut },
        { title: "runs", of: (row) => row.runs },
        ...verdicts.map((verdict) => ({ title: verdict, of: (row) => row.counts[verdict] ?? 0 })),
        { title: "events", of: (row) => row.events },
      ] }),
      overTime(),
      runs.length > 0 && Coreach.table({ name: "runs", rows: runs, choose: go, filter: true, columns: [
        { title: "run", of: (row) => row.name, show: name },
        { title: "verdict", of: (row) => row.verdict, show: (row) => mark(row.verdict) },
        { title: "test case", of: (row) => row.test },
        { title: "implementation", of: (row) => row.iut ?? "" },
        { title: "events", of: (row) => row.events },
        { title: "constants", of: (row) => named(row.constants) },
        { title: "seed", of: (row) => row.seed },
        { title: "seconds", of: (row) => row.seconds, show: (row) => row.seconds?.toFixed(4) ?? "" },
        { title: "reason", of: (row) => row.reason.summary, wide: true },
      ] }),
      Coreach.examples.length > 0 && h("div", {}, Coreach.table({ name: "computed examples", rows: Coreach.examples, choose: go, columns: [
        { title: "example", of: (row) => row.name, show: name },
        { title: "test case", of: (row) => row.test },
        { title: "events", of: (row) => row.events },
        { title: "constants", of: (row) => named(row.constants) },
      ] }), h("p", { class: "hint" }, "coreach computed these from the test case. No implementation has run them.")));
  };

  Coreach.runs = { pane, show, view, failures: () => Coreach.ran.filter(failed), next: () => go(at + 1), before: () => go(at - 1) };
}
