// The palette: Ctrl-K, then type where to go, what to do, or whom to find.
import { fetchPart, parsePart } from "./parts.js";
import { say } from "./words.js";

const PAUSE = 120, MAX_SHOWN = 12;
/** @typedef {{label: string, detail?: string, kind: string, run: () => void}} Entry */

/** Open the palette with Ctrl-K or Cmd-K. */
export function startPalette() {
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k") {
      event.preventDefault();
      if (!document.querySelector("dialog[open]")) openPalette();
    }
  });
}

/** @returns {Entry[]} what this page can do, and where one can go */
function entries() {
  const text = (/** @type {Element} */ one) => (one.getAttribute("aria-label") ?? one.textContent ?? "").replace(/\s+/g, " ").trim();
  const to = (/** @type {Element} */ one, /** @type {string} */ kind) => ({
    label: text(one),
    kind,
    run: () => /** @type {HTMLElement} */ (one).click(),
  });
  const acts = [
    ...document.querySelectorAll(
      "main .head .actions > :is(a, button), main .row-menu :is(a, button), main [data-key]:is(a, button), .top-end a.button, .top .menu-panel :is(a, button)",
    ),
  ];
  const seen = new Set();
  return [...[...document.querySelectorAll(".rail a")].map((one) => to(one, say("go"))), ...acts.map((one) => to(one, say("do")))]
    .filter((one) => one.label && !seen.has(one.label) && seen.add(one.label));
}

/** Show the palette. */
export function openPalette() {
  const known = entries();
  const dialog = document.createElement("dialog");
  dialog.className = "palette";
  dialog.setAttribute("aria-label", say("Go, do or find"));
  const field = document.createElement("input");
  field.className = "big";
  field.placeholder = say("Go to, do, or find …");
  const list = document.createElement("ul");
  list.id = "palette-list";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", say("Choices"));
  for (
    const [name, value] of [["role", "combobox"], ["aria-expanded", "true"], ["aria-controls", list.id], ["aria-autocomplete", "list"], [
      "aria-label",
      say("Go, do or find"),
    ]]
  ) field.setAttribute(name, value);
  dialog.append(field, list);
  let shown = /** @type {Entry[]} */ ([]), place = 0, timer = 0;
  let found = /** @type {Entry[]} */ ([]);

  const draw = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    shown = [...known.filter((one) => words.every((word) => `${one.kind} ${one.label}`.toLowerCase().includes(word))), ...found].slice(
      0,
      MAX_SHOWN,
    );
    place = Math.min(place, Math.max(0, shown.length - 1));
    list.replaceChildren(...shown.map((one, n) => {
      const item = document.createElement("li");
      const kind = document.createElement("span");
      kind.className = "tag";
      kind.textContent = one.kind;
      const label = document.createElement("bdi");
      label.textContent = one.label;
      const detail = document.createElement("bdi");
      detail.className = "muted";
      detail.textContent = one.detail ?? "";
      item.append(label, detail, kind);
      item.id = `palette-${n}`;
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", String(n === place));
      item.addEventListener("click", () => choose(n));
      return item;
    }));
    field.setAttribute("aria-activedescendant", shown.length ? `palette-${place}` : "");
  };
  const choose = (/** @type {number} */ n) => {
    dialog.close();
    shown[n]?.run();
  };
  const find = async () => {
    const text = field.value.trim();
    const answer = text ? await fetchPart(`/console/find?${new URLSearchParams({ find: text })}`, "results").catch(() => null) : null;
    if (text !== field.value.trim()) return;
    found = [...(answer ? parsePart(answer.html).querySelectorAll("a") : [])].map((link) => {
      const path = link.getAttribute("href") ?? "";
      const detail = link.nextElementSibling?.textContent ?? "";
      return { label: link.textContent ?? "", detail, kind: path.split("/")[2], run: () => location.assign(path) };
    });
    draw();
  };
  field.addEventListener("input", () => {
    place = 0;
    found = [];
    draw();
    clearTimeout(timer);
    timer = setTimeout(() => void find(), PAUSE);
  });
  field.addEventListener("keydown", (event) => {
    const steps = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (steps) place = Math.max(0, Math.min(shown.length - 1, place + steps));
    else if (event.key === "Enter") choose(place);
    else return;
    event.preventDefault();
    if (steps) draw();
  });
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  draw();
  dialog.showModal();
  field.focus();
}
