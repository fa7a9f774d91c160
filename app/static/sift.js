// Search and filter over lists that the stream renews: what does not fit is hidden, also in what comes later.
// The address holds both, so that they survive a reload and can be sent on.
const named = (field) => (field.dataset.sift ? `find-${field.dataset.sift}` : `only-${field.dataset.siftKind}`);
const fields = [...document.querySelectorAll("[data-sift], [data-sift-kind]")];
const asked = new URL(location.href).searchParams;
for (const field of fields) field.value = asked.get(named(field)) ?? "";
const keep = () => {
  const here = new URL(location.href);
  for (const field of fields) field.value ? here.searchParams.set(named(field), field.value) : here.searchParams.delete(named(field));
  history.replaceState(null, "", here);
};
const sift = (list) => {
  const words = document.querySelector(`[data-sift="${list.id}"]`)?.value.toLowerCase().split(/\s+/).filter(Boolean) ?? [];
  const kind = document.querySelector(`[data-sift-kind="${list.id}"]`)?.value ?? "";
  for (const line of list.children) {
    const text = line.textContent.toLowerCase();
    line.hidden = (kind && line.dataset.kind !== kind) || !words.every((word) => text.includes(word));
  }
};
const lists = [...new Set(fields.map((one) => one.dataset.sift ?? one.dataset.siftKind))].map((id) => document.getElementById(id));
for (const list of lists) sift(list);
for (const list of lists) new MutationObserver(() => sift(list)).observe(list, { childList: true, subtree: true, characterData: true });
for (const name of ["input", "change"]) {
  addEventListener(name, (event) => {
    const id = event.target.dataset.sift ?? event.target.dataset.siftKind;
    if (!id) return;
    sift(document.getElementById(id));
    keep();
  });
}
// A log is read from its end, unless somebody has scrolled up.
const log = document.getElementById("log");
let atEnd = true;
log.scrollTop = log.scrollHeight;
log.addEventListener("scroll", () => { atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40; });
new MutationObserver(() => { if (atEnd) log.scrollTop = log.scrollHeight; }).observe(log, { childList: true, subtree: true, characterData: true });
