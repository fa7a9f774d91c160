// The inbox by keyboard: j and k choose, Enter reads, a and r answer, e edits, u takes an answer back, o opens the page behind it.
import { forget, queueAnswer, stateOf, takeBack } from "./answering.js";
const desk = document.getElementById("desk");
const queue = document.getElementById("queue");
const pane = document.getElementById("decision");
const rows = () => [...queue.querySelectorAll("a[data-item]")];
const rowOf = (item) => rows().find((row) => row.dataset.item === item);
let chosen = desk.dataset.item, version = rowOf(chosen)?.dataset.version, place = Math.max(0, rows().indexOf(rowOf(chosen))), asked = 0, wanted = null;
const put = (one, name, value) => { // idempotent, as what it changes is watched
  if (value && one.getAttribute(name) !== value) one.setAttribute(name, value);
  else if (!value && one.hasAttribute(name)) one.removeAttribute(name);
};
const mark = () => {
  for (const row of rows()) {
    put(row, "aria-current", row.dataset.item === chosen ? "true" : "");
    put(row, "data-answer", stateOf(row.dataset.item));
  }
  for (const button of pane.querySelectorAll(".answering button:not([hidden])")) button.disabled = Boolean(stateOf(chosen));
};
const load = async () => {
  const mine = ++asked, keep = pane.querySelector("form[data-item]")?.dataset.item === chosen && pane.querySelector("[name=reason]")?.value;
  const answer = await fetch(`${desk.dataset.part}?item=${encodeURIComponent(chosen)}`).catch(() => null);
  if (mine !== asked || !answer?.ok) return;
  pane.innerHTML = await answer.text();
  pane.dataset.shows = chosen;
  const reason = pane.querySelector("[name=reason]");
  if (keep && reason) reason.value = keep;
  mark();
};
const choose = async (row, { focus = true } = {}) => {
  if (!row) return;
  [chosen, version, place, wanted] = [row.dataset.item, row.dataset.version, rows().indexOf(row), null];
  mark();
  if (focus) row.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
  history.replaceState(null, "", row.href);
  await load();
};
const step = (by) => choose(rows()[Math.min(rows().length - 1, Math.max(0, place + by))]);
const read = () => { pane.focus({ preventScroll: true }); pane.scrollIntoView({ block: "nearest" }); };
const press = (selector) => {
  wanted = pane.querySelector(`.answering button${selector}:not([disabled])`);
  if (wanted) wanted.click(); // an absent reason gets the focus by itself
};
new MutationObserver(() => {
  forget(new Set(rows().map((row) => row.dataset.item)));
  const row = rowOf(chosen);
  if (row && row.dataset.version === version) return mark();
  if (row) { version = row.dataset.version; load(); return mark(); }
  const next = rows()[Math.min(place, rows().length - 1)];
  if (next) choose(next, { focus: queue.contains(document.activeElement) || document.activeElement === document.body });
  else { chosen = ""; load(); }
}).observe(queue, { childList: true, subtree: true, attributes: true, attributeFilter: ["data-item", "data-version", "aria-current", "data-answer"] });
document.addEventListener("answers", mark);
queue.addEventListener("click", async (event) => {
  const row = event.target.closest("a[data-item]");
  if (!row || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  await choose(row);
  read();
});
pane.addEventListener("submit", (event) => {
  event.preventDefault();
  queueAnswer(event.target, event.submitter);
  const after = rows().slice(place + 1).concat(rows().slice(0, place)).find((row) => !stateOf(row.dataset.item));
  choose(after || rowOf(chosen));
});
const undo = async () => {
  const one = takeBack();
  if (!one) return;
  await choose(rowOf(one.item));
  const reason = pane.querySelector("[name=reason]");
  if (reason) reason.value = one.reason;
};
document.querySelector("#sending button").addEventListener("click", undo);
const KEYS = {
  j: () => step(1), k: () => step(-1), a: () => press(".go"), r: () => press(".stop"), u: undo,
  o: () => pane.querySelector("a.open")?.click(),
  e: () => { const edit = pane.querySelector("details.edit"); if (edit) { edit.open = true; edit.querySelector("textarea").focus(); } else pane.querySelector("a.open")?.focus(); },
  Enter: read,
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const field = event.target.closest("input, textarea, select");
  if (field && event.key === "Escape") rowOf(chosen)?.focus();
  if (field?.name === "reason" && event.key === "Enter" && wanted) { event.preventDefault(); wanted.click(); }
  if (field || (event.key === "Enter" && event.target.closest("a, button, summary"))) return;
  const act = KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
mark();
