// A strip of charts that fills itself: fetches what was, takes in what the stream tells, and says where the hand is.
import { Panel, PANELS } from "./strip-panel.js";

const WORDS = { 120: "2 min", 900: "15 min", 86400: "day", run: "run" };
const MARKS_EVERY = 5000;

class Strip {
  constructor(root) {
    this.root = root;
    this.data = { times: [], series: [], marks: [], step: 1 };
    this.window = root.dataset.window ?? "120";
    root.classList.add("strip");
    root.innerHTML = `<div class="strip-head"><fieldset><legend class="unseen">Over how long</legend></fieldset><span class="muted" role="status"></span></div>
      <div class="strip-panels"></div><details><summary>The same as a table</summary><div class="strip-table"></div></details>`;
    this.note = root.querySelector(".strip-head .muted");
    this.panels = (root.dataset.panels ?? "tokens memory power queue").split(" ").filter((name) => PANELS[name])
      .map((name) => new Panel(name, root.querySelector(".strip-panels"), this));
    const choice = root.querySelector("fieldset");
    for (const name of (root.dataset.windows ?? "120 900 run 86400").split(" ")) {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: WORDS[name] ?? name });
      button.dataset.window = name;
      button.addEventListener("click", () => this.choose(name));
      choice.append(button);
    }
    root.addEventListener("strip:cursor", (event) => this.panels.forEach((panel) => panel.playhead(event.detail.at)));
    root.querySelector("details").addEventListener("toggle", () => this.table());
    addEventListener("samples", (event) => this.take(JSON.parse(event.detail.data)));
    addEventListener("htmx:sse:after:connection", () => this.load());
    setInterval(() => { if (this.live && !document.hidden) this.load(this.step > 1); }, MARKS_EVERY);
    this.choose(this.window);
  }

  get live() { return !this.root.dataset.until; }
  get step() { return this.data.step; }

  span() {
    const until = this.live ? Date.now() / 1000 : Number(this.root.dataset.until);
    if (this.window !== "run") return [until - Number(this.window), until];
    const since = Number(this.root.dataset.since ?? this.began ?? until - 900);
    return [Math.min(since, until - 10), until];
  }

  choose(name) {
    this.window = name;
    for (const one of this.root.querySelectorAll("fieldset button")) one.setAttribute("aria-pressed", one.dataset.window === name);
    this.load();
  }

  async load(all = true) {
    if (this.window === "run" && !this.root.dataset.since) await this.newestRun();
    const [since, until] = this.span();
    const asked = new URLSearchParams({ since: since.toFixed(3), until: until.toFixed(3), kind: all ? "engine,gpu,role,mark" : "mark" });
    if (this.root.dataset.run) asked.set("run", this.root.dataset.run);
    const mine = (this.asked = {});
    const answer = await fetch(`/api/v1/samples?${asked}`).catch(() => null);
    if (!answer?.ok || this.asked !== mine) { if (answer && !answer.ok) this.note.textContent = "What was sampled cannot be read."; return; }
    const said = await answer.json();
    this.data = all ? said : { ...this.data, marks: said.marks };
    this.note.textContent = this.data.series.some((one) => one.provenance === "simulated") ? "simulated engines and GPUs" : "";
    this.draw();
  }

  async newestRun() {
    const answer = await fetch("/api/v1/runs?limit=1").catch(() => null);
    const run = answer?.ok ? (await answer.json()).runs[0] : null;
    this.began = run ? Date.parse(run.started_at ?? run.queued_at) / 1000 : undefined;
  }

  // One second more: only where the grid is as fine as that; otherwise the next fetch has it.
  take({ at, series }) {
    if (!this.live || this.step > 1 || !this.data.times.length) return;
    const slot = Math.floor(at);
    const { times } = this.data;
    for (let next = times.at(-1) + 1; next <= slot; next += 1) {
      times.push(next);
      for (const one of this.data.series) one.values.push(null);
    }
    for (const [kind, of, host, figure, value] of series) {
      let one = this.data.series.find((it) => it.kind === kind && it.of === of && it.host === host && it.figure === figure);
      if (!one) this.data.series.push((one = { kind, of, host, figure, unit: "", provenance: "", how: "mean", values: times.map(() => null) }));
      one.values[times.length - 1] = value;
    }
    const since = this.span()[0];
    while (times.length && times[0] < since - 1) {
      times.shift();
      for (const one of this.data.series) one.values.shift();
    }
    this.draw();
  }

  draw() {
    if (document.hidden) return;
    const span = this.span();
    for (const panel of this.panels) panel.draw(this.data, span);
    this.table();
  }

  table() {
    const details = this.root.querySelector("details");
    if (!details.open) return;
    const rows = this.panels.flatMap((panel) => panel.rows());
    const table = document.createElement("table");
    table.innerHTML = "<thead><tr><th>What</th><th class=n>newest</th><th class=n>least</th><th class=n>most</th><th>known by</th></tr></thead><tbody></tbody>";
    for (const row of rows) {
      const line = table.tBodies[0].insertRow();
      row.forEach((text, place) => { const cell = line.insertCell(); cell.textContent = text; if (place && place < 4) cell.className = "n"; });
    }
    this.root.querySelector(".strip-table").replaceChildren(table);
  }

  seek(at, done) {
    if (!("seek" in this.root.dataset)) return;
    this.root.dispatchEvent(new CustomEvent(done ? "strip:picked" : "strip:seek", { detail: { at }, bubbles: true }));
  }
}

for (const root of document.querySelectorAll("[data-strip]")) root.strip = new Strip(root);
