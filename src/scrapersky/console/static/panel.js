// The open row beside its list: opened without leaving the page, walked with j and k; it is part of the address.
import { fetchPart, showPart } from "./parts.js";

let asked = /** @type {AbortController | null} */ (null);

/** Open rows in the panel. */
export function startPanel() {
  const panel = document.getElementById("panel");
  if (!panel) return;
  document.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    const link = /** @type {HTMLElement} */ (event.target).closest("#grid a[data-open], #panel a[data-step], #panel a[data-close]");
    if (!(link instanceof HTMLAnchorElement)) return;
    event.preventDefault();
    if (link.dataset.step) walk(Number(link.dataset.step));
    else if ("close" in link.dataset) close();
    else void open(link);
  });
  addEventListener("popstate", () => {
    const id = new URL(location.href).searchParams.get("open");
    const link = id && linkOf(id);
    if (link instanceof HTMLAnchorElement) void open(link, false);
    else if (!id && !panel.hidden) close(false);
    else location.reload();
  });
  document.addEventListener("rows-changed", () => {
    const link = document.querySelector("tr.is-open [data-open]");
    if (link instanceof HTMLAnchorElement && !panel.hidden) void open(link, false);
  });
}

/** The link of a row in the list: it leads to the page of the row. @param {string} id @returns {Element | null} */
function linkOf(id) {
  return document.querySelector(`#grid a[data-open][href$="/${CSS.escape(id)}"]`);
}

/** Open the row before or after the open one; false if no row is open.
 * @param {number} steps @returns {boolean} */
export function walk(steps) {
  const panel = document.getElementById("panel");
  const links = /** @type {HTMLAnchorElement[]} */ ([...document.querySelectorAll("#grid [data-open]")]);
  const here = links.findIndex((link) => link.closest("tr.is-open"));
  if (!panel || panel.hidden || here < 0) return false;
  const next = links[here + steps];
  if (next) void open(next);
  return true;
}

/** @param {HTMLAnchorElement} link @param {boolean} [isNew] whether the address has to change */
async function open(link, isNew = true) {
  const panel = /** @type {HTMLElement} */ (document.getElementById("panel"));
  const address = new URL(location.href);
  const id = link.href.slice(link.href.lastIndexOf("/") + 1);
  address.searchParams.set("open", id);
  address.searchParams.delete("menu");
  asked?.abort();
  asked = new AbortController();
  const found = await fetchPart(address.href, "panel", null, { signal: asked.signal }).catch((error) => error);
  if (found instanceof Error) return found.name === "AbortError" ? undefined : location.assign(link.href);
  const wasOpen = !panel.hidden;
  document.querySelector("tr.is-open")?.classList.remove("is-open");
  const row = linkOf(id)?.closest("tr");
  row?.classList.add("is-open");
  if (found) showPart(panel, found.html);
  panel.hidden = false;
  panel.scrollTop = 0;
  panel.parentElement?.classList.add("has-panel");
  if (isNew) history[wasOpen ? "replaceState" : "pushState"](history.state, "", address);
  row?.scrollIntoView({ block: "nearest" });
  /** @type {HTMLElement | null | undefined} */ (row?.querySelector("[data-open]"))?.focus({ preventScroll: true });
}

/** @param {boolean} [isNew] whether the address has to change */
function close(isNew = true) {
  const panel = /** @type {HTMLElement} */ (document.getElementById("panel"));
  const address = new URL(location.href);
  address.searchParams.delete("open");
  panel.hidden = true;
  panel.replaceChildren();
  panel.parentElement?.classList.remove("has-panel");
  if (isNew) history.pushState(history.state, "", address);
  const row = document.querySelector("tr.is-open");
  row?.classList.remove("is-open");
  row?.scrollIntoView({ block: "nearest" });
  /** @type {HTMLElement | null | undefined} */ (row?.querySelector("[data-open]"))?.focus({ preventScroll: true });
}
