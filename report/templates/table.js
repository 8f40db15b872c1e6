"use strict";
/* Tables of the class `sortable`: each heading becomes a button that sorts; `data-filter` adds a labelled filter, and
   to it a choice of what occurs in each column whose heading has `data-choose`, made by an address such as ?Holds=yes.
   Rows of a box of the class `held` wait in a template until it is opened, printed or one of them is the anchor.
   A small curve is a button that shows it large. An anchor that is not on the page is followed to where the first link with it leads. */
(function () {
  const order = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

  function key(cell) {
    const text = (cell.dataset.sort || cell.textContent).trim();
    const plain = text.replace(/[\u202f\s]/g, "").replace("\u2212", "-").replace("\u221e", "Infinity");
    const number = parseFloat(plain);
    return { text, number: /^[-\[]?(\d|\.\d|Infinity)/.test(plain) ? parseFloat(plain.replace("[", "")) : number };
  }

  function compare(a, b) {
    if (!a.text !== !b.text) return a.text ? -1 : 1;
    const numbers = !Number.isNaN(a.number) && !Number.isNaN(b.number);
    return numbers && a.number !== b.number ? a.number - b.number : order.compare(a.text, b.text);
  }

  function sort(table, heading, column) {
    const down = heading.getAttribute("aria-sort") === "ascending";
    for (const other of heading.parentNode.children) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row) => ({ row, key: key(row.cells[column]) }));
    rows.sort((a, b) => (!a.key.text || !b.key.text || !down ? compare(a.key, b.key) : compare(b.key, a.key)));
    body.append(...rows.map((entry) => entry.row));
  }

  function said(cell) {
    return cell.dataset.choice || cell.textContent.trim();
  }

  function addChoice(bar, before, name, rows, column) {
    const label = document.createElement("label");
    const select = document.createElement("select");
    const found = new Map();
    for (const row of rows) found.set(said(row.cells[column]), (found.get(said(row.cells[column])) || 0) + 1);
    select.append(new Option("all", ""));
    for (const value of Array.from(found.keys()).filter(Boolean).sort(order.compare)) {
      select.append(new Option(value + " (" + found.get(value) + ")", value));
    }
    label.append(name + " ", select);
    bar.insertBefore(label, before);
    return select;
  }

  function addFilter(table) {
    const label = document.createElement("label");
    const input = document.createElement("input");
    const count = document.createElement("output");
    input.type = "search";
    count.setAttribute("aria-live", "polite");
    label.append(table.dataset.filter + " ", input);
    const bar = document.createElement("div");
    bar.className = "filter";
    bar.append(label, count);
    (table.closest(".scroll") || table).before(bar);
    const rows = Array.from(table.tBodies[0].rows);
    const asked = new URLSearchParams(location.search);
    const choices = Array.from(table.tHead.rows[0].cells).flatMap((heading, column) => {
      if (heading.dataset.choose === undefined) return [];
      const name = heading.dataset.choose || heading.textContent.trim();
      const select = addChoice(bar, count, name, rows, column);
      if (Array.from(select.options).some((option) => option.value === asked.get(name))) select.value = asked.get(name);
      select.addEventListener("change", () => show());
      return [{ select, column }];
    });
    const show = () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        const chosen = choices.every(({ select, column }) => !select.value || select.value === said(row.cells[column]));
        row.hidden = !chosen || !words.every((word) => text.includes(word));
        shown += row.hidden ? 0 : 1;
      }
      count.textContent = shown + " of " + rows.length;
    };
    input.addEventListener("input", show);
    show();
  }

  function prepare(table) {
    Array.from(table.tHead.rows[0].cells).forEach((heading, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      heading.append(button);
      button.addEventListener("click", () => sort(table, heading, column));
    });
    if (table.dataset.filter) addFilter(table);
  }

  function fill(box) {
    const held = box.querySelector("template");
    if (!held) return;
    held.replaceWith(held.content);
    prepare(box.querySelector("table"));
  }

  const boxes = Array.from(document.querySelectorAll("details.held"));
  for (const table of document.querySelectorAll("table.sortable")) if (!table.closest(".held")) prepare(table);
  for (const box of boxes) box.addEventListener("toggle", () => fill(box));

  document.addEventListener("click", (event) => {
    const curve = event.target.closest("button.curve");
    if (curve) curve.setAttribute("aria-expanded", curve.getAttribute("aria-expanded") !== "true");
  });

  function open() {
    const name = decodeURIComponent(location.hash.slice(1));
    for (const box of boxes) {
      const held = box.querySelector("template");
      if (name !== box.parentElement.id && !(name && held && held.content.getElementById(name))) continue;
      fill(box);
      box.open = true;
    }
    const target = name && document.getElementById(name);
    const moved = location.hash && !target && document.querySelector(`a[href$="${CSS.escape(location.hash)}"]`);
    if (moved) location.replace(moved.href);
    for (let box = target && target.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
    if (target) target.scrollIntoView();
  }
  window.addEventListener("hashchange", open);
  open();
  window.addEventListener("beforeprint", () => {
    boxes.forEach(fill);
    document.querySelectorAll("details").forEach((box) => (box.open = true));
    document.querySelectorAll("img").forEach((image) => (image.loading = "eager"));
  });
})();
