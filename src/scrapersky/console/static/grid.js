// Selecting rows of a grid: all of the page, a range with Shift, and how many are selected.

/** Add the box that selects the page, ranges and the count to every grid. */
export function startGrids() {
  for (const form of document.querySelectorAll("form[data-grid]")) startGrid(/** @type {HTMLFormElement} */ (form));
}

/** @param {HTMLFormElement} form */
function startGrid(form) {
  const boxes = () => /** @type {HTMLInputElement[]} */ ([...form.querySelectorAll("tbody input[name=id]")]);
  const head = form.querySelector("thead .tick");
  const count = form.querySelector("[data-selected]");
  if (!head || !count) return;
  const all = document.createElement("input");
  all.type = "checkbox";
  all.setAttribute("aria-label", "Select all rows of this page");
  head.replaceChildren(all);
  let last = -1;
  const tell = () => {
    const chosen = boxes().filter((box) => box.checked).length;
    count.textContent = chosen ? `${chosen} selected:` : "Selected rows:";
    all.checked = chosen > 0 && chosen === boxes().length;
    all.indeterminate = chosen > 0 && !all.checked;
  };
  all.addEventListener("change", () => {
    for (const box of boxes()) box.checked = all.checked;
    tell();
  });
  form.addEventListener("click", (event) => {
    const place = boxes().indexOf(/** @type {HTMLInputElement} */ (event.target));
    if (place < 0) return;
    const chosen = boxes()[place].checked;
    if (event.shiftKey && last >= 0) {
      for (const box of boxes().slice(Math.min(place, last), Math.max(place, last) + 1)) box.checked = chosen;
    }
    last = place;
    tell();
  });
  tell();
}
