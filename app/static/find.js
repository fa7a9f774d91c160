// Opens the command palette: Ctrl-K, Cmd-K or the button in the header. Its script is fetched by the first who opens it;
// if that fails, the button's own page searches.
const opener = document.getElementById("find");
const mac = /Mac|iPhone|iPad/.test(navigator.platform);
if (mac) opener.querySelector("kbd").textContent = "⌘ K";
const toggle = () => import("./palette.js").then((found) => found.toggle(), () => location.assign(opener.href));
opener.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  toggle();
});
addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "k" || event.altKey || event.shiftKey || !(mac ? event.metaKey : event.ctrlKey)) return;
  event.preventDefault();
  toggle();
});
