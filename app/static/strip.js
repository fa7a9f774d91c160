// A strip of charts that fills itself: fetches what was, takes in what the stream tells, and says where the hand is.
import { Axis } from "./axis.js";
import { Panel, PANELS } from "./strip-panel.js";

const WORDS = { 120: "2 min", 900: "15 min", 86400: "day", run: "run" };
const MARKS_EVERY = 5000;

class Strip {
  constructor(root) {
    this.root = root;
    this.data = { times: [], series: [], marks: [], step: 1 };
    this.window = root.dataset.window ?? "120";
    this.axis = this.seekable ? new Axis(Number(root.dataset.since), JSON.parse(document.getElementById("timeline").dataset.waits)) : null;
    root.classList.add("strip");
    root.innerHTML = '<div class="strip-head"><fieldset><legend class="unseen"></legend></fieldset><span class="muted" role="status"></span></div><div class="strip-panels"></div>';
    this.note = root.querySelector(".strip-head .muted");
    this.panels = (root.dataset.panels ?? "tokens memory power queue").split(" ").filter((name) => PANELS[name])
      .map((name) => new Panel(name, root.querySelector(".strip-panels"), this));
    // A timeline shows one chart of its run's whole time; elsewhere all are shown, over the time that is chosen.
    this.shown = this.seekable ? this.panels.slice(0, 1) : this.panels;
    root.querySelector("legend").textContent = this.seekable ? "Figure shown in the chart" : "Time range";
    if (this.seekable) for (const panel of this.panels) this.button(panel.asked.title, panel, () => { this.shown = [panel]; this.load(); });
    else for (const name of (root.dataset.windows ?? "120 900 run 86400").split(" ")) this.button(WORDS[name] ?? name, name, () => { this.window = name; this.load(); });
    this.twin = document.createElement("details");
    this.twin.className = "strip-twin";
    this.twin.innerHTML = '<summary>Show as table</summary><div class="strip-table"></div>';
    (document.getElementById(root.dataset.twin) ?? root).append(this.twin);
    root.addEventListener("strip:cursor", (event) => this.panels.forEach((panel) => panel.playhead(event.detail.at)));
    this.twin.addEventListener("toggle", () => this.table());
    addEventListener("samples", (event) => this.take(JSON.parse(event.detail.data)));
    addEventListener("htmx:sse:after:connection", () => { if (this.live) this.load(); });
    setInterval(() => this.again(), MARKS_EVERY);
    this.load();
  }

  get live() { return !this.root.dataset.until; }
  get seekable() { return "seek" in this.root.dataset; }
  get step() { return this.data.step; }

  span() {
    const until = this.live ? Date.now() / 1000 : Number(this.root.dataset.until);
    if (this.window !== "run") return [until - Number(this.window), until];
    const since = Number(this.root.dataset.since ?? this.began ?? until - 900);
    return [this.seekable ? since : Math.min(since, until - 10), until];
  }

  button(words, means, press) {
    const made = Object.assign(document.createElement("button"), { type: "button", textContent: words, means });
    made.addEventListener("click", press);
    this.root.querySelector("fieldset").append(made);
  }

  pressed() {
    for (const one of this.root.querySelectorAll("fieldset button")) one.setAttribute("aria-pressed", one.means === this.window || (this.seekable && this.shown.includes(one.means)));
    for (const panel of this.panels) panel.root.hidden = !this.shown.includes(panel);
  }

  // Marks come with no stream; and what is coarser than a second is asked for again once there is a step more of it.
  again() {
    if (!this.live || document.hidden) return;
    this.draw(); // time goes on without samples, too
    if (this.step === 1) this.load(false);
    else if (Date.now() / 1000 - this.readAt >= this.step) this.load();
  }

  async load(all = true) {
    this.pressed();
    if (this.window === "run" && !this.root.dataset.since) await this.newestRun();
    const mine = (this.asked = {});
    const said = await this.read(this.span(), this.shown, all);
    if (!said || this.asked !== mine) return;
    if (all) this.readAt = Date.now() / 1000;
    this.data = all ? said : { ...this.data, marks: said.marks };
    this.note.textContent = this.data.series.some((one) => one.provenance === "simulated") ? "simulated engines and GPUs" : "";
    this.draw();
  }

  async read([since, until], panels, all = true) {
    const drawn = panels.flatMap((panel) => panel.asked.series);
    const kinds = all ? [...new Set(drawn.map((one) => one.kind)), "mark"] : ["mark"];
    const asked = new URLSearchParams({ since: since.toFixed(3), until: until.toFixed(3), kind: kinds.join(","), figure: [...new Set(drawn.map((one) => one.figure))].join(",") });
    if (this.root.dataset.run) asked.set("run", this.root.dataset.run);
    const answer = await fetch(`/api/v1/samples?${asked}`).catch(() => null);
    if (answer?.ok) return answer.json();
    if (answer) this.note.textContent = "Cannot read the samples.";
    return null;
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
    for (const panel of this.shown) panel.draw(this.data, span);
    this.large?.follow(this.data, span);
    this.table();
  }

  table() {
    if (!this.twin.open) return;
    const rows = this.shown.flatMap((panel) => panel.rows());
    const table = document.createElement("table");
    table.innerHTML = "<thead><tr><th>Figure</th><th class=n>newest</th><th class=n>min</th><th class=n>max</th><th>provenance</th></tr></thead><tbody></tbody>";
    for (const row of rows) {
      const line = table.tBodies[0].insertRow();
      row.forEach((text, place) => { const cell = line.insertCell(); cell.textContent = text; if (place && place < 4) cell.className = "n"; });
    }
    this.twin.querySelector(".strip-table").replaceChildren(table);
  }

  // Few people open a chart large, so its script is fetched by the first who does.
  async open(name) {
    const found = await import("./chart-dialog.js").catch(() => null);
    if (!found) this.note.textContent = "Cannot open the chart: the server does not answer. Reload the page when it does.";
    if (!found || this.large) return;
    this.large = new found.LargeChart(name, this, () => { this.large = null; });
    this.large.follow(this.data, this.span());
  }

  seek(at, done) {
    this.root.dispatchEvent(new CustomEvent(done ? "strip:picked" : "strip:seek", { detail: { at }, bubbles: true }));
  }
}

for (const root of document.querySelectorAll("[data-strip]")) root.strip = new Strip(root);
