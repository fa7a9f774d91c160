// Tokens of a turn in progress are appended as text, which cannot act. A lane follows its end until it is scrolled up;
// then a button offers to follow again.
import { showAnswer } from "./answer.js";

const atEnd = (body) => body.scrollHeight - body.scrollTop - body.clientHeight < 40;
const toEnd = (body) => (body.scrollTop = body.scrollHeight);
// A long text grows in blocks: only the last one is laid out anew. They begin where a sentence ended.
const put = (place, text) => {
  let tail = place.lastElementChild ?? place;
  const size = tail.textContent.length;
  if ((size > 2000 && /[.\n]\s*$/.test(tail.textContent)) || (size > 4000 && /^\s/.test(text))) {
    tail = place.appendChild(document.createElement("span"));
    tail.className = "part";
  }
  if (tail.lastChild instanceof Text) tail.lastChild.appendData(text);
  else tail.append(text);
};
// However many tokens a frame brings, it is laid out once; where nobody looks at the page, nothing is.
const growing = new Map(); // a lane to where it stood at its end
const answering = new Set();
const settle = () => {
  for (const body of answering) showAnswer(body);
  answering.clear();
  for (const [body, top] of growing) if (body.scrollTop >= top) toEnd(body);
  growing.clear();
};
addEventListener("token", (event) => {
  const { turn, channel, text } = JSON.parse(event.detail.data);
  const body = document.querySelector(`.lane [data-turn="${CSS.escape(turn)}"]`);
  const place = body && body.querySelector(channel === "thought" ? ".thought" : ".answer");
  if (!place) return;
  if (!growing.size) requestAnimationFrame(settle);
  if (!growing.has(body)) growing.set(body, atEnd(body) ? body.scrollTop : Infinity);
  put(place, text);
  if (channel !== "thought") answering.add(body);
});
const onScroll = (event) => {
  const body = event.target;
  if (!body.matches || !body.matches(".lane .body")) return;
  const { classList } = body.closest(".lane");
  classList.toggle("behind", !atEnd(body));
  classList.toggle("above", body.scrollTop > 4); // a line is cut there: it fades out
};
addEventListener("scroll", onScroll, true);
addEventListener("click", (event) => {
  if (!event.target.matches(".follow")) return;
  toEnd(event.target.closest(".lane").querySelector(".body"));
});
