// The command palette, fetched by find.js. The server searches and knows what the person may see; a result is a link, so
// an action leads to its own button or form. The dialog keeps the focus and gives it back.
const dialog = document.getElementById("palette");
const words = document.getElementById("palette-words");
const list = document.getElementById("palette-found");
const said = dialog.querySelector("[role=status]");
let asked = 0, timer = 0, pending = false, entered = false;

const options = () => [...list.querySelectorAll("[role=option]")];
const chosen = () => list.querySelector("[aria-selected=true]");
const choose = (one) => {
  chosen()?.setAttribute("aria-selected", "false");
  one?.setAttribute("aria-selected", "true");
  if (one) words.setAttribute("aria-activedescendant", one.id);
  else words.removeAttribute("aria-activedescendant");
  one?.scrollIntoView({ block: "nearest" });
};
const show = (html, sentence) => {
  list.innerHTML = html; // from our own server, which escapes every word in it
  const count = options().length;
  list.hidden = count === 0;
  words.setAttribute("aria-expanded", String(count > 0));
  said.textContent = sentence ?? (count ? `${count} result${count === 1 ? "" : "s"}` : "Nothing found. Use fewer or shorter words.");
  choose(options()[0]);
  pending = false;
  if (entered) go(chosen());
};
const search = async () => {
  pending = true;
  const mine = ++asked, run = document.getElementById("mission")?.dataset.run ?? "";
  const query = new URLSearchParams({ q: words.value, run, part: "1" });
  const answer = await fetch(`${dialog.dataset.from}?${query}`).then((one) => (one.ok ? one.text() : null), () => null);
  if (mine === asked) show(answer ?? "", answer === null ? "The server does not answer. Try again in a moment." : undefined);
};
const open = () => {
  dialog.showModal();
  words.select();
  entered = false;
  search();
};
const go = (one) => {
  entered = false;
  if (!one) return;
  dialog.close(); // gives the focus back first
  if (one.dataset.press) return document.getElementById(one.dataset.press).click();
  const there = new URL(one.href);
  if (!there.hash || there.pathname !== location.pathname) return location.assign(one.href);
  location.hash = there.hash;
  document.getElementById(there.hash.slice(1))?.focus();
};

export const toggle = () => { if (dialog.open) dialog.close(); else open(); };

words.addEventListener("input", () => { asked += 1; pending = true; entered = false; clearTimeout(timer); timer = setTimeout(search, 80); });
words.addEventListener("keydown", (event) => {
  const all = options(), at = all.indexOf(chosen());
  const next = { ArrowDown: (at + 1) % all.length, ArrowUp: (at + all.length - 1) % all.length }[event.key];
  if (next !== undefined) { event.preventDefault(); choose(all[next]); }
  if (event.key !== "Enter" || event.isComposing) return;
  event.preventDefault();
  if (pending) entered = true; // the results of these words are on their way
  else go(chosen());
});
list.addEventListener("click", (event) => {
  const one = event.target.closest("[role=option]");
  if (!one || ((event.ctrlKey || event.metaKey || event.shiftKey) && !one.dataset.press)) return;
  event.preventDefault();
  go(one);
});
list.addEventListener("pointermove", (event) => { const one = event.target.closest("[role=option]"); if (one && one !== chosen()) choose(one); });
dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
