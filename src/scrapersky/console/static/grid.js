// Selecting rows of a grid (single ones, ranges, the page, all that match but some) and deciding about them in place.
import { fetchPart, parsePart } from "./parts.js";
import { showToast } from "./toast.js";
import { say } from "./words.js";

const PLACE = ["cursor", "before", "at", "open", "menu"]; // fields of the address that do not change which rows match
const MAX_ROWS = 1000;
/** @typedef {{rows: Map<string, string>, all: boolean, except: Set<string>}} Selection */
let chosen = /** @type {Selection} */ ({ rows: new Map(), all: false, except: new Set() });
const narrow = matchMedia("(max-width: 760px)");
let last = /** @type {string | null} */ (null); // the row that was ticked last: a range begins there

/** Keep selections, and decide about rows without leaving the page. */
export function startGrids() {
  document.addEventListener("change", onTick);
  document.addEventListener("click", onClick);
  document.addEventListener("submit", onSubmit);
  document.addEventListener("copy", onCopy);
  narrow.addEventListener("change", paint);
  document.addEventListener("part-replaced", paint);
  loadSelection();
}

/** Take the selection of this list, as it was left. */
export function loadSelection() {
  const kept = JSON.parse(sessionStorage.getItem(storageKey()) ?? "null");
  chosen = { rows: new Map(kept?.rows ?? []), all: kept?.all ?? false, except: new Set(kept?.except ?? []) };
  paint();
}

/** Show the selection in the boxes of all rows. */
export function paint() {
  const form = document.querySelector("form[data-grid]");
  if (!form) return;
  for (const box of boxes()) box.checked = chosen.all ? !chosen.except.has(idOf(box)) : chosen.rows.has(idOf(box));
  const total = Number(/** @type {HTMLElement} */ (form).dataset.total);
  const count = chosen.all ? total - chosen.except.size : chosen.rows.size;
  const told = form.querySelector("[data-selected]");
  const more = "more" in /** @type {HTMLElement} */ (form).dataset;
  const number = count.toLocaleString("en");
  const words = chosen.all && more
    ? say("All but %(count)s selected:", { count: chosen.except.size })
    : say("%(count)s selected:", { count: number });
  if (told) told.textContent = count ? words : /** @type {HTMLElement} */ (told).dataset.selected || say("Decision:");
  form.classList.toggle("has-selection", count > 0);
  const head = form.querySelector("thead .tick");
  let all = /** @type {HTMLInputElement | null} */ (head?.querySelector("input"));
  if (head && !all) {
    all = document.createElement("input");
    all.type = "checkbox";
    all.dataset.page = "";
    all.setAttribute("aria-label", say("Select all rows of this page"));
    head.replaceChildren(all);
  }
  const ticked = boxes().filter((box) => box.checked).length;
  if (all) [all.checked, all.indeterminate] = [ticked > 0 && ticked === boxes().length, ticked > 0 && ticked < boxes().length];
  const without = /** @type {HTMLElement | null} */ (form.querySelector("[data-without]"));
  if (without) without.hidden = true;
  const matching = form.querySelector("[data-all]");
  if (matching instanceof HTMLElement) matching.hidden = chosen.all;
  labelCells(form);
}

/** Name the cells after their columns where rows are cards. @param {Element} form */
function labelCells(form) {
  if (!narrow.matches) return;
  const names = [...form.querySelectorAll("thead th")].map((head) => head.textContent?.trim() ?? "");
  for (const row of form.querySelectorAll("tbody tr:not(:has([data-label]))")) {
    [...row.children].forEach((cell, place) => {
      if (cell.matches("td") && !cell.querySelector("a, input, [class^=curation], [class^=verdict]")) {
        /** @type {HTMLElement} */ (cell).dataset.label = names[place];
      }
    });
  }
}

/** Tick or untick a row, or the rows from the last one to it.
 * @param {HTMLElement} row @param {boolean} isRange */
export function tickRow(row, isRange) {
  const box = /** @type {HTMLInputElement | null} */ (row.querySelector("input[name=id]"));
  if (!box) return false;
  box.checked = isRange || !box.checked;
  choose(box, isRange);
  return true;
}

