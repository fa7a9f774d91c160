// Colours and density of every page. They are kept in a cookie, which the server reads: no page is ever drawn in the wrong ones first.
const menu = document.getElementById("display");
const root = document.documentElement;
const YEAR = 31536000;
menu.addEventListener("change", ({ target }) => {
  if (target.value) root.dataset[target.name] = target.value;
  else delete root.dataset[target.name];
  const { scheme = "", density = "" } = root.dataset;
  document.querySelector('meta[name="color-scheme"]').content = scheme || "dark light";
  document.cookie = `temper-looks=${scheme}.${density}; path=/; max-age=${YEAR}; samesite=lax`;
  dispatchEvent(new Event("scheme"));
});
addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !menu.open) return;
  menu.open = false;
  if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
});
addEventListener("pointerdown", (event) => { if (!menu.contains(event.target)) menu.open = false; });
menu.addEventListener("focusout", (event) => { if (event.relatedTarget && !menu.contains(event.relatedTarget)) menu.open = false; });
menu.querySelector("a")?.addEventListener("click", () => { menu.open = false; });
