// A role's answer is JSON by schema. While it is written it is shown as what it means: each field as far as it has come.
// Text is only ever put as text, which cannot act; the raw answer is one click away.
const MOST = 40_000; // characters: beyond that the raw answer is all there is until the turn is over
const NAMES = { candidate: "Takes proposal", paths: "Where", risk: "Risk", rollback: "Undo", validation: "Check", environment: "Holds for", advice: "Advice", decision: "Decision", reason: "Because", reload: "Reload" };
const LEADS = ["approach", "note", "explanation", "assessment", "mechanism"];

// Reads what there is of a JSON text that may end anywhere. Whatever is no JSON is passed over.
class Reader {
  constructor(text) { this.text = text; this.at = Math.max(0, text.indexOf("{")); }
  get next() {
    while (this.at < this.text.length && " \n\r\t,:".includes(this.text[this.at])) this.at += 1;
    return this.text[this.at];
  }
  value(deep = 0) {
    if (this.next === '"') return this.string();
    if ((this.next === "{" || this.next === "[") && deep < 8) return this.next === "{" ? this.object(deep + 1) : this.list(deep + 1);
    const [word] = /^[^\s,:\]}"]*/.exec(this.text.slice(this.at, this.at + 40));
    this.at += Math.max(1, word.length);
    return word === "true" ? true : word === "false" || word === "null" ? false : word;
  }
  string() {
    const begin = (this.at += 1);
    while (this.at < this.text.length && this.text[this.at] !== '"') this.at += this.text[this.at] === "\\" ? 2 : 1;
    const raw = this.text.slice(begin, Math.min(this.at, this.text.length)).replace(/\\(u.{0,3})?$/, "");
    this.at += 1;
    try { return JSON.parse(`"${raw.replace(/[\n\r\t]/g, " ")}"`); } catch { return raw; }
  }
  list(deep) {
    const found = [];
    for (this.at += 1; this.next && this.next !== "]"; ) found.push(this.value(deep));
    this.at += 1;
    return found;
  }
  object(deep) {
    const found = new Map();
    for (this.at += 1; this.next && this.next !== "}"; ) { const name = this.value(deep); found.set(String(name), this.next === "}" ? "" : this.value(deep)); }
    this.at += 1;
    return found;
  }
}

const made = (tag, words, name = "") => Object.assign(document.createElement(tag), { className: name, textContent: String(words ?? "") });
const row = (kind, sign, text) => { const line = made("div", "", kind); line.append(made("span", sign, "sign"), made("code", text)); return line; };
const lines = (kind, sign, text) => String(text ?? "").split("\n").map((one) => row(kind, sign, one));
// What an action does to its file, as far as it is written.
const rows = (action) => {
  const get = (name) => (action.get(name) === undefined ? "" : String(action.get(name)));
  const head = row("file", "", `${get("path") || get("service") || get("name")} · ${get("do").replaceAll("_", " ")}${get("number") && ` line ${get("number")}`}`);
  if (action.has("key")) return [head, row("added", "+", `${get("key")} ${get("value")}`)];
  const gone = get("old") || (get("do") === "remove_line" ? get("line") : get("word"));
  const fresh = action.has("new") ? get("new") : action.has("content") ? get("content") : get("do") === "append_line" ? get("line") : get("mode") && `mode ${get("mode")}`;
  return [head, ...(gone ? lines("removed", "−", gone) : []), ...(fresh ? lines("added", "+", fresh) : [])];
};
const field = (name, value) => {
  if (LEADS.includes(name)) return made("p", value, "lead");
  if (name === "actions" && Array.isArray(value)) { const diff = made("div", "", "diff"); diff.append(...value.filter((one) => one instanceof Map).flatMap(rows)); return diff; }
  if (name === "steps" && Array.isArray(value)) { const list = document.createElement("ol"); list.append(...value.map((one) => made("li", one))); return list; }
  if (name === "veto" || name === "alarm") return value === true ? made("p", name === "veto" ? "✗ Veto" : "! Alarm", "word-fail") : null;
  if (value === "" || value === false || value instanceof Map || (name === "candidate" && value === "0")) return null;
  const line = document.createElement("p");
  line.append(made("span", `${NAMES[name] ?? name} `, "muted"), Array.isArray(value) ? value.filter((one) => typeof one === "string").join(", ") : String(value));
  return line;
};

// Shows the answer of a turn in progress; called for each frame that brings some of it.
export const showAnswer = (body) => {
  const text = body.querySelector(".answer")?.textContent ?? "", place = body.querySelector(".fields");
  if (!place || !text || text.length > MOST) return;
  const answer = new Reader(text).value();
  if (!(answer instanceof Map)) return;
  const shown = [...answer].map(([name, value]) => field(name, value)).filter(Boolean);
  const last = [...(shown.at(-1)?.querySelectorAll("code, li") ?? [])].at(-1) ?? shown.at(-1);
  last?.append(made("span", "", "cursor"));
  place.replaceChildren(...shown);
};
const showAll = () => document.querySelectorAll(".body[aria-busy]").forEach(showAnswer);
addEventListener("htmx:after:swap", showAll);
showAll();
