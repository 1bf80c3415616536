// The toast: what an action has done, above the buttons of the list, in a region of its own.
import { announce } from "./parts.js";

const SHOWN = 8_000; // milliseconds, without something to press in it

/** Show a toast in place of the former one, and say it. @param {string | Element} told */
export function showToast(told) {
  const region = document.getElementById("toasts");
  const toast = typeof told === "string" ? document.createElement("div") : told;
  if (!region) return;
  if (typeof told === "string") {
    toast.className = "toast";
    toast.append(Object.assign(document.createElement("p"), { textContent: told }));
  }
  const foot = document.querySelector(".grid-form .foot")?.getBoundingClientRect();
  const above = foot && foot.top < innerHeight ? innerHeight - foot.top : 0;
  region.style.setProperty("--above", `${above}px`);
  region.replaceChildren(toast);
  toast.querySelector("[data-close-toast]")?.addEventListener("click", () => toast.remove());
  announce(toast.querySelector("p")?.textContent ?? "");
  if (!toast.querySelector("form")) setTimeout(() => toast.remove(), SHOWN);
}
