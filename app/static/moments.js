// Says in words what the marks on a run's time are: the gravest first, wherever there is room for one.
import { asClock } from "./axis.js";

const line = document.getElementById("timeline"), moments = document.getElementById("moments");
const SIGNS = { alarm: "!", escalated: "▲", refused: "✗", asks: "?", undone: "↺" }, GRAVEST = Object.keys(SIGNS);
const LETTER = 6.6, ROOM = 12; // pixels: a measured letter costs a layout for each
const kindOf = (rect) => GRAVEST.find((kind) => rect.classList.contains(kind));
const lay = () => {
  const width = line.clientWidth, length = Number(line.dataset.seconds);
  const marks = [...line.querySelectorAll(".mark[data-words]")].map((rect) => ({ rect, kind: kindOf(rect), place: Number(rect.dataset.place) }));
  marks.sort((one, other) => GRAVEST.indexOf(one.kind) - GRAVEST.indexOf(other.kind) || other.place - one.place);
  const taken = [], shown = [], named = new Set();
  for (const { rect, kind, place } of marks) {
    const x = (width * place) / length, words = `${asClock(place)} ${rect.dataset.words}`, wide = (words.length + 2) * LETTER + ROOM;
    const turned = x + wide > width, left = turned ? x - wide : x;
    if (left < 0 || taken.some(([from, to]) => left < to && from < left + wide)) continue;
    taken.push([left, left + wide]);
    named.add(rect);
    shown.push([kind, turned ? `${words} ${SIGNS[kind]}` : `${SIGNS[kind]} ${words}`, rect.getAttribute("x"), turned, place, rect.id]);
  }
  for (const { rect } of marks) rect.classList.toggle("named", named.has(rect));
  while (moments.children.length > shown.length) moments.lastChild.remove();
  shown.forEach(([kind, words, x, turned, place, mark], number) => {
    const text = moments.children[number] ?? moments.appendChild(document.createElementNS(line.namespaceURI, "text"));
    const now = { class: kind, x, y: 11, dx: turned ? -4 : 5, "text-anchor": turned ? "end" : "start", "data-place": place, "data-mark": mark };
    for (const [name, value] of Object.entries(now)) if (text.getAttribute(name) !== String(value)) text.setAttribute(name, value);
    if (text.textContent !== words) text.textContent = words;
  });
};
// The words lead to their moment. A mark has the number of its event: m123.
moments.addEventListener("click", (event) => {
  const { place, mark } = event.target.dataset;
  dispatchEvent(new CustomEvent("moment:picked", { detail: { place: Number(place), event: mark.slice(1) } }));
});
new ResizeObserver(lay).observe(line);
setInterval(lay, 1000);
