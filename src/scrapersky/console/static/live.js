// Live parts: asked for again while the page is seen; never two at once, never in a hidden tab.
import { fetchPart, PartFailed, showPart } from "./parts.js";
import { say } from "./words.js";

const QUICK = 1_000, NORMAL = 2_000, SLOW = 5_000, HALF_MINUTE = 30_000;
let paused = false, watches = false;
let wake = () => {};

/** Keep the live part of this page up to date, if it has one. */
export function startLive() {
  const target = document.querySelector("[data-live]");
  watches = target instanceof HTMLElement;
  if (target instanceof HTMLElement) void watch(target);
}

/** Pause or resume the live part. */
export function togglePause() {
  paused = !paused;
  tell(paused ? "paused" : "live");
  wake();
}

/** Ask at once. */
export function askNow() {
  paused = false;
  tell("live");
  wake();
}

/** @param {HTMLElement} target */
async function watch(target) {
  const began = Date.now();
  let changed = began, failures = 0, wait = QUICK;
  let tag = /** @type {string | null} */ (null);
  const first = total(target);
  tell("live");
  for (;;) {
    await pauseFor(paused || document.hidden ? HALF_MINUTE * 1000 : wait);
    if (paused || document.hidden) continue;
    try {
      const found = await fetchPart(location.href, target.dataset.live ?? "", tag);
      if (found) {
        if (tag !== null) changed = Date.now();
        tag = found.tag;
        showPart(target, found.html);
        offerNew(target, first);
        const isFinal = target.querySelector("[data-final]") !== null;
        if ((isFinal || hasFirstRows(target)) && !isInUse()) return location.reload(); // with the rows; at the end without Stop
        if (isFinal) return;
      }
      failures = 0;
      tell(paused ? "paused" : "live");
      wait = Date.now() - began < HALF_MINUTE ? QUICK : Date.now() - changed < HALF_MINUTE ? NORMAL : SLOW;
    } catch (error) {
      failures += 1;
      const asked = error instanceof PartFailed ? error.wait * 1_000 : 0;
      wait = Math.max(asked, Math.min(HALF_MINUTE, QUICK * 2 ** failures));
      tell("away", Math.round(wait / 1_000));
    }
  }
}

/** The number of rows that the part counts. @param {HTMLElement} target */
function total(target) {
  return Number(/** @type {HTMLElement | null} */ (target.querySelector("[data-total]"))?.dataset.total ?? 0);
}

/** Whether rows were found while the list below is still empty. @param {HTMLElement} target */
function hasFirstRows(target) {
  return total(target) > 0 && document.querySelector("#grid .empty") !== null;
}

/** Whether a person has something open or selected, which a new page would close. */
function isInUse() {
  return document.querySelector("main details[open], dialog[open], [name=id]:checked, main :is(input, select, textarea):focus") !== null;
}

/** Offer the rows that came since the page was opened; the rows that are shown stay where they are.
 * @param {HTMLElement} target @param {number} first */
function offerNew(target, first) {
  const link = document.getElementById("new-rows");
  const count = total(target) - first;
  if (!link || count <= 0) return;
  link.textContent = say("%(count)s new · show", { count });
  link.hidden = false;
}

/** Wait, but not longer than until a wake-up or until the tab is seen again.
 * @param {number} milliseconds @returns {Promise<void>} */
function pauseFor(milliseconds) {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", end);
      resolve();
    };
    const timer = setTimeout(end, Math.min(milliseconds, 2 ** 31 - 1));
    wake = end;
    document.addEventListener("visibilitychange", end);
  });
}

/** Say in words how the live part stands.
 * @param {"live" | "paused" | "away"} state @param {number} [seconds] */
function tell(state, seconds) {
  const element = document.getElementById("live");
  if (!element || !watches) return;
  const text = state === "away"
    ? say("away (tries again in %(seconds)s s)", { seconds: seconds ?? 0 })
    : state === "paused"
    ? say("paused")
    : say("live");
  element.hidden = false;
  element.dataset.state = state;
  if (element.textContent !== text) element.textContent = text;
}
