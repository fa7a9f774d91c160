// An answer waits in the browser for some seconds, in which u takes it back. Then it is posted, or when the page is left: a run carries it out at once.
const SECONDS = 8;
const BEACON = 60000; // bytes that a browser sends after the page is gone
const line = document.getElementById("sending");
const error = document.getElementById("answer-error");
const waiting = []; // newest last: {item, words, action, body, reason, due}
const sent = new Set(); // posted, and still in the list until the run has taken it
export const stateOf = (item) => {
  const one = waiting.find((other) => other.item === item);
  return one ? `${one.words}, sent in ${left(one)} s` : sent.has(item) ? "Sent" : "";
};
const left = (one) => Math.max(1, Math.ceil((one.due - Date.now()) / 1000));
const changed = () => document.dispatchEvent(new Event("answers"));
const fail = (one, why) => {
  error.textContent = `Not sent: ${one.words.toLowerCase()}, ${one.title}. ${why}`;
  error.hidden = false;
};
const post = async (one) => {
  sent.add(one.item);
  const answer = await fetch(one.action, { method: "POST", body: one.body, headers: { accept: "application/json" }, redirect: "manual" }).catch(() => null);
  if (answer?.type !== "opaqueredirect" && !answer?.ok) {
    sent.delete(one.item);
    const problem = await answer?.json().catch(() => null);
    fail(one, problem?.detail || "The server does not answer. Try again.");
  }
  changed();
};
const draw = () => {
  const one = waiting.at(-1);
  line.hidden = !one;
  const text = one ? `${one.words}: ${one.title}. U takes it back.` : "";
  if (line.firstElementChild.textContent !== text) line.firstElementChild.textContent = text;
  line.querySelector("b").textContent = one ? `${left(one)} s${waiting.length > 1 ? ` · ${waiting.length} answers wait` : ""}` : "";
};
export const queueAnswer = (form, button) => {
  const body = new URLSearchParams(new FormData(form, button));
  if (button.value !== "edit") body.delete("actions");
  const words = button.firstChild.textContent.trim();
  const reason = form.elements.reason?.value || "";
  error.hidden = true;
  waiting.push({ item: form.dataset.item, title: form.dataset.title, words, action: form.action, body, reason, due: Date.now() + SECONDS * 1000 });
  draw();
  changed();
};
export const takeBack = () => {
  const one = waiting.pop();
  draw();
  changed();
  return one;
};
export const forget = (here) => { // what left the list by another's answer is not posted any more
  for (const one of waiting.filter((other) => !here.has(other.item))) {
    waiting.splice(waiting.indexOf(one), 1);
    fail(one, "It no longer waits: somebody answered it, or it expired.");
  }
  for (const item of sent) if (!here.has(item)) sent.delete(item);
  draw();
};
setInterval(() => {
  while (waiting.length && waiting[0].due <= Date.now()) post(waiting.shift());
  if (!line.hidden) { draw(); changed(); }
}, 250);
addEventListener("pagehide", () => { // what was answered is not lost with the page; a page that comes back shows it as sent
  for (const one of waiting.splice(0)) if (navigator.sendBeacon(one.action, one.body)) sent.add(one.item);
  draw();
});
addEventListener("beforeunload", (event) => { if (waiting.some((one) => String(one.body).length > BEACON)) event.preventDefault(); });
