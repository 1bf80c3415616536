// The map: a box drawn with Shift and the pointer becomes a filter; without Shift the pointer moves the map.
const WIDTH = 960, HEIGHT = 600, TILE = 256;

/** Let the pointer draw boxes and move the map of this page. */
export function startMap() {
  const figure = /** @type {HTMLElement | null} */ (document.querySelector("[data-map]"));
  const svg = figure?.querySelector("svg");
  const drawn = svg?.querySelector(".drawn");
  if (!figure || !svg || !drawn) return;
  // Narrower than the map on phones, where it begins with most of the places; after a move with its middle.
  const area = svg.parentElement, most = new URLSearchParams(location.search).has("at") ? null : svg.querySelector("circle");
  if (area) area.scrollLeft = area.scrollWidth * (Number(most?.getAttribute("cx") ?? WIDTH / 2) / WIDTH) - area.clientWidth / 2;
  let from = /** @type {[number, number] | null} */ (null), isBox = false, moved = false;
  const at = (/** @type {PointerEvent} */ event) => {
    const box = svg.getBoundingClientRect();
    return /** @type {[number, number]} */ ([
      (event.clientX - box.left) / box.width * WIDTH,
      (event.clientY - box.top) / box.height * HEIGHT,
    ]);
  };
  svg.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    [from, isBox, moved] = [at(event), event.shiftKey, false];
  });
  svg.addEventListener("dragstart", (event) => event.preventDefault());
  addEventListener("pointermove", (event) => {
    if (!from) return;
    const [x, y] = at(event);
    if (Math.hypot(x - from[0], y - from[1]) < 5) return;
    moved = true;
    if (!isBox) return svg.setAttribute("viewBox", `${from[0] - x} ${from[1] - y} ${WIDTH} ${HEIGHT}`);
    drawn.removeAttribute("hidden");
    for (
      const [name, value] of Object.entries({
        x: Math.min(x, from[0]),
        y: Math.min(y, from[1]),
        width: Math.abs(x - from[0]),
        height: Math.abs(y - from[1]),
      })
    ) drawn.setAttribute(name, String(value));
  });
  addEventListener("pointerup", (event) => {
    if (!from || !moved) return void (from = null);
    const [[x, y], [left, top]] = [at(event), from];
    from = null;
    const address = new URL(location.href);
    if (isBox) {
      const [north, west] = place(figure, Math.min(x, left), Math.min(y, top));
      const [south, east] = place(figure, Math.max(x, left), Math.max(y, top));
      address.searchParams.set("box", [west, south, east, north].map((one) => one.toFixed(4)).join(","));
    }
    const [latitude, longitude] = isBox
      ? [Number(figure.dataset.latitude), Number(figure.dataset.longitude)]
      : place(figure, WIDTH / 2 + left - x, HEIGHT / 2 + top - y);
    address.searchParams.set("at", `${latitude.toFixed(5)},${longitude.toFixed(5)}`);
    address.searchParams.set("zoom", figure.dataset.zoom ?? "0");
    location.assign(address);
  });
  svg.addEventListener("click", (event) => moved && event.preventDefault(), true);
}

/** The latitude and the longitude of a pixel. @param {HTMLElement} figure @param {number} x @param {number} y @returns {[number, number]} */
function place(figure, x, y) {
  const size = TILE * 2 ** Number(figure.dataset.zoom);
  const radians = Number(figure.dataset.latitude) * Math.PI / 180;
  const across = (Number(figure.dataset.longitude) + 180) / 360 + (x - WIDTH / 2) / size;
  const down = Math.min(1, Math.max(0, (1 - Math.asinh(Math.tan(radians)) / Math.PI) / 2 + (y - HEIGHT / 2) / size));
  return [Math.atan(Math.sinh(Math.PI * (1 - 2 * down))) * 180 / Math.PI, ((across % 1) + 1) % 1 * 360 - 180];
}
