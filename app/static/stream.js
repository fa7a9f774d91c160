// Says whether the stream is alive, keeps the newest event's number, and reloads when the run is over.
const mission = document.getElementById("mission");
const badge = document.getElementById("liveness");
const calm = badge ? badge.textContent : "";
const at = (seq) => {
  mission.dataset.seq = seq;
  const hold = document.getElementById("pause-replay");
  if (hold) hold.href = `/runs/${mission.dataset.run}?at=${seq}`;
};
let gone = false, connected = !mission.hasAttribute("hx-sse:connect"); // live is what has been connected
const showState = () => {
  const fault = document.querySelector("#health .fault");
  document.body.classList.toggle("unwell", Boolean(fault && fault.classList.contains("stops")));
  const past = document.body.classList.contains("scrubbing");
  badge.textContent = past ? "REPLAY" : gone ? "RECONNECTING" : !connected ? "CONNECTING" : fault ? fault.dataset.badge : calm;
  badge.title = fault ? fault.dataset.text : "";
};
const lost = (now) => {
  gone = now;
  connected ||= !now;
  document.body.classList.toggle("stale", gone);
  showState();
};
const health = document.getElementById("health");
if (health) new MutationObserver(showState).observe(health, { childList: true });
showState();
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
