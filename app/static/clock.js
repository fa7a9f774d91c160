// A run's clock goes on between events; it stands still while the stream is lost, for then nobody knows.
const page = document.getElementById("mission");
const ahead = Date.now() / 1000 - Number(page.dataset.now); // of the server's clock
const two = (number) => String(number).padStart(2, "0");
setInterval(() => {
  const clock = document.querySelector("#clock [data-since]");
  if (!clock || document.body.classList.contains("stale") || document.body.classList.contains("unwell")) return;
  const whole = Math.max(0, Math.floor(Date.now() / 1000 - ahead - Number(clock.dataset.since)));
  const [hours, minutes, seconds] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  clock.textContent = hours ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`;
}, 1000);
