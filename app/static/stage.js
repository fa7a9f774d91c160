// Whose lane is shown in full: who is at work, or the one that was clicked, until it is clicked again.
const lanes = document.querySelector(".lanes");
lanes.addEventListener("click", (event) => {
  const step = event.target.closest(".step");
  if (!step) return;
  const role = step.dataset.role;
  if (lanes.dataset.pinned === role) delete lanes.dataset.pinned;
  else lanes.dataset.pinned = role;
});
// What the feed is narrowed to stands in the address.
const narrowed = document.getElementById(`only-${new URL(location.href).searchParams.get("only")}`);
if (narrowed) narrowed.checked = true;
document.querySelector(".only").addEventListener("change", (event) => {
  const here = new URL(location.href);
  const kind = event.target.id.replace("only-", "");
  if (kind === "all") here.searchParams.delete("only");
  else here.searchParams.set("only", kind);
  history.replaceState(null, "", here);
});
