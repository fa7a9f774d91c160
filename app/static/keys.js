// Single keys, never in a field and never with a modifier: space plays and holds, brackets step from item to item, t is for a projector.
const KEYS = { "[": "previous", "]": "next", " ": "play", l: "live" };
const theatre = () => document.documentElement.classList.toggle("theatre", location.hash === "#theatre");
addEventListener("hashchange", theatre);
theatre();
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, select, textarea, button, a, summary, [role=log]")) return;
  if (event.key === "t") location.hash = location.hash === "#theatre" ? "" : "#theatre";
  const name = KEYS[event.key];
  if (!name) return;
  const link =
    name === "live"
      ? document.querySelector(".scrubber .jump")
      : document.getElementById(name) || (name === "play" && document.getElementById("pause-replay"));
  if (!link) return;
  event.preventDefault();
  link.click();
});
