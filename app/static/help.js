// Search in the documentation. The index is a script, so that pages opened from a disk can load it, too.
const form = document.getElementById("help-search");
const field = document.getElementById("help-words");
const count = document.getElementById("help-count");
const list = document.getElementById("help-found");
const MOST = 20;
form.hidden = false;
form.addEventListener("submit", (event) => event.preventDefault());
let loading;
const load = () => loading ??= new Promise((loaded) => {
  const script = document.createElement("script");
  script.src = form.dataset.index;
  script.onload = loaded;
  document.head.append(script);
});
const weigh = (entry, words) => {
  const [, title, heading, text] = entry.map((one) => one.toLowerCase());
  let weight = 0;
  for (const word of words) {
    const places = (heading.includes(word) ? 8 : 0) + (title.includes(word) ? 4 : 0) + Math.min(text.split(word).length - 1, 3);
    if (!places) return 0;
    weight += places;
  }
  return weight;
};
const excerpt = (text, word) => {
  const at = Math.max(0, text.toLowerCase().indexOf(word) - 60);
  return (at ? "… " : "") + text.slice(at, at + 180) + (at + 180 < text.length ? " …" : "");
};
const draw = ([address, title, heading, text], words) => {
  const item = document.createElement("li");
  const link = item.appendChild(document.createElement("a"));
  link.href = form.dataset.root + address;
  link.textContent = heading === title ? title : `${title}: ${heading}`;
  item.appendChild(document.createElement("p")).textContent = excerpt(text, words[0]);
  return item;
};
const search = async () => {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  await load();
  const found = words.length ? globalThis.helpIndex.map((entry) => [weigh(entry, words), entry]).filter(([weight]) => weight) : [];
  found.sort(([one], [other]) => other - one);
  list.replaceChildren(...found.slice(0, MOST).map(([, entry]) => draw(entry, words)));
  count.textContent = !words.length ? "" : found.length > MOST ? `The best ${MOST} of ${found.length} sections` : `${found.length} section${found.length === 1 ? "" : "s"} found`;
};
field.addEventListener("input", search);
if (field.value) search();
