// Says whether the stream is alive, keeps the newest event's number, and reloads when the run is over.
const mission = document.getElementById("mission");
const badge = document.getElementById("liveness");
const calm = badge ? badge.textContent : "";
const at = (seq) => {
  mission.dataset.seq = seq;
  const hold = document.getElementById("pause-replay");
  if (hold) hold.href = `/runs/${mission.dataset.run}?at=${seq}`;
};
const lost = (gone) => {
  document.body.classList.toggle("stale", gone);
  badge.textContent = gone ? "RECONNECTING" : calm;
};
if (mission.hasAttribute("hx-sse:connect")) badge.textContent = "CONNECTING"; // live is what has been connected
addEventListener("htmx:sse:after:message", (event) => {
  lost(false);
  const id = event.detail.message && event.detail.message.id;
  if (id) at(id);
});
addEventListener("htmx:sse:after:connection", () => lost(false));
addEventListener("htmx:sse:error", () => lost(true));
addEventListener("htmx:sse:close", () => lost(mission.dataset.over !== "yes"));
addEventListener("reset", () => location.reload());
addEventListener("end", (event) => {
  mission.dataset.over = "yes";
  const seq = JSON.parse(event.detail.data).seq;
  location.assign(`/runs/${mission.dataset.run}${mission.dataset.mode === "replay" ? `?at=${seq}` : ""}`);
});
