// Keys: only outside fields, never with Ctrl, Alt or Meta; `?` shows them; the account switches them off.
import { askNow, togglePause } from "./live.js";
import { fetchPart, showPart } from "./parts.js";
import { tickRow } from "./grid.js";
import { walk } from "./panel.js";
import { say } from "./words.js";

const HINT = "keys-known";
let goes = false;

/** Listen to the keys of the console. */
export function startKeys() {
  document.addEventListener("keydown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.altKey || event.metaKey || target.closest("input:not([type=checkbox]), select, textarea, dialog")) return;
    if (event.key !== "?" && document.documentElement.dataset.keys === "off") return;
    if (!act(event.key, target)) return;
    event.preventDefault();
    endHint();
  });
  document.addEventListener("part-replaced", offerHint); // rows that came while the page was open
  offerHint();
}

/** Tell about the keys where there are rows, until one was used. */
function offerHint() {
  const hint = document.getElementById("keys-hint");
  if (!hint || localStorage.getItem(HINT) || document.documentElement.dataset.keys === "off") return;
  if (matchMedia("(hover: none)").matches) return; // a phone or a tablet
  hint.hidden = false;
  hint.querySelector("button")?.addEventListener("click", endHint);
}

/** Tell about the keys no more: they were used, or the hint was closed. */
function endHint() {
  localStorage.setItem(HINT, "known");
  document.getElementById("keys-hint")?.remove();
}

/** @param {string} key @param {HTMLElement} target @returns {boolean} whether the key meant something */
function act(key, target) {
  if (goes) {
    goes = false;
    const link = document.querySelector(`a[data-go="${CSS.escape(key)}"]`);
    if (!(link instanceof HTMLAnchorElement)) return false;
    location.assign(link.href);
    return true;
  }
  if (key === "g") return (goes = true);
  if (key === "?") return showHelp();
  if (key === "r") return askNow(), true;
  if (key === "p") return togglePause(), true;
  if (key === "Enter") return false;
  if (key === "x" || key === "X") return tick(target, key === "X");
  if ((key === "j" || key === "k" || key === "ArrowDown" || key === "ArrowUp") && !document.querySelector(`[data-key="${key}"]`)) {
    return move(key === "j" || key === "ArrowDown" ? 1 : -1, target);
  }
  const pressed = /** @type {HTMLElement | null} */ (document.querySelector(`.panel [data-key="${key}"]`) ??
    document.querySelector(`[data-key="${key}"]`));
  if (!pressed) return false;
  if (pressed instanceof HTMLDetailsElement) {
    pressed.open = !pressed.open;
    /** @type {HTMLElement | null} */ (pressed.querySelector("summary ~ * :is(select, input:not([type=hidden]), a)"))?.focus();
  } else if (pressed instanceof HTMLInputElement) {
    pressed.focus();
    pressed.select();
  } else pressed.click();
  return true;
}

/** @param {HTMLElement} target @param {boolean} isRange @returns {boolean} */
function tick(target, isRange) {
  const row = target.closest("tr") ?? document.querySelector("tr.is-open");
  return row instanceof HTMLElement && tickRow(row, isRange);
}

/** @param {number} steps @param {HTMLElement} target @returns {boolean} */
function move(steps, target) {
  if (walk(steps)) return true;
  const links = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-open]")]);
  const here = links.findIndex((link) => link.closest("tr")?.contains(target));
  const next = links[here < 0 ? 0 : Math.max(0, Math.min(links.length - 1, here + steps))];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
  return next !== undefined;
}

/** Show the keys: the part of the page Help that lists them. @returns {true} */
function showHelp() {
  const dialog = document.createElement("dialog");
  dialog.setAttribute("aria-labelledby", "keys-title");
  const content = document.createElement("div");
  const close = document.createElement("button");
  close.textContent = say("Close");
  close.addEventListener("click", () => dialog.close());
  dialog.append(content, close);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  void fetchPart("/console/help", "keys", null).then((found) => found && showPart(content, found.html));
  return true;
}
