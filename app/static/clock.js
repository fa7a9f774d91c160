// A run's clock goes on between events, and so does that of a host which reboots; they stand still while the stream
// is lost, for then nobody knows.
const page = document.getElementById("mission");
const ahead = Date.now() / 1000 - Number(page.dataset.now); // of the server's clock
const two = (number) => String(number).padStart(2, "0");
const tick = (clock) => {
  const whole = Math.max(0, Math.floor(Date.now() / 1000 - ahead - Number(clock.dataset.since)));
  const [hours, minutes, seconds] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  clock.textContent = hours ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`;
};
setInterval(() => {
  if (document.body.classList.contains("stale") || document.body.classList.contains("unwell")) return;
  document.querySelectorAll("#clock [data-since], #now [data-since]").forEach(tick);
}, 1000);
