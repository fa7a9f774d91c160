// A browser opens six connections to a server, and a stream keeps one. This worker, shared by all pages of the browser,
// lets three stream at once, so that a page or an order always finds a free connection. The page that was used last
// keeps its stream; the others take turns, and each goes on behind the last event that it has.
const MOST = 3, TURN = 1500;
const PATIENCE = 2000; // a page that does not let go in time is gone: a browser tells nobody of a crash
const pages = new Map(); // port to { rank, used, held, since, asked }
const all = (is) => [...pages.values()].filter(is);
const find = (is, by) => all(is).sort((one, other) => one[by] - other[by])[0];
const held = (one) => one.held, waits = (one) => one.rank > 0 && !one.held;
const share = () => {
  const now = Date.now(), used = all((one) => one.rank > 1).sort((one, other) => other.used - one.used)[0];
  for (const [port, one] of pages) if (one.asked && now - one.asked > PATIENCE) pages.delete(port);
  for (let next; all(held).length < MOST && (next = used && waits(used) ? used : find(waits, "since")); ) {
    Object.assign(next, { held: true, since: now });
    next.port.postMessage("go");
  }
  if (!find(waits, "since") || find((one) => one.asked, "since")) return;
  const oldest = find((one) => one.held && one !== used, "since");
  if (!oldest || (!waits(used ?? oldest) && now - oldest.since < TURN)) return;
  oldest.asked = now;
  oldest.port.postMessage("stop");
};
onconnect = ({ ports: [port] }) => {
  port.onmessage = ({ data: { rank, used, freed } }) => {
    const page = pages.get(port) ?? { port, used: 0, held: false, since: 0, asked: 0 };
    pages.set(port, Object.assign(page, { rank, used: used ? Date.now() : page.used }));
    if (freed) Object.assign(page, { held: false, since: Date.now(), asked: 0 });
    if (!page.rank && !page.held) pages.delete(port);
    share();
  };
};
setInterval(share, 250);
