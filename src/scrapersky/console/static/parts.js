// Parts of pages: fetched by name, parsed by the one Trusted Types policy, put in place without moving the focus.
import { noteClock, tellTimes } from "./times.js";

/** @typedef {{createPolicy(name: string, rules: {createHTML(html: string): string}): {createHTML(html: string): string}}} TrustedTypes */
const { trustedTypes } = /** @type {{trustedTypes?: TrustedTypes}} */ (/** @type {unknown} */ (globalThis));
const policy = trustedTypes?.createPolicy("console", { createHTML: (html) => html });

/** Ask for one part of a page; null if it is the same as before.
 * @param {string} address @param {string} part @param {string | null} tag @param {RequestInit} [more]
 * @returns {Promise<{html: string, tag: string | null} | null>} */
export async function fetchPart(address, part, tag = null, more = {}) {
  const headers = new Headers({ "Console-Part": part });
  if (tag) headers.set("If-None-Match", tag);
  const response = await fetch(address, { headers, redirect: "error", ...more });
  noteClock(response);
  if (response.status === 304) return null;
  if (response.status === 401) location.assign(location.href);
  if (!response.ok) throw new PartFailed(response.status, Number(response.headers.get("retry-after")) || 0);
  return { html: await response.text(), tag: response.headers.get("etag") };
}

/** A part that could not be read. */
export class PartFailed extends Error {
  /** @param {number} status @param {number} wait seconds until the next try */
  constructor(status, wait) {
    super(`status ${status}`);
    this.wait = wait;
  }
}

/** Parse the HTML of a part.
 * @param {string} html @returns {DocumentFragment} */
export function parsePart(html) {
  const template = document.createElement("template");
  template.innerHTML = /** @type {string} */ (policy ? policy.createHTML(html) : html);
  tellTimes(template.content);
  return template.content;
}

/** Replace the content of an element; the focus goes back to the same link or button.
 * @param {Element} target @param {string} html */
export function showPart(target, html) {
  const active = document.activeElement;
  const place = active && target.contains(active) ? [...target.querySelectorAll("a, button, summary")].indexOf(active) : -1;
  target.replaceChildren(parsePart(html));
  if (place >= 0) /** @type {HTMLElement | undefined} */ ([...target.querySelectorAll("a, button, summary")][place])?.focus();
}

/** Say something to assistive technology.
 * @param {string} text */
export function announce(text) {
  const status = document.getElementById("status");
  if (status) status.textContent = text;
}
