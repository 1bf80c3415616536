// Filters of a grid: menus with counts, and names that are filtered while they are typed.
import { announce, fetchPart, showPart } from "./parts.js";
import { loadSelection } from "./grid.js";
import { startEndless } from "./endless.js";

const PAUSE = 120, DIM = 150; // milliseconds: after the last letter; until the old rows are dimmed
let asked = /** @type {AbortController | null} */ (null);
let opener = /** @type {HTMLElement | null} */ (null);

/** Open menus in place, and let filters change the list without leaving the page. */
export function startFilters() {
  const grid = document.querySelector("[data-part=grid]");
  if (!grid) return;
  const menu = document.getElementById("menu"), open = new URL(location.href).searchParams.get("menu");
  if (menu && !menu.hidden && open) place(menu, openerOf(grid, open));
  addEventListener("resize", () => {
    const menu = document.getElementById("menu");
    if (menu && !menu.hidden && opener?.isConnected) place(menu, opener);
  });
  grid.addEventListener("click", (event) => {
    const click = /** @type {MouseEvent} */ (event);
    if (click.ctrlKey || click.metaKey || click.shiftKey) return;
    const link = /** @type {HTMLElement} */ (event.target).closest("a[data-menu], a[data-go], a.drop, thead a");
    if (!(link instanceof HTMLAnchorElement)) return;
    event.preventDefault();
    if ("menu" in link.dataset) void openMenu(link);
    else void show(link.href, "pushState");
  });
  let timer = 0;
  grid.addEventListener("input", (event) => {
    const field = /** @type {HTMLInputElement} */ (event.target);
    const form = field.closest("form[data-typed]");
    if (!(form instanceof HTMLFormElement)) return;
    clearTimeout(timer);
    timer = setTimeout(() => void show(addressOf(form), "replaceState"), PAUSE);
  });
  document.addEventListener("click", (event) => {
    const menu = document.getElementById("menu");
    if (
      menu && !menu.hidden && !menu.contains(/** @type {Node} */ (event.target)) && !opener?.contains(/** @type {Node} */ (event.target))
    ) menu.hidden = true;
  });
  document.addEventListener("keydown", (event) => {
    const menu = document.getElementById("menu");
    if (event.key !== "Escape" || !menu || menu.hidden) return;
    menu.hidden = true;
    opener?.focus();
    event.stopImmediatePropagation();
  });
}

/** @param {HTMLFormElement} form */
function addressOf(form) {
  const fields = new URLSearchParams(/** @type {any} */ (new FormData(form)));
  for (const [name, value] of [...fields]) if (!value) fields.delete(name);
  return `${form.action}${fields.size ? `?${fields}` : ""}`;
}

/** @param {HTMLAnchorElement} link */
async function openMenu(link) {
  const menu = /** @type {HTMLElement} */ (document.getElementById("menu"));
  const found = await fetchPart(link.href, "menu").catch(() => null);
  if (!found) return location.assign(link.href);
  if (!menu.contains(link)) {
    showPart(menu, found.html);
    place(menu, link);
  } else showPart(menu, found.html);
  /** @type {HTMLElement} */ (menu.querySelector("a, input:not([type=hidden]), button") ?? menu).focus();
}

/** The link that opens a menu; of a filter that is not set, the one that adds filters.
 * @param {Element} grid @param {string} name */
function openerOf(grid, name) {
  const links = /** @type {HTMLAnchorElement[]} */ ([...grid.querySelectorAll(".toolbar > a[data-menu], .chip a[data-menu]")]);
  return links.find((link) => new URL(link.href).searchParams.get("menu") === name) ?? links.find((link) => link.dataset.key === "f");
}

/** Show a menu below the link that opens it, within the toolbar.
 * @param {HTMLElement} menu @param {HTMLElement | undefined} link */
function place(menu, link) {
  if (!link) return;
  opener = link;
  menu.hidden = false;
  menu.style.insetBlockStart = `${link.offsetTop + link.offsetHeight + 4}px`;
  menu.style.insetInlineStart = "0";
  const room = (menu.offsetParent?.clientWidth ?? 0) - menu.offsetWidth;
  menu.style.insetInlineStart = `${Math.max(0, Math.min(link.offsetLeft, room))}px`;
}

/** Show the list at another address.
 * @param {string} address @param {"pushState" | "replaceState"} way */
async function show(address, way) {
  const grid = /** @type {HTMLElement} */ (document.querySelector("[data-part=grid]"));
  asked?.abort();
  asked = new AbortController();
  const dim = setTimeout(() => grid.classList.add("is-loading"), DIM);
  try {
    const found = await fetchPart(address, "grid", null, { signal: asked.signal });
    const typed = /** @type {HTMLInputElement | null} */ (document.activeElement?.closest("form[data-typed] input"));
    if (found) showPart(grid, found.html);
    history[way]({}, "", address);
    const field = /** @type {HTMLInputElement | null} */ (grid.querySelector("form[data-typed] input[name=text]"));
    if (typed && field) {
      field.value = typed.value;
      field.focus();
      field.setSelectionRange(typed.selectionStart, typed.selectionEnd);
    }
    loadSelection();
    startEndless();
    announce(document.getElementById("count")?.textContent?.replace(/\s+/g, " ").trim() ?? "");
  } catch (error) {
    if (/** @type {Error} */ (error).name !== "AbortError") location.assign(address);
    return;
  } finally {
    clearTimeout(dim);
  }
  grid.classList.remove("is-loading");
}
