// Keys: only outside fields, never with Ctrl, Alt or Meta; `?` shows them and can switch them off.
import { askNow, togglePause } from "./live.js";

const OFF = "console-keys-off";
const PLACES = /** @type {Record<string, string>} */ ({
  l: "line", s: "searches", p: "places", b: "businesses", d: "domains", m: "sitemaps", g: "pages", c: "contacts", n: "searches/new",
});
const HELP = [
  ["?", "these keys"], ["j k", "next and previous row"], ["x", "select the row"], ["Enter", "open the row"], ["Esc", "close"],
  ["s m n a", "Selected, Maybe, Not a Fit, Archived"], ["u", "undo"], ["f", "filter"], ["d", "download"], ["r", "ask now"], ["p", "pause"],
  ["g, then l s p b d m g c n", "go to Line, Searches, Places, Businesses, Domains, Sitemaps, Pages, Contacts, New search"],
];
let goes = false;

/** Listen to the keys of the console. */
export function startKeys() {
  document.addEventListener("keydown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.altKey || event.metaKey || target.closest("input:not([type=checkbox]), select, textarea, dialog")) return;
    if (event.key !== "?" && localStorage.getItem(OFF)) return;
    if (act(event.key, target)) event.preventDefault();
  });
}

/** @param {string} key @param {HTMLElement} target @returns {boolean} whether the key meant something */
function act(key, target) {
  if (goes) {
    goes = false;
    if (!(key in PLACES)) return false;
    location.assign(`/console/${PLACES[key]}`);
    return true;
  }
  if (key === "g") return (goes = true);
  if (key === "?") return showHelp();
  if (key === "r") return askNow(), true;
  if (key === "p") return togglePause(), true;
  if (key === "Enter") return false;
  if (key === "x") return tick(target);
  if ((key === "j" || key === "k" || key === "ArrowDown" || key === "ArrowUp") && !document.querySelector(`[data-key="${key}"]`)) {
    return move(key === "j" || key === "ArrowDown" ? 1 : -1, target);
  }
  const pressed = /** @type {HTMLElement | null} */ (document.querySelector(`.panel [data-key="${key}"]`) ?? document.querySelector(`[data-key="${key}"]`));
  if (!pressed) return false;
  if (pressed instanceof HTMLDetailsElement) {
    pressed.open = !pressed.open;
    /** @type {HTMLElement | null} */ (pressed.querySelector("summary ~ * :is(select, input:not([type=hidden]), a)"))?.focus();
  } else pressed.click();
  return true;
}

/** @param {HTMLElement} target @returns {boolean} */
function tick(target) {
  const box = /** @type {HTMLInputElement | null} */ (target.closest("tr")?.querySelector("input[name=id]") ?? null);
  box?.click();
  return box !== null;
}

/** @param {number} steps @param {HTMLElement} target @returns {boolean} */
function move(steps, target) {
  const links = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-open]")]);
  const here = links.findIndex((link) => link.closest("tr")?.contains(target));
  const next = links[here < 0 ? 0 : Math.max(0, Math.min(links.length - 1, here + steps))];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
  return next !== undefined;
}

/** @returns {true} */
function showHelp() {
  const dialog = document.createElement("dialog");
  const title = document.createElement("h2");
  title.textContent = "Keys";
  title.id = "keys-title";
  dialog.setAttribute("aria-labelledby", title.id);
  const list = document.createElement("dl");
  list.className = "keys";
  for (const [keys, meaning] of HELP) {
    const [term, text] = [document.createElement("dt"), document.createElement("dd")];
    const key = document.createElement("kbd");
    key.textContent = keys;
    term.append(key);
    text.textContent = meaning;
    list.append(term, text);
  }
  const off = document.createElement("input");
  off.type = "checkbox";
  off.checked = !localStorage.getItem(OFF);
  off.addEventListener("change", () => off.checked ? localStorage.removeItem(OFF) : localStorage.setItem(OFF, "1"));
  const choice = document.createElement("label");
  choice.className = "choice";
  choice.append(off, "Single keys work on pages");
  const close = document.createElement("button");
  close.textContent = "Close";
  close.addEventListener("click", () => dialog.close());
  dialog.append(title, list, choice, close);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return true;
}
