// The console's entry module: times in words, menus, selection; keys and live parts have modules of their own.
import { tellTimes } from "./times.js";
import { startKeys } from "./keys.js";
import { startLive } from "./live.js";
import { startGrids } from "./grid.js";

/** Close open menus when the person clicks elsewhere or presses Escape. */
function startMenus() {
  const menus = () => /** @type {NodeListOf<HTMLDetailsElement>} */ (document.querySelectorAll("details.menu[open]"));
  document.addEventListener("click", (event) => {
    for (const menu of menus()) if (!menu.contains(/** @type {Node} */ (event.target))) menu.open = false;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of menus()) {
      menu.open = false;
      menu.querySelector("summary")?.focus();
      event.stopImmediatePropagation();
    }
  });
}

startMenus();
tellTimes(document);
setInterval(() => tellTimes(document), 10_000);
startGrids();
startKeys();
startLive();
