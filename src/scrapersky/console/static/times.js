// Times in words: “2 min ago”, reckoned from the server's clock.

const steps = /** @type {const} */ ([[60, "second", 1], [3600, "minute", 60], [86400, "hour", 3600], [2592000, "day", 86400]]);
const words = new Intl.RelativeTimeFormat("en", { style: "narrow", numeric: "always" });
let ahead = 0; // milliseconds that the server's clock is ahead of this one

/** Take the time of a response as the server's clock.
 * @param {Response} response */
export function noteClock(response) {
  const date = response.headers.get("date");
  if (date) ahead = Date.parse(date) - Date.now();
}

/** Write the times within an element in words; older than 30 days keep their date.
 * @param {ParentNode} within */
export function tellTimes(within) {
  const now = Date.now() + ahead;
  for (const element of within.querySelectorAll("time[datetime]")) {
    const seconds = (Date.parse(element.getAttribute("datetime") ?? "") - now) / 1000;
    const step = steps.find(([limit]) => Math.abs(seconds) < limit);
    if (!step) continue;
    const text = words.format(Math.round(seconds / step[2]), step[1]);
    if (element.textContent !== text) element.textContent = text;
  }
}
