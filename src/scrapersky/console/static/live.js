// Live parts: asked for again while the page is seen; never two at once, never in a hidden tab.
import { announce, changePart, fetchPart, PartFailed, showPart } from "./parts.js";
import { say } from "./words.js";

const QUICK = 1_000, NORMAL = 2_000, SLOW = 5_000, HALF_MINUTE = 30_000;
const SAID_EVERY = 10_000; // milliseconds between two announcements
let paused = false, watches = false;
let wake = () => {};

/** Keep the live part of this page up to date, if it has one. */
export function startLive() {
  const target = document.querySelector("[data-live]");
  watches = target instanceof HTMLElement;
  if (target instanceof HTMLElement) void watch(target);
  const again = document.querySelector("[data-again]");
  if (again instanceof HTMLElement) void tryAgain(again);
}

/** Open this page anew as soon as the server answers; asks nothing in a hidden tab. @param {HTMLElement} told */
async function tryAgain(told) {
  told.hidden = false;
  for (;;) {
    await pauseFor(document.hidden ? HALF_MINUTE * 1000 : SLOW);
    if (document.hidden) continue;
    const answer = await fetch(location.href).catch(() => null);
    if (answer && ![429, 503].includes(answer.status)) return location.reload();
  }
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
  let first = total(target);
  tell("live");
  for (;;) {
    await pauseFor(paused || document.hidden ? HALF_MINUTE * 1000 : wait);
    if (paused || document.hidden) continue;
    try {
      const found = await fetchPart(location.href, target.dataset.live ?? "", tag);
      if (found) {
        if (tag !== null) changed = Date.now();
        tag = found.tag;
        changePart(target, found.html);
        showCounts(target);
        sayProgress(target);
        if (hasFirstRows(target)) {
          first = total(target);
          await replace("grid");
        }
        offerNew(target, first);
        if (target.querySelector("[data-final]")) {
          await replace("actions"); // without Stop
          if (document.querySelector("#grid .empty")) await replace("grid"); // which says why it is empty
          return tell("done");
        }
      }
      failures = 0;
      tell(paused ? "paused" : "live");
      wait = Date.now() - began < HALF_MINUTE ? QUICK : Date.now() - changed < HALF_MINUTE ? NORMAL : SLOW;
    } catch (error) {
      failures += 1;
      tag = null; // what follows from the part was not done either
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

/** Ask for another part of the page and put it in place; a menu that is open in it is closed by the person first.
 * @param {string} name of the part, and the id of its element */
async function replace(name) {
  const target = document.getElementById(name);
  if (!target) return;
  const open = target.querySelector("details[open]");
  if (open) await new Promise((resolve) => open.addEventListener("toggle", resolve, { once: true }));
  const found = await fetchPart(location.href, name);
  if (found) showPart(target, found.html);
  document.dispatchEvent(new Event("part-replaced"));
}

/** Show the counts of the part in the tabs, too. @param {HTMLElement} target */
function showCounts(target) {
  for (const shown of document.querySelectorAll(".tabs [data-count]")) {
    const name = /** @type {HTMLElement} */ (shown).dataset.count;
    shown.textContent = target.querySelector(`[data-count="${name}"]`)?.textContent ?? shown.textContent;
  }
}

let said = Date.now();

/** Tell assistive technology how far it is, not too often, and that it has ended. @param {HTMLElement} target */
function sayProgress(target) {
  const told = /** @type {HTMLElement | null} */ (target.querySelector("[data-say]"))?.dataset.say;
  const isFinal = target.querySelector("[data-final]") !== null;
  if (!told || (!isFinal && Date.now() - said < SAID_EVERY)) return;
  said = Date.now();
  announce(told);
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

/** Say in words how the live part stands; nothing once it changes no more.
 * @param {"live" | "paused" | "away" | "done"} state @param {number} [seconds] */
function tell(state, seconds) {
  const element = document.getElementById("live");
  if (!element || !watches) return;
  if (state === "done") {
    watches = false;
    element.hidden = true;
    return;
  }
  const text = state === "away"
    ? say("away (tries again in %(seconds)s s)", { seconds: seconds ?? 0 })
    : state === "paused"
    ? say("paused")
    : say("live");
  element.hidden = false;
  element.dataset.state = state;
  if (element.textContent !== text) element.textContent = text;
}
