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

const ACTS = ["href", "action", "name", "value"];
const FOCUSABLE = "a, button, summary, [tabindex='0']";

/** Replace the content of an element; the focus goes back to the same link or button, regions stay scrolled.
 * @param {Element} target @param {string} html */
export function showPart(target, html) {
  const active = document.activeElement;
  const place = active && target.contains(active) ? [...target.querySelectorAll(FOCUSABLE)].indexOf(active) : -1;
  const scrolled = regions(target).map((region) => [region.scrollLeft, region.scrollTop]);
  target.replaceChildren(parsePart(html));
  regions(target).forEach((region, index) => region.scrollTo(scrolled[index]?.[0] ?? 0, scrolled[index]?.[1] ?? 0));
  if (place >= 0) {
    const again = /** @type {HTMLElement | undefined} */ ([...target.querySelectorAll(FOCUSABLE)][place]);
    again?.focus({ preventScroll: true });
  }
}

/** Change an element into what has come: what is the same stays as it is, with its focus, its selection and its scroll, and so
 * does a link or a button that the pointer is pressing. @param {Element} target @param {string} html */
export function changePart(target, html) {
  const fresh = parsePart(html);
  for (const around of [target, fresh]) { // blanks around a part are those of its page
    for (const node of [around.firstChild, around.lastChild]) if (node instanceof Text && !node.data.trim()) node.remove();
  }
  changeChildren(target, fresh);
}

/** @param {ParentNode & Node} old @param {ParentNode & Node} fresh */
function changeChildren(old, fresh) {
  const former = [...old.childNodes];
  [...fresh.childNodes].forEach((node, place) => {
    const was = former[place];
    if (!was) old.append(node);
    else if (was instanceof Element && node instanceof Element && isSame(was, node)) changeElement(was, node);
    else if (!was.isEqualNode(node)) was.replaceWith(node);
  });
  for (const node of former.slice(fresh.childNodes.length)) node.remove();
}

/** Whether an element may become another one: a link, a form and a button must not change what they do under the pointer.
 * @param {Element} was @param {Element} now */
function isSame(was, now) {
  return was.nodeName === now.nodeName && ACTS.every((name) => was.getAttribute(name) === now.getAttribute(name));
}

/** @param {Element} was @param {Element} now */
function changeElement(was, now) {
  if (was.isEqualNode(now)) return;
  for (const { name, value } of now.attributes) if (was.getAttribute(name) !== value) was.setAttribute(name, value);
  for (const { name } of [...was.attributes]) if (!now.hasAttribute(name) && name !== "open") was.removeAttribute(name);
  changeChildren(was, now);
}

/** @param {Element} target */
function regions(target) {
  return [...target.querySelectorAll("[role=region]")];
}

/** Say something to assistive technology.
 * @param {string} text */
export function announce(text) {
  const status = document.getElementById("status");
  if (status) status.textContent = text;
}
