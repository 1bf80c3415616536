// Times in words: “2 min ago”, reckoned from the server's clock.
import { language } from "./words.js";

const steps = /** @type {const} */ ([[60, "second", 1], [3600, "minute", 60], [86400, "hour", 3600], [2592000, "day", 86400]]);
const words = new Intl.RelativeTimeFormat(language === "en" ? "en-GB" : language, { style: "short", numeric: "always" });
const { times, zone } = document.documentElement.dataset;
const exact = absolute(zone);
let ahead = 0; // milliseconds that the server's clock is ahead of this one

/** Take the time of a response as the server's clock.
 * @param {Response} response */
export function noteClock(response) {
  const date = response.headers.get("date");
  if (date) ahead = Date.parse(date) - Date.now();
}

/** The format of days and hours in the person's time zone; that of the browser if it does not know this one.
 * @param {string | undefined} timeZone @returns {Intl.DateTimeFormat} */
function absolute(timeZone) {
  const parts = /** @type {const} */ ({ day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  try {
    return new Intl.DateTimeFormat("en-GB", { ...parts, timeZone });
  } catch {
    return new Intl.DateTimeFormat("en-GB", parts);
  }
}

/** Write the times within an element in words, or as day and hour if the person wishes; older than 30 days keep their date.
 * @param {ParentNode} within */
export function tellTimes(within) {
  const now = Date.now() + ahead;
  for (const element of within.querySelectorAll("time[datetime]")) {
    const exactly = element.getAttribute("datetime") ?? "";
    const moment = Date.parse(exactly);
    if (!element.hasAttribute("title")) element.setAttribute("title", exactly.replace("T", " ").replace("Z", " UTC"));
    const seconds = (moment - now) / 1000;
    const step = steps.find(([limit]) => Math.abs(seconds) < limit);
    if (!step) continue;
    const text = times === "absolute" ? exact.format(moment) : words.format(Math.round(seconds / step[2]), step[1]);
    if (element.textContent !== text) element.textContent = text;
  }
}
