// Whose lane is shown in full: who is at work, or the one that was clicked, until it is clicked again.
const lanes = document.querySelector(".lanes");
lanes.addEventListener("click", (event) => {
  const step = event.target.closest(".step");
  if (!step) return;
  const role = step.dataset.role;
  if (lanes.dataset.pinned === role) delete lanes.dataset.pinned;
  else lanes.dataset.pinned = role;
});
// An introduction that was closed stays closed.
// Told by the click: the toggle's own event comes later, and the page may be gone by then.
const intro = document.querySelector(".intro");
if (intro)
  intro.querySelector("summary").addEventListener("click", () => {
    document.cookie = `temper-intro=${intro.open ? "closed" : "open"}; path=/; max-age=31536000; samesite=lax`;
  });