/** @returns {HTMLInputElement[]} */
function boxes() {
  return [.../** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll("form[data-grid] tbody input[name=id]"))];
}

/** @param {HTMLInputElement} box */
function idOf(box) {
  return box.value.slice(0, 36);
}

function storageKey() {
  const address = new URL(location.href);
  for (const name of PLACE) address.searchParams.delete(name);
  return `selection ${address.pathname}${address.search}`;
}

/** @param {HTMLInputElement} box @param {boolean} isRange */
function choose(box, isRange) {
  const every = boxes();
  const [from, to] = [every.findIndex((one) => idOf(one) === last), every.indexOf(box)];
  const range = isRange && from >= 0 ? every.slice(Math.min(from, to), Math.max(from, to) + 1) : [box];
  for (const one of range) mark(one, box.checked);
  last = idOf(box);
  keep();
}

/** @param {HTMLInputElement} box @param {boolean} isChosen */
function mark(box, isChosen) {
  const id = idOf(box);
  if (chosen.all) isChosen ? chosen.except.delete(id) : chosen.except.add(id);
  else if (!isChosen) chosen.rows.delete(id);
  else if (chosen.rows.size < MAX_ROWS) chosen.rows.set(id, box.value);
  else showToast(say("At most %(count)s single rows: select all that match instead.", { count: MAX_ROWS }));
}

function keep() {
  const is_empty = !chosen.all && !chosen.rows.size;
  if (is_empty) sessionStorage.removeItem(storageKey());
  else sessionStorage.setItem(storageKey(), JSON.stringify({ rows: [...chosen.rows], all: chosen.all, except: [...chosen.except] }));
  paint();
}

function clear() {
  chosen = { rows: new Map(), all: false, except: new Set() };
  keep();
}

/** @param {Event} event */
function onTick(event) {
  const box = /** @type {HTMLInputElement} */ (event.target);
  if (!box.closest?.("form[data-grid]") || box.type !== "checkbox") return;
  if ("page" in box.dataset) {
    if (!box.checked) return clear();
    for (const one of boxes()) mark(one, true);
    keep();
  } else if (box.name === "id" && !shift) choose(box, false);
}

let shift = false;
/** @param {MouseEvent} event */
function onClick(event) {
  const target = /** @type {HTMLElement} */ (event.target);
  const all = target.closest("[data-all]");
  if (all && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    chosen = { rows: new Map(), all: true, except: new Set() };
    return keep();
  }
  const box = /** @type {HTMLInputElement | null} */ (target.closest("form[data-grid] tbody input[name=id]"));
  shift = Boolean(box && event.shiftKey);
  if (box && shift) choose(box, true);
}

/** The rows that a form is about: those selected, else the one with the focus.
 * @param {HTMLFormElement} form @returns {string[]} */
function rowsOf(form) {
  if (!form.matches("[data-grid]")) return /** @type {string[]} */ (new FormData(form).getAll("id"));
  if (chosen.rows.size) return [...chosen.rows.values()];
  const row = document.activeElement?.closest("tr") ?? document.querySelector("tr.is-open");
  const box = /** @type {HTMLInputElement | null} */ (row?.querySelector("input[name=id]") ?? null);
  return box ? [box.value] : [];
}

/** @param {SubmitEvent} event */
async function onSubmit(event) {
  const form = /** @type {HTMLFormElement} */ (event.target);
  if (!form.matches("form[data-grid], form[data-decide], form[data-undo]")) return;
  const button = /** @type {HTMLButtonElement | null} */ (event.submitter);
  event.preventDefault();
  const leads = button && "leads" in button.dataset;
  if (form.matches("[data-grid]") && chosen.all && !leads) return askAll(form, button);
  const rows = rowsOf(form);
  const fields = new URLSearchParams(/** @type {any} */ (new FormData(form)));
  fields.delete("id");
  for (const row of rows) fields.append("id", row);
  if (button?.name) fields.set(button.name, button.value);
  const action = button?.getAttribute("formaction") ?? form.action;
  if (leads) return sendAsForm(action, fields);
  try {
    const answer = await fetchPart(action, "changed", null, { method: "POST", body: fields });
    if (answer) apply(parsePart(answer.html));
    if (form.matches("[data-grid]")) clear();
  } catch {
    sendAsForm(action, fields); // the whole answer: both versions, or what is wrong
  }
}

/** @param {DocumentFragment} answer */
function apply(answer) {
  for (const row of answer.querySelectorAll("tr")) {
    const link = row.querySelector("[data-open]");
    const id = link?.getAttribute("href")?.split("/").pop() ?? "";
    const former = document.querySelector(`form[data-grid] [data-open][href$="/${CSS.escape(id)}"]`);
    const old = former?.closest("tr");
    if (!old) continue;
    const hadFocus = old.contains(document.activeElement);
    link?.setAttribute("href", former?.getAttribute("href") ?? "");
    row.className = old.className;
    old.replaceWith(row);
    if (hadFocus) /** @type {HTMLElement | null} */ (link)?.focus();
  }
  const toast = answer.querySelector(".toast");
  if (toast) showToast(toast);
  paint();
  document.dispatchEvent(new CustomEvent("rows-changed"));
}

/** Ask before a decision about all that match, in a dialog.
 * @param {HTMLFormElement} form @param {HTMLButtonElement | null} button */
async function askAll(form, button) {
  const address = /** @type {HTMLAnchorElement | null} */ (form.querySelector("[data-all]"))?.href ?? "";
  const fields = new URLSearchParams([...chosen.except].map((id) => ["except", id]));
  const answer = await fetchPart(address, "question", null, { method: "POST", body: fields }).catch(() => null);
  if (!answer) return sendAsForm(address, fields);
  const dialog = document.createElement("dialog");
  dialog.className = "ask";
  dialog.append(parsePart(answer.html));
  const heading = dialog.querySelector("h1");
  if (heading) heading.id = "ask-heading";
  dialog.setAttribute("aria-labelledby", "ask-heading");
  const close = document.createElement("button");
  close.type = "button";
  close.className = "quiet";
  close.textContent = say("Cancel");
  close.addEventListener("click", () => dialog.close());
  dialog.querySelector("form")?.append(close);
  const same = [...dialog.querySelectorAll("button")].find((one) => one.value === button?.value);
  same?.classList.add("primary");
  dialog.addEventListener("submit", () => sessionStorage.removeItem(storageKey()));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  (same ?? close).focus();
}

/** Send fields as an ordinary form, which leads to another page.
 * @param {string} action @param {URLSearchParams} fields */
function sendAsForm(action, fields) {
  const form = document.createElement("form");
  [form.method, form.action, form.hidden] = ["post", action, true];
  for (const [name, value] of fields) {
    const field = document.createElement("input");
    [field.type, field.name, field.value] = ["hidden", name, value];
    form.append(field);
  }
  document.body.append(form);
  form.submit();
}

/** Copy cells as a table whose texts run in no spreadsheet as a formula.
 * @param {ClipboardEvent} event */
function onCopy(event) {
  const selection = getSelection();
  if (!selection || selection.isCollapsed || !event.clipboardData) return;
  const lines = [];
  let cells = 0;
  for (const row of document.querySelectorAll(".grid tr")) {
    if (!selection.containsNode(row, true)) continue;
    const texts = [...row.querySelectorAll("th, td:not(:has(> input))")].filter((cell) => selection.containsNode(cell, true)).map(cellText);
    cells += texts.length;
    if (texts.length) lines.push(texts.join("\t"));
  }
  if (cells < 2) return;
  event.clipboardData.setData("text/plain", lines.join("\n"));
  event.preventDefault();
}

/** @param {Element} cell */
function cellText(cell) {
  const text = (/** @type {HTMLElement} */ (cell).innerText ?? "").replace(/\s+/g, " ").trim();
  const isFormula = /^[=+\-@＝＋－＠﹦﹢﹣﹫]/.test(text) && !/^\+[0-9][0-9 ]*$/.test(text);
  return isFormula ? `'${text}` : text;
}
