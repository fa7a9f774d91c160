// Tokens of a turn in progress are appended as text, which cannot act. A lane follows its end until it is scrolled up.
addEventListener("token", (event) => {
  const { turn, role, channel, text } = JSON.parse(event.detail.data);
  const body = document.querySelector(`#lane-${role} [data-turn="${CSS.escape(turn)}"]`);
  const place = body && body.querySelector(channel === "thought" ? ".thought" : ".answer");
  if (!place) return;
  const following = body.scrollHeight - body.scrollTop - body.clientHeight < 40;
  place.append(text);
  if (following) body.scrollTop = body.scrollHeight;
});
