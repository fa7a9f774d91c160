// A notification for what newly needs a person: only after consent, and only while nobody looks at the page.
const line = document.querySelector(".notify");
const button = document.getElementById("notify");
const state = document.getElementById("notify-state");
const KEY = "temper-notify";
const needs = document.getElementById("needs");
// Its text to what it is about: three engines that die one after the other are one notification, that counts.
const texts = () => new Map([...needs.querySelectorAll("[data-need]")].map((one) => [one.dataset.need, one.dataset.about]));
let known = texts();
const wanted = () => Notification.permission === "granted" && localStorage.getItem(KEY) === "yes";
const show = () => {
  button.textContent = wanted() ? "Stop notifying me" : "Notify me in this browser when something needs me";
  state.textContent = Notification.permission === "denied" ? "The browser blocks notifications. Allow them in its settings for this site." : "";
};
if ("Notification" in window && isSecureContext) {
  line.hidden = false;
  show();
  button.addEventListener("click", async () => {
    if (wanted()) localStorage.removeItem(KEY);
    else if ((await Notification.requestPermission()) === "granted") localStorage.setItem(KEY, "yes");
    show();
  });
  new MutationObserver(() => {
    const now = texts();
    const fresh = [...now].filter(([text]) => !known.has(text));
    known = now;
    if (wanted() && document.hidden) for (const [text, about] of fresh) new Notification("Temper needs you", { body: text, tag: about, icon: "/static/icon-needs.svg" });
  }).observe(needs, { childList: true, subtree: true, attributes: true, attributeFilter: ["data-need"] });
}
