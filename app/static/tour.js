// The tour: four steps in the page's own flow, so nothing is covered and nothing moves between them. It is open at the
// first visit; ended or closed, it stays closed until somebody asks for it: by its summary, #tour or the palette.
const tour = document.getElementById("tour");
const steps = [...tour.querySelectorAll("[data-step]")];
const bar = tour.querySelector(".steps-of");
const [back, next, end] = bar.querySelectorAll("button");
let at = 0;
const keep = (word) => { document.cookie = `temper-intro=${word}; path=/; max-age=31536000; samesite=lax`; };
const mark = () => {
  for (const one of document.querySelectorAll("[data-toured]")) delete one.dataset.toured;
  const { of } = steps[at].dataset;
  if (tour.open && of) for (const one of document.querySelectorAll(of)) one.dataset.toured = "";
};
const show = (step, say = true) => {
  at = step;
  steps.forEach((one, place) => { one.hidden = false; one.classList.toggle("off", place !== at); });
  back.disabled = at === 0;
  next.hidden = at === steps.length - 1;
  bar.querySelector("span").textContent = say ? `Step ${at + 1} of ${steps.length}` : "";
  mark();
};
const close = () => {
  keep("closed");
  tour.open = false;
  tour.querySelector("summary").focus({ preventScroll: true });
};
const start = () => {
  if (location.hash !== "#tour") return;
  history.replaceState(null, "", location.pathname + location.search);
  tour.open = true;
  show(0);
  tour.querySelector("summary").focus();
};
bar.hidden = false;
bar.addEventListener("click", ({ target }) => {
  const go = Number(target.dataset?.go ?? NaN);
  if (go === 0) return close();
  if (!Number.isNaN(go)) show(at + go);
  if (target.hidden || target.disabled) (target === next ? end : next).focus({ preventScroll: true });
});
// Told by the click: the toggle's own event comes later, and the page may be gone by then.
tour.querySelector("summary").addEventListener("click", () => { keep(tour.open ? "closed" : "open"); if (!tour.open) show(0); });
tour.addEventListener("toggle", mark);
addEventListener("hashchange", start);
show(0);
start();
