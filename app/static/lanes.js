// Who used each engine, on an axis that ends now: it moves on between events, what lasts grows, and an engine that does
// not answer, or a page that hears nothing, leaves a gap from when that began.
const stage = document.getElementById("mission");
const ahead = Date.now() / 1000 - Number(stage.dataset.now); // of the server's clock
let lost = null;
const draw = (lane, now, down) => {
  const at = Number((lane.dataset.at ??= now)), part = 100 / Number(lane.dataset.seconds);
  const moved = Math.max(0, (now - at) * part);
  lane.setAttribute("viewBox", `${moved.toFixed(2)} 0 100 8`);
  let gap = lane.querySelector("[data-lasts]");
  if (gap && !down) {
    gap.setAttribute("width", Math.max(0, 100 + moved - gap.getAttribute("x")).toFixed(2));
    delete gap.dataset.lasts;
  } else if (!gap && down) {
    gap = lane.appendChild(document.createElementNS(lane.namespaceURI, "rect"));
    gap.setAttribute("class", "gap");
    gap.dataset.lasts = "";
    for (const [name, value] of Object.entries({ x: (100 - (at - down) * part).toFixed(2), width: 400, height: 8 })) gap.setAttribute(name, value);
  }
};
const move = () => {
  const { classList } = document.body, now = Date.now() / 1000 - ahead;
  if (classList.contains("scrubbing")) return; // a past moment stands still
  lost = classList.contains("stale") ? (lost ?? now) : null;
  for (const engine of document.querySelectorAll(".machine .engine")) {
    const down = Number(engine.querySelector("[data-down]")?.dataset.down) || lost;
    for (const lane of engine.querySelectorAll(".held")) draw(lane, now, down);
  }
};
if (stage.dataset.mode === "live") {
  setInterval(move, 1000);
  addEventListener("htmx:after:swap", move);
  move();
}
