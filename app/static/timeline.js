// The strip of time grows while a run is at work; it is dragged, touched or stepped with arrows, and the page follows
// without being loaded anew.
import { Axis, asClock } from "./axis.js";

const bar = document.getElementById("t");
const stage = document.getElementById("mission");
const line = document.getElementById("timeline");
const chart = document.querySelector(".scrubber [data-strip]");
const plays = stage.dataset.mode === "replay" && stage.hasAttribute("hx-sse:connect");
const axis = new Axis(Number(line.dataset.zero), JSON.parse(line.dataset.waits));
const ahead = Date.now() / 1000 - Number(stage.dataset.now); // of the server's clock
const body = document.body.classList;
let past = stage.dataset.mode !== "live"; // the page shows another moment than now
let length = Number(line.dataset.seconds);

const show = (seconds) => {
  document.getElementById("t-out").textContent = asClock(seconds);
  bar.setAttribute("aria-valuetext", `${asClock(seconds)} of ${asClock(length)}`);
  chart?.dispatchEvent(new CustomEvent("strip:cursor", { detail: { at: Number(seconds) } }));
};

// ── growing ──
const STEPS = [5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 28800, 86400], MOST_TICKS = 8;
const percent = (seconds) => `${Math.round((100000 * seconds) / length) / 1000}%`;
const lay = (rect) => {
  const place = Number(rect.dataset.place), end = rect.dataset.end === undefined ? length : Number(rect.dataset.end);
  rect.setAttribute("x", percent(place));
  rect.setAttribute("width", percent(Math.max(0, Math.min(end, length) - place)));
};
const drawTicks = () => {
  const ticks = document.getElementById("ticks"), step = STEPS.find((one) => length / one <= MOST_TICKS) ?? STEPS.at(-1);
  const marked = [];
  for (let at = step; at < length * 0.97; at += step) marked.push(at);
  while (ticks.children.length > marked.length) ticks.lastChild.remove();
  marked.forEach((at, number) => {
    const text = ticks.children[number] ?? ticks.appendChild(document.createElementNS(line.namespaceURI, "text"));
    text.setAttribute("x", percent(at));
    text.setAttribute("y", 51);
    text.setAttribute("text-anchor", "middle");
    text.textContent = asClock(at);
  });
};
// One second more, or one stretch more. All is laid out anew only where that moves it by something that can be seen.
let laid = length;
const grow = () => {
  if (!("began" in line.dataset)) return;
  if (!("over" in line.dataset)) length = Math.max(axis.toPlace(Date.now() / 1000 - ahead), 0.1);
  const all = Math.abs(length - laid) > laid / 1000;
  if (all) laid = length;
  for (const rect of line.querySelectorAll(all ? "#stretches rect" : "#stretches rect:not([data-end])")) lay(rect);
  drawTicks();
  bar.step = length > 60 ? 1 : 0.1;
  bar.max = length > 60 ? Math.ceil(length) : length;
  line.dataset.seconds = length.toFixed(1);
  if (past || bar.matches(":active")) return;
  bar.value = bar.max;
  show(length);
};
const put = (id, row, kind, text, since, until, words = "") => {
  let rect = document.getElementById(id);
  if (!rect) {
    rect = document.createElementNS(line.namespaceURI, "rect");
    rect.id = id;
    rect.append(document.createElementNS(line.namespaceURI, "title"));
    document.getElementById("stretches").append(rect);
  }
  rect.setAttribute("class", `${row} ${kind}`);
  rect.firstChild.textContent = text;
  if (words) rect.dataset.words = words;
  rect.dataset.place = axis.toPlace(since);
  if (until === null) delete rect.dataset.end;
  else rect.dataset.end = axis.toPlace(until);
  lay(rect);
};
const take = ({ began, over, stretches }) => {
  if (began && !("began" in line.dataset)) {
    axis.zero = began;
    line.dataset.began = "";
    document.querySelector(".rail .queued").hidden = true;
    for (const one of document.querySelectorAll(".overtime[data-strip]")) one.dataset.since = began;
  }
  for (const { row, since, until } of stretches) {
    const known = axis.waits.find(([begun]) => begun === since);
    if (row === "wait" && known) known[1] = until;
    else if (row === "wait") axis.waits.push([since, until]);
  }
  if (over && !("over" in line.dataset)) {
    length = axis.toPlace(Math.max(...stretches.map((one) => one.until ?? one.since), Date.now() / 1000 - ahead));
    line.dataset.over = "";
  }
  for (const { id, row, kind, since, until, text, words } of stretches) put(id, row, kind, text, since, until, words);
  grow();
};
// An engine that stands still is hatched over the turn that waits for it, from when that was recorded until it answers:
// nothing is decoded there. A page that is loaded anew has the same from the log.
const watchEngines = () => {
  for (const meter of document.querySelectorAll(".metered:has([data-down])")) {
    const since = Number(meter.querySelector("[data-down]").dataset.down), engine = meter.id.replace("meter-", "");
    const id = `o${engine}-${since.toFixed(0)}`;
    if (!document.getElementById(id)) put(id, "outage", "stalled", `${engine} does not answer`, since, null);
  }
  for (const rect of document.querySelectorAll("#stretches .outage:not([data-end])")) {
    const engine = rect.id.slice(1, rect.id.lastIndexOf("-"));
    if (!document.querySelector(`#meter-${CSS.escape(engine)} [data-down]`)) rect.dataset.end = axis.toPlace(Date.now() / 1000 - ahead);
  }
};
if (!plays && !("over" in line.dataset)) {
  addEventListener("timeline", (event) => take(JSON.parse(event.detail.data)));
  setInterval(() => {
    if (body.contains("stale")) return; // nobody knows what happens
    if (!past) watchEngines();
    grow();
  }, 1000);
  grow();
}
// A page that was opened at a past moment of a run at work listens for what grows, and for nothing else.
if (line.dataset.follow && !plays) {
  const told = new EventSource(line.dataset.follow);
  told.addEventListener("timeline", (event) => take(JSON.parse(event.data)));
  told.addEventListener("end", () => told.close());
}

