// Live parts: asked for again while the page is seen; never two at once, never in a hidden tab.
import { fetchPart, PartFailed, showPart } from "./parts.js";

const QUICK = 1_000, NORMAL = 2_000, SLOW = 5_000, HALF_MINUTE = 30_000;
let paused = false;
let wake = () => {};

/** Keep the live part of this page up to date, if it has one. */
export function startLive() {
  const target = document.querySelector("[data-live]");
  if (target instanceof HTMLElement) void watch(target);
}

/** Pause or resume the live part. */
export function togglePause() {
  paused = !paused;
  wake();
}

/** Ask at once. */
export function askNow() {
  paused = false;
  wake();
}

/** @param {HTMLElement} target */
async function watch(target) {
  const began = Date.now();
  let changed = began, failures = 0, wait = QUICK;
  let tag = /** @type {string | null} */ (null);
  tell("live");
  for (;;) {
    await pauseFor(paused || document.hidden ? HALF_MINUTE * 1000 : wait);
    if (paused || document.hidden) {
      tell(paused ? "paused" : "live");
      continue;
    }
    try {
      const found = await fetchPart(location.href, target.dataset.live ?? "", tag);
      if (found) {
        if (tag !== null) changed = Date.now();
        tag = found.tag;
        showPart(target, found.html);
        if (target.querySelector("[data-final]")) return location.reload(); // with the rows, and without Stop
      }
      failures = 0;
      tell("live");
      wait = Date.now() - began < HALF_MINUTE ? QUICK : Date.now() - changed < HALF_MINUTE ? NORMAL : SLOW;
    } catch (error) {
      failures += 1;
      const asked = error instanceof PartFailed ? error.wait * 1_000 : 0;
      wait = Math.max(asked, Math.min(HALF_MINUTE, QUICK * 2 ** failures));
      tell("away", Math.round(wait / 1_000));
    }
  }
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
  if (!element) return;
  const text = state === "away" ? `away (tries again in ${seconds} s)` : state;
  element.hidden = false;
  element.dataset.state = state;
  if (element.textContent !== text) element.textContent = text;
}
