// The stream is the page's word for "now": where it is lost the page dims and says since when, and the tab says so, too.
const place = document.querySelector("[hx-sse\\:connect]");
const lost = document.getElementById("lost");
const icon = document.querySelector('link[rel="icon"]');
const title = document.title;
const ages = () => {
  for (const one of document.querySelectorAll("time.age")) {
    const seconds = Math.max(0, Date.now() / 1000 - one.dataset.at);
    const long = seconds < 90 ? `${seconds.toFixed(0)} s` : seconds < 5400 ? `${(seconds / 60).toFixed(0)} min`
      : seconds < 129600 ? `${(seconds / 3600).toFixed(0)} h` : `${(seconds / 86400).toFixed(0)} days`;
    const text = "lasts" in one.dataset ? `for ${long}` : `${long} ago`;
    if (one.textContent !== text) one.textContent = text;
  }
};
let heard = Date.now(), over = false, asking = 0;
const tab = () => {
  const gone = document.body.classList.contains("lost");
  const needs = document.querySelectorAll("[data-need], #approval .approve").length;
  document.title = gone ? `✗ lost · ${title}` : needs ? `(${needs}) ${title}` : title;
  const now = `/static/icon${gone ? "-lost" : needs ? "-needs" : ""}.svg`;
  if (icon.getAttribute("href") !== now) icon.setAttribute("href", now);
};
// A server that answers, but cannot serve the page, says itself what is broken.
const explain = async (at) => {
  const asked = fetch(lost.dataset.ready, { cache: "no-store", signal: AbortSignal.timeout(2000) });
  const answer = await asked.then((one) => one.json()).catch(() => null); // its body, too, may come too late
  if (!document.body.classList.contains("lost")) return clearInterval(asking);
  const [fault] = answer?.faults ?? [];
  const why = fault ? `No updates since ${at}: ${fault}` : `No connection to the server since ${at}.`;
  const text = `${why} The page shows the state at that time.`;
  if (lost.textContent !== text) lost.textContent = text;
};
const say = (gone) => {
  if (gone && !over && !document.body.classList.contains("lost")) {
    const at = new Date(heard).toLocaleTimeString("en-GB");
    lost.textContent = `No connection to the server since ${at}. The page shows the state at that time.`;
    clearInterval(asking);
    asking = setInterval(explain, 1000, at);
  }
  document.body.classList.toggle("lost", gone && !over);
  tab();
};
const alive = () => { heard = Date.now(); say(false); ages(); };
if (place) {
  addEventListener("htmx:sse:after:connection", alive);
  addEventListener("htmx:sse:after:message", alive);
  addEventListener("htmx:sse:error", () => say(true));
  addEventListener("htmx:sse:before:connection", (event) => { if (event.detail.connection.attempt) say(true); });
  addEventListener("end", () => { over = true; });
  addEventListener("htmx:sse:close", () => { if (!document.hidden) say(true); });
  addEventListener("visibilitychange", () => { heard = Date.now(); });
  // A server that hangs breaks nothing off, so the page says it for the connection, and everybody hears.
  setInterval(() => {
    const waits = "resting" in place.dataset || document.hidden || document.body.classList.contains("lost");
    if (place.dataset.silent && !waits && Date.now() - heard > place.dataset.silent) dispatchEvent(new CustomEvent("htmx:sse:error"));
  }, 250);
}
setInterval(ages, 1000);
ages();
tab();
