// Words of the modules: English, or what the page brings for its language.

const known = /** @type {Record<string, string>} */ (JSON.parse(document.body.dataset.words || "{}"));

/** The language of the page. */
export const language = document.documentElement.lang || "en";

/** Say an English message in the language of the page; `%(name)s` stands for a value.
 * @param {string} message @param {Record<string, string | number>} [values] @returns {string} */
export function say(message, values = {}) {
  return (known[message] ?? message).replace(/%\((\w+)\)s/g, (_, name) => String(values[name] ?? ""));
}
