// Keyboard shortcuts, sorting of tables, the filter of the task index, and the part of a page that refreshes itself.
// Every page works without this script.
const byId = (id) => document.getElementById(id);
const press = (id) => byId(id)?.click();

// --- lists: j and k move between the elements of class "entry" ---
function step(by) {
  const all = [...document.querySelectorAll(".entry")].filter((entry) => entry.offsetParent);
  if (!all.length) return;
  const at = all.findIndex((entry) => entry.contains(document.activeElement));
  const start = at < 0 ? (by > 0 ? -1 : all.length) : at;
  const next = all[Math.min(Math.max(start + by, 0), all.length - 1)];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}

// --- forms of review pages ---
function edit(field) {
  const text = byId(field);
  if (!text) return;
  const details = text.closest("details");
  if (details) details.open = true;
  text.focus();
}

// Answers the next open question; after the last one the send button gets the focus.
function answer(value) {
  const open = () => [...document.querySelectorAll("fieldset")].find((set) => !set.querySelector("input:checked"));
  open()?.querySelector(`input[value="${value}"]`)?.click();
  if (!open()) byId("send")?.focus();
}

function clearLastAnswer() {
  const checked = [...document.querySelectorAll("fieldset input:checked")];
  if (checked.length) checked[checked.length - 1].checked = false;
}

function next() {
  if (!byId("next")) location.assign("/next");
  else if (document.querySelector("fieldset")) answer("no");
  else press("next");
}

// Words selected in a provision are the deciding words of an answer.
document.addEventListener("selectionchange", () => {
  const chosen = getSelection();
  if (!byId("words") || chosen.isCollapsed) return;
  const provision = chosen.getRangeAt(0).startContainer.parentElement?.closest("[data-citation]");
  if (!provision) return;
  byId("words").value = chosen.toString().trim();
  byId("citation").value = provision.dataset.citation;
});

const VIEWER_KEYS = {
  j: () => step(1),
  k: () => step(-1),
  "/": () => (byId("search") ?? document.querySelector("input"))?.focus(),
};
const REVIEW_KEYS = {
  n: next,
  y: () => answer("yes"),
  l: () => press("next"),
  e: () => edit("text"),
  c: () => edit("comment"),
  Backspace: clearLastAnswer,
};
const KEYS = document.body.classList.contains("review") ? REVIEW_KEYS : VIEWER_KEYS;

