// The console's entry module: times in words and menus; grids, keys and live parts have modules of their own.
import { tellTimes } from "./times.js";
import { startKeys } from "./keys.js";
import { startLive } from "./live.js";
import { startForms } from "./forms.js";
import { startGrids } from "./grid.js";
import { startEndless } from "./endless.js";
import { startFilters } from "./filters.js";
import { startPanel } from "./panel.js";
import { startMap } from "./map.js";
import { startPalette } from "./palette.js";

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
startForms();
startGrids();
startEndless();
startFilters();
startPanel();
startMap();
startPalette();
startKeys();
startLive();
