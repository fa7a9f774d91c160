// A page streams while it has one of the browser's slots for streams (slots-worker.js), and goes on where it stopped.
// Without shared workers, and over HTTP/2, where streams share one connection, it streams while it is in sight.
const place = document.querySelector("[hx-sse\\:connect]");
const begin = () => {
  const scarce = performance.getEntriesByType("navigation")[0]?.nextHopProtocol.startsWith("http/1");
  const port = scarce && "SharedWorker" in window ? new SharedWorker(new URL("slots-worker.js", import.meta.url)).port : null;
  let granted = false, asking = false, last = "";
  const rank = () => (!document.hidden ? 2 : "background" in place.dataset ? 1 : 0);
  const send = (words) => port?.postMessage({ rank: rank(), ...words });
  const connect = () => {
    if (granted && !asking && !place._htmx?.sse) place.dispatchEvent(new Event("slot"));
  };
  const grant = () => { granted = true; connect(); };
  const release = () => {
    granted = false;
    place.dataset.resting = "";
    place._htmx?.sse?.reader?.cancel();
    place._htmx?.sse?.abortController?.abort();
  };
  const ask = () => {
    const freed = granted && !rank();
    if (freed) release();
    send({ used: !document.hidden, freed });
    if (!port && rank()) grant();
  };
  if (port)
    port.onmessage = ({ data }) => {
      if (data === "go" && rank()) return grant();
      release();
      send({ freed: true });
    };
  const own = (name, act) => place.addEventListener(name, (event) => event.target === place && act(event));
  own("htmx:before:request", () => { asking = true; });
  own("htmx:finally:request", () => { asking = false; });
  own("htmx:config:request", (event) => { if (last) event.detail.ctx.request.headers["Last-Event-ID"] = last; });
  own("htmx:sse:before:connection", (event) => {
    if (!granted) event.preventDefault();
    event.detail.connection.lastEventId ||= last;
  });
  own("htmx:sse:after:connection", () => (granted ? delete place.dataset.resting : release()));
  own("htmx:sse:after:message", (event) => { last = event.detail.message.id || last; });
  for (const name of ["htmx:error", "htmx:response:error"])
    own(name, () => { if (granted) place.dispatchEvent(new Event("htmx:sse:error", { bubbles: true })); });
  // A page that lets go of its stream for a while has not lost it: nobody else hears of these.
  own("htmx:sse:close", (event) => { if ("resting" in place.dataset) event.stopPropagation(); });
  own("htmx:sse:error", (event) => { if (!granted) event.stopPropagation(); });
  addEventListener("visibilitychange", ask);
  for (const name of ["pageshow", "focus", "pointerdown"]) addEventListener(name, ask, true);
  addEventListener("pagehide", () => { release(); send({ rank: 0, freed: true }); });
  addEventListener("htmx:after:process", connect);
  setInterval(connect, 500); // a first connection may fail
  if (port) place.dataset.resting = "";
  ask();
};
if (place) begin();
