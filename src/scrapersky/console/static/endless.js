// Scrolling a list without end: further pages come as <tbody>; at most six stay, the others leave a spacer of their height.
import { fetchPart, parsePart } from "./parts.js";
import { paint } from "./grid.js";

const MAX_PAGES = 6, AHEAD = 1_200; // pages in the document; pixels before the end at which the next page is asked for
let busy = false;
let failed = false; // the last page could not be read: it is asked for again after a while
let settle = 0;

/** Let the list of this page scroll on. */
export function startEndless() {
  const region = /** @type {HTMLElement | null} */ (document.querySelector("[data-endless]"));
  if (!region || region.dataset.endless === "runs") return;
  region.dataset.endless = "runs";
  region.closest("form")?.querySelector(".pager")?.remove();
  const look = () => void onScroll(region);
  region.addEventListener("scroll", look, { passive: true });
  document.addEventListener("scroll", look, { passive: true });
  void comeBack(region);
}

/** The bounds of what is seen of the list. @param {HTMLElement} region */
function view(region) {
  const scrolls = region.scrollHeight > region.clientHeight + 1;
  const box = region.getBoundingClientRect();
  const head = region.querySelector("thead")?.getBoundingClientRect().height ?? 0;
  return scrolls
    ? { top: box.top + head, bottom: box.bottom, scroller: region }
    : { top: 60, bottom: innerHeight, scroller: document.documentElement };
}

/** @param {HTMLElement} region */
function pagesOf(region) {
  return [.../** @type {NodeListOf<HTMLElement>} */ (region.querySelectorAll("tbody"))];
}

/** @param {HTMLElement} region */
async function onScroll(region) {
  tellPlace(region);
  if (busy || !region.isConnected || !region.offsetParent) return;
  busy = true;
  try {
    while (await step(region)) paint();
    tellPlace(region);
  } finally {
    busy = false;
    if (failed) setTimeout(() => void onScroll(region), 2_000);
    failed = false;
  }
}

/** Bring one page that is needed, or take one away. @param {HTMLElement} region @returns {Promise<boolean>} */
async function step(region) {
  const pages = pagesOf(region);
  const { top, bottom, scroller } = view(region);
  const near = pages.find((page) => page.classList.contains("spacer") && isNear(page, top, bottom));
  if (near) return swap(near, await ask(near.dataset.address));
  const [first, end] = [pages[0], pages[pages.length - 1]];
  if (end?.dataset.next && end.getBoundingClientRect().bottom < bottom + AHEAD) {
    const page = await ask(end.dataset.next);
    if (!page) return false;
    end.after(page);
    return trim(region);
  }
  if (first?.dataset.previous && first.getBoundingClientRect().top > top - AHEAD / 2) {
    const page = await ask(first.dataset.previous);
    if (!page) return false;
    page.dataset.first = String(Math.max(1, Number(first.dataset.first) - page.rows.length));
    const before = scroller.scrollTop;
    first.before(page);
    scroller.scrollTop = before + page.getBoundingClientRect().height;
    return trim(region);
  }
  return false;
}

/** @param {HTMLElement} page @param {number} top @param {number} bottom */
function isNear(page, top, bottom) {
  const box = page.getBoundingClientRect();
  return box.bottom > top - AHEAD / 2 && box.top < bottom + AHEAD / 2;
}

/** @param {string | undefined} address @returns {Promise<HTMLTableSectionElement | null>} */
async function ask(address) {
  if (!address) return null;
  const found = await fetchPart(address, "rows").catch(() => null);
  failed = !found;
  return found ? parsePart(found.html).querySelector("tbody") : null;
}

/** @param {HTMLElement} spacer @param {HTMLTableSectionElement | null} page */
function swap(spacer, page) {
  if (!page) return false;
  page.dataset.first = spacer.dataset.first;
  spacer.replaceWith(page);
  return trim(/** @type {HTMLElement} */ (page.closest("[data-endless]")));
}

/** Replace the pages that are farthest from what is seen by spacers. @param {HTMLElement} region @returns {true} */
function trim(region) {
  const { top, bottom } = view(region);
  const middle = (top + bottom) / 2;
  const distance = (/** @type {HTMLElement} */ page) => {
    const box = page.getBoundingClientRect();
    return Math.abs((box.top + box.bottom) / 2 - middle);
  };
  const drawn = pagesOf(region).filter((page) => !page.classList.contains("spacer"));
  for (const page of drawn.sort((a, b) => distance(b) - distance(a)).slice(0, Math.max(0, drawn.length - MAX_PAGES))) {
    if (page.contains(document.activeElement)) continue;
    const spacer = document.createElement("tbody");
    const row = spacer.insertRow();
    row.insertCell().colSpan = 99;
    row.style.height = `${page.getBoundingClientRect().height}px`;
    spacer.className = "spacer";
    spacer.setAttribute("aria-hidden", "true");
    Object.assign(spacer.dataset, page.dataset, { count: String(/** @type {HTMLTableSectionElement} */ (page).rows.length) });
    page.replaceWith(spacer);
  }
  return true;
}

/** Let the address and the count follow the page at the top. @param {HTMLElement} region */
function tellPlace(region) {
  const { top } = view(region);
  const page =
    /** @type {HTMLTableSectionElement | undefined} */ (pagesOf(region).find((one) => one.getBoundingClientRect().bottom > top + 1));
  if (!page || page.classList.contains("spacer")) return;
  const first = Number(page.dataset.first);
  const range = document.querySelector("[data-range]");
  const words = `${first.toLocaleString("en")}–${(first + page.rows.length - 1).toLocaleString("en")}`;
  if (range && range.textContent !== words) range.textContent = words;
  clearTimeout(settle);
  settle = setTimeout(() => {
    const row = [...page.rows].find((one) => one.getBoundingClientRect().bottom > top + 1);
    const address = new URL(page.dataset.address ?? "", location.href);
    const open = new URL(location.href).searchParams.get("open");
    if (open) address.searchParams.set("open", open);
    const back = /** @type {HTMLInputElement | null} */ (document.querySelector("form[data-grid] > input[name=back]"));
    if (back) back.value = page.dataset.address ?? back.value;
    history.replaceState(
      {
        ...history.state,
        row: row?.querySelector("[data-open]")?.getAttribute("href"),
        offset: row ? row.getBoundingClientRect().top - top : 0,
      },
      "",
      address,
    );
  }, 120);
}

/** Scroll to where the person was: if this page alone is too short, when the next one has come. @param {HTMLElement} region */
async function comeBack(region) {
  const { row: href, offset } = history.state ?? {};
  const row = href && region.querySelector(`[data-open][href="${CSS.escape(href)}"]`)?.closest("tr");
  const missing = () => (row && region.contains(row) ? row.getBoundingClientRect().top - view(region).top - (offset ?? 0) : 0);
  view(region).scroller.scrollTop += missing();
  const isShort = Math.abs(missing()) > 1;
  await onScroll(region);
  if (isShort) view(region).scroller.scrollTop += missing();
}
