// Forms: Enter sends a box of one line, and a form with a part shows it again when a field has changed.
import { fetchPart, showPart } from "./parts.js";

/** Start the forms of this page. */
export function startForms() {
  for (const box of document.querySelectorAll("textarea[data-enter]")) {
    box.addEventListener("keydown", (event) => {
      const key = /** @type {KeyboardEvent} */ (event);
      if (key.key !== "Enter" || key.shiftKey || key.isComposing) return;
      key.preventDefault();
      /** @type {HTMLTextAreaElement} */ (box).form?.requestSubmit();
    });
  }
  for (const form of document.querySelectorAll("form[data-part-form]")) startPart(/** @type {HTMLFormElement} */ (form));
}

const PAUSE = 350; // milliseconds after the last letter

/** @param {HTMLFormElement} form */
function startPart(form) {
  const name = form.dataset.partForm ?? "";
  const target = document.getElementById(name);
  let asked = 0, timer = 0;
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(show, PAUSE);
  });
  async function show() {
    const fields = new URLSearchParams(/** @type {[string, string][]} */ ([...new FormData(form)].filter(([, value]) => value)));
    const mine = ++asked;
    if (!target || !fields.get("text")) return;
    try {
      const found = await fetchPart(`${form.dataset.partAddress}?${fields}`, name, null);
      if (found && mine === asked) showPart(target, found.html);
    } catch { /* the answer to the whole form says what is wrong */ }
  }
}
