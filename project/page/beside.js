// Two graphs beside each other: of one stage of a purpose, made with two domains. What one keeps and the other one prunes is coloured.
"use strict";

{
  const { h } = Coreach;

  // What is the same in two graphs: locations by their names; transitions by ends, action and guard, and where only the guard is another one, by
  // what is left. `locations` and `transitions` lead from the first graph to the second one; `otherwise` are transitions of the first one whose guard differs.
  const match = (a, b) => {
    const byName = (graph) => new Map(graph.locations.map((location, number) => [location.name, number]));
    const [mine, theirs] = [byName(a), byName(b)];
    const locations = new Map([...mine].filter(([name]) => theirs.has(name)).map(([name, number]) => [number, theirs.get(name)]));
    const ends = (graph, { source, target, action }) => JSON.stringify([graph.locations[source].name, graph.actions[action].name, graph.locations[target].name]);
    const guarded = (graph, transition) => `${ends(graph, transition)} ${Coreach.text(transition.guard)}`;
    const transitions = new Map();
    const taken = new Set();
    const otherwise = new Set();
    for (const key of [guarded, ends]) {
      const open = new Map();
      b.transitions.forEach((transition, number) => {
        if (taken.has(number)) return;
        const name = key(b, transition);
        if (!open.has(name)) open.set(name, []);
        open.get(name).push(number);
      });
      a.transitions.forEach((transition, number) => {
        if (transitions.has(number)) return;
        const partner = open.get(key(a, transition))?.shift();
        if (partner === undefined) return;
        transitions.set(number, partner);
        taken.add(partner);
        if (key === ends) otherwise.add(number);
      });
    }
    return { locations, transitions, otherwise };
  };

  const turned = (map) => new Map([...map].map(([from, to]) => [to, from]));
  const facts = ["reach", "coreach"];

  // What one side has that the other one has not, and what it has otherwise: guards, and facts of locations.
  const differences = (graph, other, locations, transitions, otherwise) => {
    const fact = (of, location, name) => (of.locations[location][name] === undefined ? undefined : Coreach.text(of.locations[location][name]));
    const isOther = (number) => locations.has(number) && facts.some((name) => fact(graph, number, name) !== fact(other, locations.get(number), name));
    return {
      only: [
        ...graph.locations.map((_, location) => ({ location })).filter(({ location }) => !locations.has(location)),
        ...graph.transitions.map((_, transition) => ({ transition })).filter(({ transition }) => !transitions.has(transition)),
      ],
      otherwise: [
        ...graph.locations.map((_, location) => ({ location })).filter(({ location }) => isOther(location)),
        ...otherwise.map((transition) => ({ transition })),
      ],
    };
  };

  const STAGES = ["test_graph", "test_case"];
  const candidates = Coreach.data.graphs.map((graph, number) => ({ graph, number })).filter(({ graph }) => graph.domain !== undefined && STAGES.includes(graph.stage));
  const subjects = [...new Set(candidates.map(({ graph }) => `${graph.purpose} ${graph.stage}`))]
    .map((name) => ({ name, of: candidates.filter(({ graph }) => `${graph.purpose} ${graph.stage}` === name) }))
    .filter(({ of }) => of.length > 1);

  let subject = subjects[0];
  let following = true;
  let matched;
  const numbers = [0, 1];
  const said = h("div", { class: "beside-said", role: "status" });
  const title = (at) => h("select", { "aria-label": at === 0 ? "The domain on the left" : "The domain on the right", onchange: (event) => { numbers[at] = Number(event.target.value); show(); } });
  const titles = [title(0), title(1)];
  const counts = [h("output"), h("output")];
  const sides = [0, 1].map((at) => Coreach.newGraph(at === 0 ? "left" : "right", (what) => choose(at, what)));
  const graph = (at) => subject.of[numbers[at]].graph;

  // Chosen on one side is chosen on the other one, where it is there.
  const partner = (at, what) => {
    const { locations, transitions } = matched[at];
    if (what.location !== undefined) return locations.has(what.location) ? { location: locations.get(what.location) } : undefined;
    if (what.transition !== undefined) return transitions.has(what.transition) ? { transition: transitions.get(what.transition) } : undefined;
    return undefined;
  };
  const choose = (at, tapped) => {
    // What stands for several transitions is chosen as the first of them.
    const many = graph(at).asides[tapped.aside] ?? graph(at).arrows[tapped.arrow];
    const what = many === undefined ? tapped : { transition: many.transitions[0] };
    const other = partner(at, what);
    sides[at].select(what);
    sides[1 - at].select(other ?? {});
    sides[at].bring(sides[at].elementOf(what));
    if (other !== undefined) sides[1 - at].bring(sides[1 - at].elementOf(other));
    tell(at === 0 ? [what, other] : [other, what]);
  };

  const tell = (chosen) => {
    const [what] = chosen.filter((each) => each !== undefined);
    if (what === undefined || (what.location ?? what.transition) === undefined) return Coreach.fill(said);
    const line = (name, of) => h("tr", {}, h("th", { scope: "row" }, name), chosen.map((each, at) => h("td", {}, each === undefined ? "not there" : h("code", {}, of(graph(at), each)))));
    const first = graph(chosen.indexOf(what));
    const rows = what.location !== undefined
      ? facts.map((name) => line(name, (of, { location }) => Coreach.text(of.locations[location][name])))
      : [line("guard", (of, { transition }) => Coreach.text(of.transitions[transition].guard))];
    const name = what.location !== undefined ? first.locations[what.location].label : Coreach.describe(first, first.transitions[what.transition]);
    Coreach.fill(said, h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, name), [0, 1].map((at) => h("th", {}, graph(at).domain)))), h("tbody", {}, rows)));
  };

  // The other side shows the same: the location that both have and that is nearest to the middle lies at the same place.
  let moving = false;
  const follow = (at) => {
    const [from, to] = [sides[at].cy, sides[1 - at].cy];
    if (!following || moving || from === undefined || to === undefined) return;
    const middle = { x: sides[at].canvas.clientWidth / 2, y: sides[at].canvas.clientHeight / 2 };
    let nearest;
    for (const [mine, theirs] of matched[at].locations) {
      const [here, there] = [sides[at].elementOf({ location: mine }), sides[1 - at].elementOf({ location: theirs })];
      if (here.empty() || there.empty()) continue;
      const { x, y } = here.renderedPosition();
      const far = (x - middle.x) ** 2 + (y - middle.y) ** 2;
      if (nearest === undefined || far < nearest.far) nearest = { far, x, y, there };
    }
    if (nearest === undefined) return;
    moving = true;
    const zoom = from.zoom();
    const { x, y } = nearest.there.position();
    to.viewport({ zoom, pan: { x: nearest.x - x * zoom, y: nearest.y - y * zoom } });
    moving = false;
  };

  const show = () => {
    titles.forEach((select, at) => {
      Coreach.fill(select, subject.of.map(({ graph: each }, number) => h("option", { value: String(number), selected: number === numbers[at] }, each.domain)));
      sides[at].show(graph(at));
    });
    const there = match(graph(0), graph(1));
    const [locations, transitions] = [turned(there.locations), turned(there.transitions)];
    matched = [there, { locations, transitions }];
    const found = [
      differences(graph(0), graph(1), there.locations, there.transitions, [...there.otherwise]),
      differences(graph(1), graph(0), locations, transitions, [...there.otherwise].map((number) => there.transitions.get(number))),
    ];
    found.forEach((each, at) => {
      sides[at].differs(each);
      counts[at].value = `${graph(at).locations.length} locations, ${graph(at).transitions.length} transitions; ${each.only.length} only here, ${each.otherwise.length} otherwise`;
      sides[at].cy?.on("viewport", () => follow(at));
    });
    tell([]);
    follow(0);
  };

  // Opens with what is to be compared, and a transition of it.
  const open = (first, second, transition) => {
    subject = subjects.find(({ of }) => of.some(({ number }) => number === first));
    const place = (number) => subject.of.findIndex((each) => each.number === number);
    [numbers[0], numbers[1]] = [place(first), place(second)];
    for (const option of what.options) option.selected = option.value === subject.name;
    show();
    if (transition !== undefined) choose(0, { transition });
  };

  const what = h("select", { "aria-label": "Purpose and stage", onchange: (event) => { subject = subjects.find(({ name }) => name === event.target.value); [numbers[0], numbers[1]] = [0, 1]; show(); } },
    subjects.map(({ name, of: [{ graph: first }] }) => h("option", { value: name }, `${first.purpose}: ${Coreach.stageName(first)}`)));
  const together = h("label", {}, h("input", { type: "checkbox", checked: true, "data-toggle": "together", onchange: (event) => { following = event.target.checked; follow(0); } }), " move together");
  const pane = h("div", { class: "beside" },
    h("div", { class: "toolbar" }, what, together, h("span", { class: "key only" }, "only here"), h("span", { class: "key otherwise" }, "other guard or facts")),
    h("div", { class: "beside-graphs" }, [0, 1].map((at) => h("section", {}, h("div", { class: "bar" }, titles[at], counts[at]), h("div", { class: "left" }, sides[at].canvas, sides[at].empty, sides[at].hover)))),
    said);

  // The view needs its place in the window before it draws.
  Coreach.beside = {
    possible: subjects.length > 0, pane, open, sides,
    entered: () => { if (sides[0].current() === undefined) show(); else sides.forEach((side) => side.resize()); },
    refresh: () => sides.forEach((side) => side.refresh()),
    resize: () => sides.forEach((side) => side.resize()),
  };
}
