// The user's files, with lines that belong to what is chosen, and what coverage says of each line.
"use strict";

{
  const { h } = Coreach;
  const pane = h("section", { class: "source", "aria-label": "Source" });
  const bar = h("div", { class: "tabs", role: "tablist" });
  const text = h("div", { class: "lines", tabindex: "0" });
  pane.append(bar, text);
  let file;
  let lines = [];
  let mark = () => {};

  // For a file's name: line -> status.
  const covered = new Map();
  const RANK = ["gap", "possible", "rejected", "unreachable", "covered"];
  for (const specification of Coreach.data.coverage?.specifications ?? []) {
    for (const model of [specification, ...specification.purposes]) {
      const own = covered.get(model.file) ?? new Map();
      for (const item of [...model.locations, ...model.transitions]) {
        const known = own.get(item.line);
        // A line says the worst of what stands in it.
        if (known === undefined || RANK.indexOf(item.status) < RANK.indexOf(known)) own.set(item.line, item.status);
      }
      covered.set(model.file, own);
    }
  }

  const show = (number) => {
    if (number === file || Coreach.data.files[number] === undefined) return;
    file = number;
    mark(String(number));
    const { name, text: whole } = Coreach.data.files[number];
    const own = covered.get(name);
    lines = whole.replace(/\n$/, "").split("\n").map((line, at) =>
      h("div", { class: `line ${own?.get(at + 1) ?? ""}`, "data-line": String(at + 1) }, line === "" ? "\u200b" : line));
    text.replaceChildren(...lines);
  };

  // origins: { file, line, last }, several of them; the first is brought into view.
  const highlight = (origins) => {
    for (const line of lines) line.classList.remove("chosen");
    if (origins.length === 0) return;
    show(origins[0].file);
    for (const origin of origins.filter((known) => known.file === file)) {
      for (let line = origin.line; line <= origin.last; line += 1) lines[line - 1]?.classList.add("chosen");
    }
    const first = lines[origins[0].line - 1];
    if (first) text.scrollTop = first.offsetTop - text.clientHeight / 3;
  };

  const short = (name) => name.split("/").pop();
  mark = Coreach.tabs(bar, Coreach.data.files.map((known, at) => ({ name: String(at), text: short(known.name), title: known.name })), "0", (name) => show(Number(name)));
  if (Coreach.data.files.length > 0) show(0);
  Coreach.source = { pane, highlight, covered, show };
}
