// Making elements. Text is always put in as text: what a user wrote is never read as HTML.
"use strict";

{
  // h("button", { class: "x", onclick }, "text", child)
  Coreach.h = (name, attributes, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes ?? {})) {
      if (value === undefined || value === null || value === false) continue;
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else if (value === true) element.setAttribute(key, "");
      else element.setAttribute(key, value);
    }
    for (const child of children.flat(Infinity)) {
      if (child !== undefined && child !== null && child !== false) element.append(child);
    }
    return element;
  };

  // Replaces what is in an element.
  Coreach.fill = (element, ...children) => {
    element.replaceChildren(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false && child !== ""));
  };

  // Tabs: a list of { name, title }, which one is chosen, and what to do when another one is.
  Coreach.tabs = (container, tabs, chosen, choose) => {
    const buttons = tabs.map((tab) =>
      Coreach.h("button", {
        role: "tab", type: "button", "data-tab": tab.name, "aria-selected": String(tab.name === chosen), title: tab.title,
        tabindex: tab.name === chosen ? "0" : "-1",
        onclick: () => { mark(tab.name); choose(tab.name); },
      }, tab.text ?? tab.name));
    const mark = (name) => {
      for (const button of buttons) {
        const is = button.dataset.tab === name;
        button.setAttribute("aria-selected", String(is));
        button.tabIndex = is ? 0 : -1;
        if (is) button.scrollIntoView({ block: "nearest", inline: "nearest" });
      }
    };
    container.replaceChildren(...buttons);
    mark(chosen);
    container.onkeydown = (event) => {
      const at = buttons.indexOf(document.activeElement);
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (at < 0 || step === undefined) return;
      const next = buttons[(at + step + buttons.length) % buttons.length];
      next.focus();
      next.click();
      event.preventDefault();
      event.stopPropagation();
    };
    return mark;
  };
}
