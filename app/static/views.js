// Saved views: the filters of this page's address under a name, kept in this browser and apart for each person who signs in.
const MOST = 30, SKIPPED = ["after", "page"];
const menu = document.querySelector("details.views");
const build = () => {
  const key = `temper-views:${menu.dataset.views}:${document.body.dataset.reader ?? ""}`;
  const list = menu.querySelector("ul"), name = menu.querySelector("input"), said = menu.querySelector("[role=status]");
  const load = () => {
    try {
      const found = JSON.parse(localStorage.getItem(key) ?? "[]");
      return found.filter((one) => typeof one?.name === "string" && typeof one.query === "string").slice(0, MOST);
    } catch { return []; }
  };
  const store = (views, sentence) => {
    try { localStorage.setItem(key, JSON.stringify(views)); } catch { sentence = "This browser keeps nothing for this page: allow it to store data."; }
    said.textContent = sentence;
    draw();
  };
  const row = (one) => {
    const item = document.createElement("li"), link = document.createElement("a"), gone = document.createElement("button");
    const query = new URLSearchParams(one.query).toString();
    link.textContent = one.name;
    link.href = location.pathname + (query && `?${query}`);
    if (query === here()) link.setAttribute("aria-current", "page");
    gone.type = "button";
    gone.textContent = "Remove";
    gone.setAttribute("aria-label", `Remove the view ${one.name}`);
    gone.addEventListener("click", () => { store(load().filter((other) => other.name !== one.name), `Removed ${one.name}.`); name.focus(); });
    item.append(link, gone);
    return item;
  };
  const here = () => {
    const query = new URLSearchParams(location.search);
    for (const [one, value] of [...query]) if (!value || SKIPPED.includes(one)) query.delete(one);
    return query.toString();
  };
  const draw = () => {
    const views = load();
    list.replaceChildren(...views.map(row));
    menu.querySelector(".none").hidden = views.length > 0;
  };
  const save = () => {
    const words = name.value.trim().replace(/\s+/g, " "), others = load().filter((one) => one.name !== words);
    if (!words) { said.textContent = "Enter a name."; return name.focus(); }
    if (others.length >= MOST) { said.textContent = `There are ${MOST} views. Remove one first.`; return; }
    name.value = "";
    store([...others, { name: words, query: here() }].sort((one, other) => one.name.localeCompare(other.name)), `Saved ${words}.`);
  };
  menu.querySelector(":scope .panel > button").addEventListener("click", save);
  name.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); save(); } }); // not the form of the filters
  addEventListener("keydown", (event) => { if (event.key === "Escape" && menu.open) { menu.open = false; menu.querySelector("summary").focus(); } });
  addEventListener("pointerdown", (event) => { if (!menu.contains(event.target)) menu.open = false; });
  delete menu.dataset.waits; // its place was kept: nothing moves
  draw();
};
if (menu) build();
