// A canvas with a graph: drawn by cytoscape.js at the places that the document says. Choosing, searching, hiding, neighbourhoods, colours.
"use strict";

// A canvas of this name; `choose` is told what is tapped.
Coreach.newGraph = (name, choose) => {
  const { h } = Coreach;
  const canvas = h("div", { class: "canvas", id: name, role: "img", "aria-label": "Graph; the tables and the details say the same as text", tabindex: "0" });
  const empty = h("p", { class: "empty", hidden: true });
  const hover = h("pre", { class: "hover", hidden: true, role: "tooltip" });
  const status = h("output", { class: "status" });
  let cy;
  let graph;
  const hidden = { fail: false, inconclusive: false };
  let colours = false;

  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // Colours are read anew when light becomes dark.
  const style = () => [
    { selector: "node", style: {
      shape: "round-rectangle", width: "data(width)", height: "data(height)", label: "data(label)", "font-size": 11, "text-wrap": "wrap", "line-height": 1.3,
      "text-margin-y": "data(shift)", "text-valign": "center", "text-halign": "center", "font-family": "Helvetica, Arial, sans-serif", color: css("--ink"),
      "background-color": css("--box"), "border-width": 1, "border-color": css("--line"), "corner-radius": 6, "min-zoomed-font-size": 5,
    } },
    { selector: "node.initial", style: { "border-width": 3, "border-style": "double" } },
    { selector: "node.accept, node.Pass, node.WeakPass", style: { "background-color": css("--pass"), "border-color": css("--pass-line"), color: css("--mark-ink") } },
    { selector: "node.Inconclusive", style: { "background-color": css("--inconclusive"), "border-color": css("--inconclusive-line"), color: css("--mark-ink") } },
    { selector: "node.reject, node.Fail", style: { "background-color": css("--fail"), "border-color": css("--fail-line"), color: css("--mark-ink") } },
    { selector: "node.aside", style: { "border-style": "dashed", "text-justification": "left", "font-size": 10 } },
    { selector: "node.loop", style: { "border-width": 0, "background-opacity": 0 } },
    { selector: "edge", style: {
      width: 1.2, "line-color": css("--line"), "target-arrow-color": css("--line"), "target-arrow-shape": "triangle", "arrow-scale": 0.8,
      "curve-style": "straight", label: "data(label)", "font-size": 10, "text-wrap": "wrap", "line-height": 1.25, "font-family": "Helvetica, Arial, sans-serif", color: css("--ink"),
      "text-background-color": css("--paper"), "text-background-opacity": 1, "text-background-padding": 1, "min-zoomed-font-size": 5,
    } },
    { selector: "edge[weights]", style: {
      "curve-style": "round-segments", "segment-weights": "data(weights)", "segment-distances": "data(distances)", "segment-radii": 12,
      "edge-distances": "endpoints", "source-endpoint": "data(leaves)", "target-endpoint": "data(enters)",
    } },
    { selector: "edge.aside", style: { "line-style": "dashed", width: 1 } },
    { selector: ".covered", style: { "background-color": css("--covered"), "line-color": css("--covered-line"), "target-arrow-color": css("--covered-line") } },
    { selector: ".possible", style: { "background-color": css("--possible"), "line-color": css("--possible-line"), "target-arrow-color": css("--possible-line") } },
    { selector: ".gap", style: { "background-color": css("--gap"), "line-color": css("--gap-line"), "target-arrow-color": css("--gap-line"), width: 2.5 } },
    { selector: "node.gap, node.covered, node.possible", style: { width: "data(width)" } },
    { selector: ".unreachable, .rejected", style: { opacity: 0.45 } },
    { selector: "edge.only", style: { width: 3, "line-color": css("--walked"), "target-arrow-color": css("--walked") } },
    { selector: "node.only", style: { "border-width": 3, "border-color": css("--walked") } },
    { selector: "edge.otherwise", style: { width: 2, "line-color": css("--possible-line"), "target-arrow-color": css("--possible-line") } },
    { selector: "node.otherwise", style: { "border-width": 2, "border-color": css("--possible-line") } },
    { selector: ".walked", style: { "line-color": css("--walked"), "target-arrow-color": css("--walked"), "border-color": css("--walked"), "z-index": 5 } },
    { selector: "edge.walked", style: { width: 3 } },
    { selector: "node.walked", style: { "border-width": 2 } },
    { selector: ".found", style: { "border-color": css("--accent"), "border-width": 3, "line-color": css("--accent"), "target-arrow-color": css("--accent") } },
    { selector: "node.here", style: { "border-color": css("--here"), "border-width": 4 } },
    { selector: "edge.here", style: { "line-color": css("--here"), "target-arrow-color": css("--here"), width: 4 } },
    { selector: "node:selected", style: { "border-color": css("--accent"), "border-width": 3 } },
    { selector: "edge:selected", style: { "line-color": css("--accent"), "target-arrow-color": css("--accent"), width: 3 } },
    { selector: ".away", style: { display: "none" } },
  ];

  // An arrow's points as cytoscape wants them: relative to the straight line from its first point to its last one.
  const bends = ({ points, label: at }) => {
    const [from, to] = [points[0], points[points.length - 1]];
    const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
    const square = dx * dx + dy * dy || 1;
    const length = Math.sqrt(square);
    // The label stands at the middle one of the points, so there are as many before its own as behind it.
    let inner = points.slice(1, -1);
    const label = at - 1;
    const [before, behind] = [label, inner.length - 1 - label];
    const between = (a, b, count) => Array.from({ length: count }, (_, at) => [a[0] + ((b[0] - a[0]) * (at + 1)) / (count + 1), a[1] + ((b[1] - a[1]) * (at + 1)) / (count + 1)]);
    if (inner.length > 0 && before < behind) inner = [...between(from, inner[0], behind - before), ...inner];
    if (inner.length > 0 && behind < before) inner = [...inner, ...between(inner[inner.length - 1], to, before - behind)];
    const weights = inner.map(([x, y]) => ((x - from[0]) * dx + (y - from[1]) * dy) / square);
    const distances = inner.map(([x, y]) => ((x - from[0]) * -dy + (y - from[1]) * dx) / length);
    return { weights, distances };
  };

  const elements = () => {
    const found = [];
    // Loops are listed in their location, below its name.
    const loops = new Map(graph.asides.filter(({ kind }) => kind === "loop").map((aside) => [aside.location, aside]));
    graph.locations.forEach((location, number) => {
      if (location.at === undefined) return;
      const shift = -(loops.get(number)?.size[1] ?? 0) / 2;
      found.push({
        group: "nodes", position: { x: location.at[0], y: location.at[1] },
        data: { id: `l${number}`, location: number, label: location.label, width: location.size[0], height: location.size[1], shift },
        classes: [location.mark, number === graph.initial && "initial"].filter(Boolean),
      });
    });
    graph.arrows.forEach((arrow, number) => {
      const { source, target } = graph.transitions[arrow.transitions[0]];
      const [from, to] = [graph.locations[source].at, graph.locations[target].at];
      const points = arrow.points;
      const last = points[points.length - 1];
      const data = {
        id: `e${number}`, arrow: number, source: `l${source}`, target: `l${target}`, label: arrow.lines.join("\n"),
        leaves: `${points[0][0] - from[0]}px ${points[0][1] - from[1]}px`, enters: `${last[0] - to[0]}px ${last[1] - to[1]}px`,
      };
      const { weights, distances } = bends(arrow);
      if (weights.length > 0) Object.assign(data, { weights, distances });
      found.push({ group: "edges", data });
    });
    graph.asides.forEach((aside, number) => {
      const mark = graph.locations[aside.target].mark;
      const classes = ["aside", aside.kind, aside.kind === "verdict" && mark].filter(Boolean);
      const label = (aside.kind === "far" ? "\u2192 " : "") + aside.lines.join("\n");
      found.push({
        group: "nodes", position: { x: aside.at[0], y: aside.at[1] }, classes,
        data: { id: `a${number}`, aside: number, label, width: aside.size[0], height: aside.size[1], shift: 0 },
      });
      if (aside.kind === "loop") return;
      found.push({ group: "edges", classes, data: { id: `b${number}`, aside: number, source: `l${aside.location}`, target: `a${number}`, label: "" } });
    });
    return found;
  };

  // The whole text of what the mouse rests on.
  const MOST = 1200;
  const tell = ({ target, originalEvent }) => {
    const { location, arrow, aside } = target.data();
    const numbers = arrow !== undefined ? graph.arrows[arrow].transitions : graph.asides[aside]?.transitions;
    const one = (number) => [Coreach.describe(graph, graph.transitions[number]), ...Coreach.linesOf(graph, graph.transitions[number]).slice(1)].join("\n  ");
    const text = numbers?.map(one).join("\n") ?? [graph.locations[location].label, graph.locations[location].description].filter(Boolean).join("\n");
    hover.textContent = text.length > MOST ? `${text.slice(0, MOST)} ... (click for the rest)` : text;
    hover.hidden = false;
    const { clientX: x, clientY: y } = originalEvent;
    hover.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - hover.offsetWidth - 8))}px`;
    hover.style.top = `${y + 18 + hover.offsetHeight > innerHeight ? Math.max(4, y - hover.offsetHeight - 10) : y + 18}px`;
  };

  const show = (next) => {
    graph = next;
    cy?.destroy();
    cy = undefined;
    empty.hidden = graph.size !== undefined;
    canvas.hidden = graph.size === undefined;
    empty.textContent = "This graph is too large to be drawn. Its locations and transitions are in the tables.";
    if (graph.size === undefined) return;
    const large = graph.locations.length > 400;
    cy = cytoscape({
      container: canvas, elements: elements(), style: style(), layout: { name: "preset", fit: false },
      minZoom: 0.005, maxZoom: 4, autoungrabify: true, boxSelectionEnabled: false,
      textureOnViewport: large, hideEdgesOnViewport: false, pixelRatio: large ? 1 : "auto",
    });
    cy.on("tap", (event) => {
      const { location, arrow, aside } = event.target === cy ? {} : event.target.data();
      const [first, ...others] = graph.arrows[arrow]?.transitions ?? [];
      choose(others.length > 0 ? { arrow } : { location, transition: first, aside });
    });
    cy.on("mouseover", "node, edge", tell);
    cy.on("mouseout viewport", () => { hover.hidden = true; });
    hide();
    paint();
    overview();
    self.cy = cy;
  };

  // All of a small graph. Of a large one the beginning, at a size that can be read.
  const overview = () => {
    if (cy === undefined) return;
    cy.fit(undefined, 20);
    if (cy.zoom() > 1.4) { cy.zoom(1.4); cy.center(); }
    if (cy.zoom() < 0.6) {
      const first = cy.nodes().filter((node) => nearTo(graph.initial, 2, Coreach.outgoing).has(node.data("location")));
      cy.fit(first, 20);
      cy.zoom(Math.max(0.5, Math.min(0.8, cy.zoom())));
      cy.center(first);
      cy.panBy({ x: 0, y: 60 - first.renderedBoundingBox().y1 });
    }
  };

  const fit = () => cy?.fit(cy.elements(":visible"), 20);

  const hide = () => {
    cy?.batch(() => {
      cy.nodes(".aside.Fail").toggleClass("away", hidden.fail);
      cy.nodes(".aside.Inconclusive").toggleClass("away", hidden.inconclusive);
    });
  };

  // What coverage says: of the specification's own locations, and of every transition by the lines that it was written in.
  const STATUS = ["covered", "possible", "gap", "unreachable", "rejected"];
  const paint = () => {
    if (cy === undefined) return;
    cy.batch(() => {
      cy.elements().removeClass(STATUS.join(" "));
      if (!colours) return;
      for (const specification of Coreach.data.coverage?.specifications ?? []) {
        for (const model of [specification, ...specification.purposes]) {
          const lines = new Map(model.transitions.map((each) => [`${each.line}`, each.status]));
          const places = new Map(model.locations.map((each) => [each.name, each.status]));
          graph.transitions.forEach((transition, number) => {
            const origin = transition.origin;
            if (origin === undefined || Coreach.data.files[origin.file].name !== model.file) return;
            const own = model.transitions.find((each) => each.line === origin.line && each.name === Coreach.describe(graph, transition));
            const status = own?.status ?? lines.get(`${origin.line}`);
            elementOf({ transition: number }).addClass(status ?? "");
          });
          if (graph.stage === "specification" && graph.name === model.name) {
            graph.locations.forEach((location, number) => cy.getElementById(`l${number}`).addClass(places.get(location.name) ?? ""));
          }
        }
      }
    });
  };

  // Where a location or a transition is drawn: one arrow stands for all between its ends, loops stand in their location, a
  // verdict's transitions beside it.
  const places = new WeakMap();
  const placeOf = (number) => {
    if (!places.has(graph)) {
      const found = [];
      graph.arrows.forEach(({ transitions }, at) => { for (const each of transitions) found[each] = `e${at}`; });
      graph.asides.forEach(({ transitions }, at) => { for (const each of transitions) found[each] = `a${at}`; });
      places.set(graph, found);
    }
    return places.get(graph)[number] ?? "";
  };
  const elementOf = ({ location, transition, aside, arrow }) => {
    if (cy === undefined) return undefined;
    if (location !== undefined) return cy.getElementById(`l${location}`);
    if (arrow !== undefined) return cy.getElementById(`e${arrow}`);
    if (aside !== undefined) return cy.getElementById(`a${aside}`);
    return transition === undefined ? cy.collection() : cy.getElementById(placeOf(transition));
  };

  const select = (what) => {
    if (cy === undefined) return;
    cy.elements(":selected").unselect();
    elementOf(what).select();
  };

  const bring = (element) => {
    if (!element || element.empty()) return;
    const box = element.renderedBoundingBox();
    const inside = box.x1 > 0 && box.y1 > 0 && box.x2 < canvas.clientWidth && box.y2 < canvas.clientHeight;
    if (cy.zoom() < 0.5) cy.zoom(1);
    if (!inside || cy.zoom() < 0.5) cy.center(element);
  };

  // Elements whose label, guard or assignment has the word.
  const search = (word) => {
    const wanted = word.trim().toLowerCase();
    const has = (text) => text !== undefined && text.toLowerCase().includes(wanted);
    if (cy === undefined) return 0;
    cy.elements(".found").removeClass("found");
    if (wanted === "") { status.value = ""; return 0; }
    let found = cy.collection();
    graph.locations.forEach((location, number) => {
      if (has(location.label) || has(location.name) || has(location.description)) found = found.union(elementOf({ location: number }));
    });
    graph.transitions.forEach((transition, number) => {
      if (Coreach.linesOf(graph, transition).some(has)) found = found.union(elementOf({ transition: number }));
    });
    found.addClass("found");
    status.value = found.empty() ? "nothing found" : `${found.length} found`;
    return found.length;
  };
  let at = 0;
  const next = (back) => {
    const found = cy?.elements(".found") ?? [];
    if (found.length === 0) return;
    at = (at + (back ? found.length - 1 : 1)) % found.length;
    bring(found[at]);
    found[at].emit("tap");
  };

  // Only what is at most so many steps from the location, in either direction; everything where there is no location.
  const nearTo = (location, steps, ...ways) => {
    const near = new Set([location]);
    let front = [location];
    for (let step = 0; step < steps; step += 1) {
      const ends = (each) => ways.flatMap((way) => way(graph, each)).flatMap((number) => [graph.transitions[number].source, graph.transitions[number].target]);
      front = [...new Set(front.flatMap(ends))].filter((each) => graph.locations[each].at !== undefined && !near.has(each));
      front.forEach((each) => near.add(each));
    }
    return near;
  };
  const neighbourhood = (location, steps) => {
    if (cy === undefined) return;
    cy.elements().removeClass("away");
    hide();
    if (location === undefined) return;
    const near = nearTo(location, steps, Coreach.outgoing, Coreach.incoming);
    cy.batch(() => {
      cy.nodes().forEach((node) => {
        const { location: own, aside } = node.data();
        if (!near.has(own ?? graph.asides[aside].location)) node.addClass("away");
      });
    });
    fit();
  };

  // A run: what it took, and where it is now.
  const walk = (transitions, location, transition) => {
    if (cy === undefined) return;
    cy.batch(() => {
      cy.elements(".walked, .here").removeClass("walked here");
      for (const number of transitions) elementOf({ transition: number }).addClass("walked");
      if (location !== undefined) elementOf({ location }).addClass("here");
      if (transition !== undefined) elementOf({ transition }).addClass("here");
    });
    const place = location !== undefined ? elementOf({ location }) : undefined;
    bring(place?.nonempty() ? place : transition !== undefined ? elementOf({ transition }) : undefined);
  };

  // What another graph has not, and what it has otherwise.
  const differs = ({ only, otherwise }) => {
    cy?.batch(() => {
      cy.elements().removeClass("only otherwise");
      for (const what of only) elementOf(what)?.addClass("only");
      for (const what of otherwise) elementOf(what)?.addClass("otherwise");
    });
  };

  const self = {
    canvas, empty, hover, status, show, fit, overview, select, search, next, neighbourhood, walk, differs, bring, elementOf, hidden, hide,
    refresh: () => cy?.style(style()),
    resize: () => cy?.resize(),
    colour: (on) => { colours = on; paint(); },
    zoom: (factor) => cy?.zoom({ level: cy.zoom() * factor, renderedPosition: { x: canvas.clientWidth / 2, y: canvas.clientHeight / 2 } }),
    pan: (x, y) => cy?.panBy({ x, y }),
    current: () => graph,
  };
  return self;
};

// The one of the view of graphs.
Coreach.graph = Coreach.newGraph("canvas", (what) => Coreach.choose(what));
