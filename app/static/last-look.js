// When this reader looked last, in a cookie that the server reads: SINCE-LAST-READER, in seconds of the server's clock.
// A visit goes on while pages are opened or left; SINCE is the end of the visit before, until the summary is dismissed.
const place = document.getElementById("looked");
const clock = () => Number(place.dataset.now) + performance.now() / 1000;
const read = () => /(?:^|; )temper-looked=([\d.]+)-/.exec(document.cookie)?.[1];
const keep = (since) => {
  document.cookie = `temper-looked=${since}-${clock().toFixed(1)}-${place.dataset.reader}; path=/; max-age=31536000; samesite=lax`;
};
if (place) {
  keep(place.dataset.since);
  addEventListener("visibilitychange", () => { if (document.hidden) keep(read() ?? place.dataset.since); });
  addEventListener("pagehide", () => keep(read() ?? place.dataset.since));
  const button = place.querySelector("button");
  button.hidden = false;
  button.addEventListener("click", () => {
    keep(clock().toFixed(1));
    place.hidden = true;
    document.querySelector("#main a, #main button, #main summary")?.focus({ preventScroll: true });
  });
}