document.addEventListener("keydown", (event) => {
  const named = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`); // what a template gives a key
  const typing = event.target.matches('input:not([type="radio"]), select, textarea');
  if (event.key === "Enter" && event.ctrlKey && event.target.id === "text") {
    press("edit");
    event.preventDefault();
  } else if (event.ctrlKey || event.metaKey || event.altKey) {
    return;
  } else if (event.key === "Escape") {
    if (typing) event.target.blur();
    else document.querySelector('a[rel="up"]')?.click();
  } else if (!typing && (named || event.key in KEYS)) {
    if (named) named.click();
    else KEYS[event.key]();
    event.preventDefault();
  } else if (event.key === "Enter" && document.activeElement.matches("li.entry")) {
    document.activeElement.querySelector("a")?.click();
  }
});

// The message named by the address gets the focus, so that j and k continue from there.
function focusMessage() {
  if (/^#(m|c\d+-)/.test(location.hash)) byId(location.hash.slice(1))?.focus();
}
addEventListener("hashchange", focusMessage);
focusMessage();

// --- tables: a click on a header sorts the rows by its column, another click reverses the order ---
// Left as they are: sequences of calls, where the order is what they say, and parts that refresh themselves. A header with
// a link is sorted by the server, over all pages.
const SORTED = "table:not(.calls, .monitor, .evidence, [data-live] *)";
const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

// The header cell of each column. A header over several columns is not the header of one.
function columnHeaders(table) {
  const grid = [...table.tHead.rows].map(() => []);
  [...table.tHead.rows].forEach((row, y) => {
    let x = 0;
    for (const cell of row.cells) {
      while (grid[y][x]) x += 1;
      for (let below = 0; below < cell.rowSpan; below += 1) {
        for (let beside = 0; beside < cell.colSpan; beside += 1) grid[y + below][x + beside] = cell;
      }
      x += cell.colSpan;
    }
  });
  return grid.at(-1) ?? [];
}

// What a cell is sorted by; null for an empty one, which comes last in both orders.
function sortKey(cell, numeric) {
  const text = cell?.dataset.value ?? cell?.textContent.trim() ?? "";
  const key = numeric ? parseFloat(text.replaceAll(",", "")) : text;
  return text === "" || text === "–" || Number.isNaN(key) ? null : key;
}

function compareKeys(one, other, numeric, sign) {
  if (one === null || other === null) return (one === null) - (other === null);
  return sign * (numeric ? one - other : collator.compare(one, other));
}

function sortTable(table, column) {
  const headers = columnHeaders(table);
  const sign = headers[column].getAttribute("aria-sort") === "ascending" ? -1 : 1;
  for (const header of headers) header.removeAttribute("aria-sort");
  headers[column].setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
  const rows = [...table.tBodies[0].rows];
  const numeric = headers[column].matches(".n") || rows.some((row) => row.cells[column]?.dataset.value);
  const keyed = rows.map((row) => [sortKey(row.cells[column], numeric), row]);
  keyed.sort(([one], [other]) => compareKeys(one, other, numeric, sign));
  table.tBodies[0].append(...keyed.map(([, row]) => row));
  if (table.matches(".grouped")) markGroups(table);
}

// Rows with the name of the row above show it lighter; a line separates the others.
function markGroups(table) {
  let above = null;
  for (const row of table.tBodies[0].rows) {
    const name = row.cells[0].textContent;
    row.classList.toggle("again", name === above);
    row.classList.toggle("next", above !== null && name !== above);
    above = name;
  }
}

for (const table of document.querySelectorAll(SORTED)) {
  if (!table.tHead || !table.tBodies.length || table.tBodies[0].rows.length < 2) continue;
  columnHeaders(table).forEach((header, column) => {
    if (header.colSpan > 1 || header.querySelector("a")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...header.childNodes);
    button.addEventListener("click", () => sortTable(table, column));
    header.append(button);
  });
}

// --- the task index: hides tasks without a matching attempt. The form is hidden until this runs. ---
const form = byId("filter");
if (form) {
  const rows = [...document.querySelectorAll("table.index tbody tr")];
  const apply = () => {
    const wanted = [...new FormData(form)].filter(([, value]) => value);
    let shown = 0;
    for (const row of rows) {
      const marks = [...row.querySelectorAll(".mark")];
      const fits = (mark) => wanted.every(([name, value]) => (mark.dataset[name] ?? "").split(" ").includes(value));
      row.hidden = wanted.length > 0 && !marks.some(fits);
      for (const mark of marks) mark.classList.toggle("faint", !fits(mark));
      shown += row.hidden ? 0 : 1;
    }
    form.querySelector("output").textContent = `${shown} of ${rows.length} tasks`;
  };
  form.hidden = false;
  form.addEventListener("change", apply);
  apply();
}

// --- the part of a page that changes while a run is in progress ---
async function refresh() {
  const part = document.querySelector("[data-live]");
  if (!part) return;
  try {
    const response = await fetch(part.dataset.live);
    if (response.ok) {
      const fresh = new DOMParser().parseFromString(await response.text(), "text/html").body.firstElementChild;
      if (!fresh.dataset.live) return location.reload(); // The run has ended: the page has more to show now.
      part.replaceWith(fresh);
    }
  } catch {
    // The server does not answer for now; the page stays as it is.
  }
  setTimeout(refresh, 2000);
}
if (document.querySelector("[data-live]")) setTimeout(refresh, 2000);

// --- marks of findings on the page of an audit: kept in this browser until they are saved to a file ---
const judged = [...document.querySelectorAll("fieldset.judge")];
if (judged.length) {
  const marks = new Map();
  const bar = byId("marks");
  const store = `lawtrace marks ${location.pathname}`;
  const keyOf = (set) => set.dataset.finding;
  const show = () => {
    bar.hidden = !marks.size;
    bar.querySelector("output").textContent = marks.size === 1 ? "1 finding marked" : `${marks.size} findings marked`;
  };
  try {
    for (const [key, mark] of JSON.parse(localStorage.getItem(store) ?? "[]")) marks.set(key, mark);
  } catch {
    // Without storage the marks last as long as the page.
  }
  for (const set of judged) {
    set.hidden = false;
    const marked = marks.get(keyOf(set));
    if (marked) set.querySelector(`input[value="${marked === "right" ? "right" : "wrong"}"]`).checked = true;
    set.addEventListener("change", (event) => {
      marks.set(keyOf(set), event.target.value);
      try {
        localStorage.setItem(store, JSON.stringify([...marks]));
      } catch {
        // As above.
      }
      show();
    });
  }
  bar.querySelector("button").addEventListener("click", () => {
    const lines = [...marks].map(([key, mark]) => `${JSON.stringify({ ...JSON.parse(key), mark })}\n`);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(lines, { type: "application/jsonl" }));
    link.download = "marks.jsonl";
    link.click();
    URL.revokeObjectURL(link.href);
  });
  show();
}
