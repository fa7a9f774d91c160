// The strip of time is dragged, touched or stepped with arrows, and the page follows without being loaded anew.
const bar = document.getElementById("t");
const stage = document.getElementById("mission");
const still = stage.dataset.mode !== "live" && !stage.hasAttribute("hx-sse:connect");
const chart = document.querySelector(".scrubber [data-strip]");
const asClock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
const show = (seconds) => {
  document.getElementById("t-out").textContent = asClock(seconds);
  bar.setAttribute("aria-valuetext", `${asClock(seconds)} of ${asClock(bar.max)}`);
  chart?.dispatchEvent(new CustomEvent("strip:cursor", { detail: { at: Number(bar.dataset.began) + Number(seconds) } }));
};
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
  show(place.dataset.time);
  follow();
};
const go = (asked) => {
  document.body.classList.add("scrubbing");
  for (const poll of document.querySelectorAll(".machine [hx-get]")) poll.remove(); // it tells of now
  document.getElementById("liveness").textContent = "REPLAY";
  wanted = asked;
  follow();
};
bar.addEventListener("input", () => (still ? go(`t=${bar.value}`) : show(bar.value)));
bar.addEventListener("change", () => still || bar.form.requestSubmit());
// A hand on the chart above is a hand on the bar.
for (const [told, name] of [["strip:seek", "input"], ["strip:picked", "change"]]) {
  addEventListener(told, (event) => {
    bar.value = event.detail.at - bar.dataset.began;
    bar.dispatchEvent(new Event(name));
  });
}
document.getElementById("speed").addEventListener("change", () => bar.form.requestSubmit());
document.getElementById("steps").addEventListener("click", (event) => {
  const link = event.target.closest("#previous, #next");
  if (!link || !still || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  go(`at=${new URL(link.href).searchParams.get("at")}`);
});
// A stream brings the clock along: the handle goes with it, unless a hand is on it.
addEventListener("htmx:after:swap", () => {
  const told = document.querySelector("#clock [data-at]");
  if (still || !told || bar.matches(":active")) return;
  const seconds = Number(told.dataset.at) - Number(bar.dataset.began);
  bar.max = Math.max(bar.max, seconds);
  bar.value = seconds;
  show(seconds);
});
