// Tokens of a turn in progress are appended as text, which cannot act. A lane follows its end until it is scrolled up;
// then a button offers to follow again.
const atEnd = (body) => body.scrollHeight - body.scrollTop - body.clientHeight < 40;
const toEnd = (body) => (body.scrollTop = body.scrollHeight);
addEventListener("token", (event) => {
  const { turn, role, channel, text } = JSON.parse(event.detail.data);
  const body = document.querySelector(`#lane-${role} [data-turn="${CSS.escape(turn)}"]`);
  const place = body && body.querySelector(channel === "thought" ? ".thought" : ".answer");
  if (!place) return;
  const following = atEnd(body);
  place.append(text);
  if (following) toEnd(body);
});
const onScroll = (event) => {
  const body = event.target;
  if (!body.matches || !body.matches(".lane .body")) return;
  body.closest(".lane").classList.toggle("behind", !atEnd(body));
};
addEventListener("scroll", onScroll, true);
addEventListener("click", (event) => {
  if (!event.target.matches(".follow")) return;
  toEnd(event.target.closest(".lane").querySelector(".body"));
});