// ── dragging ──
let wanted = null;
let busy = false;
const follow = async () => {
  if (busy || wanted === null) return;
  const asked = wanted;
  wanted = null;
  busy = true;
  try {
    await htmx.ajax("GET", `/runs/${stage.dataset.run}/moment?${asked}`, { source: stage, target: stage, swap: "none" });
  } finally {
    busy = false;
  }
  const place = document.getElementById("place");
  stage.dataset.seq = place.dataset.seq;
  const only = new URL(location.href).searchParams.get("only");
  history.replaceState(null, "", `/runs/${stage.dataset.run}?at=${place.dataset.seq}${only ? `&only=${only}` : ""}${location.hash}`);
  if (asked.startsWith("at=")) bar.value = place.dataset.time;
  show(asked.startsWith("at=") ? place.dataset.time : bar.value);
  follow();
};
const go = (asked) => {
  past = true;
  body.add("scrubbing");
  body.remove("unwell");
  for (const poll of document.querySelectorAll(".machine [hx-get]")) poll.remove(); // it tells of now
  document.getElementById("liveness").textContent = "REPLAY";
  wanted = asked;
  follow();
};
// Where the page shows a past moment, its stream goes on for the strip alone.
const KEPT = ["timeline", "samples"];
addEventListener("htmx:sse:before:message", (event) => {
  const name = event.detail.message.event;
  if (!body.contains("scrubbing") || KEPT.includes(name)) return;
  if (name === "end") stage.dataset.over = "yes";
  event.preventDefault();
});
bar.addEventListener("input", () => (plays ? show(bar.value) : go(`w=${bar.value}`)));
bar.addEventListener("change", () => plays && bar.form.requestSubmit());
// A hand on the chart above is a hand on the bar.
for (const [told, name] of [["strip:seek", "input"], ["strip:picked", "change"]]) {
  addEventListener(told, (event) => {
    bar.value = event.detail.at;
    bar.dispatchEvent(new Event(name));
  });
}
addEventListener("moment:picked", (event) => {
  bar.value = event.detail.place; // rounded to a step of the bar, in which much can happen
  if (plays) bar.form.requestSubmit();
  else go(`at=${event.detail.event}`);
});
document.getElementById("speed").addEventListener("change", () => bar.form.requestSubmit());
document.getElementById("steps").addEventListener("click", (event) => {
  const link = event.target.closest("#previous, #next");
  if (!link || plays || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  go(`at=${new URL(link.href).searchParams.get("at")}`);
});
// A replay brings the clock along: the handle goes with it, unless a hand is on it.
addEventListener("htmx:after:swap", () => {
  const told = document.querySelector("#clock [data-at]");
  if (!plays || !told || bar.matches(":active")) return;
  bar.value = axis.toPlace(Number(told.dataset.at));
  show(bar.value);
});
