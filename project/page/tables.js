// Tables that are sorted by a click on a head, and filtered by a word. Long ones are shown piece by piece.
"use strict";

{
  const { h } = Coreach;
  const PIECE = 200;

  // columns: { title, of(row) -> text or number, show(row) -> element (optional), wide }; choose(row) when a row is clicked.
  Coreach.table = ({ name, columns, rows, choose, filter = rows.length > 12, sort }) => {
    let shown = rows;
    let by = sort;
    let most = PIECE;
    const body = h("tbody");
    const count = h("span", { class: "count", role: "status" });
    const more = h("button", { type: "button", onclick: () => { most += 5 * PIECE; fill(); } }, "show more");
    const heads = columns.map((column, at) =>
      h("th", { scope: "col", class: column.wide ? "wide" : undefined },
        h("button", { type: "button", onclick: () => { by = { at, down: by?.at === at && !by.down }; order(); } }, column.title)));
    const input = h("input", {
      type: "search", placeholder: "filter", "aria-label": `Filter ${name}`,
      oninput: () => {
        const word = input.value.toLowerCase();
        shown = rows.filter((row) => columns.some((column) => String(column.of(row) ?? "").toLowerCase().includes(word)));
        order();
      },
    });

    const compare = (a, b) => {
      if (typeof a === "number" && typeof b === "number") return a - b;
      return String(a ?? "").localeCompare(String(b ?? ""), "en", { numeric: true });
    };
    const order = () => {
      if (by !== undefined) {
        const { of } = columns[by.at];
        shown = [...shown].sort((a, b) => (by.down ? compare(of(b), of(a)) : compare(of(a), of(b))));
      }
      heads.forEach((head, at) => head.setAttribute("aria-sort", by?.at !== at ? "none" : by.down ? "descending" : "ascending"));
      fill();
    };
    const fill = () => {
      body.replaceChildren(...shown.slice(0, most).map((row) => {
        const cells = columns.map((column) => {
          const value = column.of(row);
          return h("td", { class: typeof value === "number" ? "number" : undefined }, column.show ? column.show(row) : value === undefined ? "" : String(value));
        });
        const go = choose && (() => choose(row));
        return h("tr", {
          class: choose && "choice", tabindex: choose && "0", onclick: go,
          onkeydown: go && ((event) => { if (event.key === "Enter") go(); }),
        }, cells);
      }));
      count.textContent = shown.length === rows.length ? `${rows.length}` : `${shown.length} of ${rows.length}`;
      more.hidden = shown.length <= most;
    };
    order();
    return h("section", { class: "table", "data-table": name },
      h("div", { class: "bar" }, h("h3", {}, name), count, filter && input),
      h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, heads)), body)),
      more);
  };
}
