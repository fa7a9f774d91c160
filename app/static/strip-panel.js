// One chart of the strip: its figures out of the samples, its marks, its gaps, and the hand on it.
import { asClock } from "./axis.js";
import { HOLD, joinSeries } from "./gaps.js";

const sum = (values) => values.reduce((all, one) => (one === null || one === undefined ? all : (all ?? 0) + one), null);
const mean = (values) => { const known = values.filter((one) => one !== null && one !== undefined); return known.length ? sum(known) / known.length : null; };
const most = (values) => values.reduce((all, one) => (one === null || one === undefined ? all : Math.max(all ?? one, one)), null);

const role = (of, kind = "role") => ({ label: of, kind, of, figure: "tok_s", ink: of === "others" ? "--quiet" : `--${of}`, fold: sum });
const part = (figure, label, strength) => ({ label, kind: "gpu", figure, ink: "--text", strength, fold: sum });
const ROLES = ["architect", "worker", "auditor", "sentry"];
export const PANELS = {
  tokens: { title: "Tokens", unit: "tok/s", words: "tokens per second, all runs", flow: true, stacked: true, series: [...ROLES, "others"].map((of) => role(of)) },
  memory: { title: "GPU memory", unit: "GiB", words: "GiB in use, all GPUs", stacked: true, series: [
    part("weights", "weights", 85), part("kv", "KV pool", 62), part("graphs", "graphs", 45), part("engine", "engine", 36),
    part("processes", "processes", 28), part("other", "unexplained", 20), part("reserved", "reserved", 12)] },
  power: { title: "Power", unit: "W", words: "watts, all GPUs", rightWords: "percent of the GPUs in use", series: [
    { label: "power", kind: "gpu", figure: "power_w", ink: "--text", fold: sum },
    { label: "utilization", kind: "gpu", figure: "utilization", ink: "--link", fold: mean, unit: "%", right: true, dash: [4, 3] }] },
  queue: { title: "Queue", unit: "requests", words: "requests that wait", rightWords: "seconds to the first token", series: [
    { label: "queued", kind: "engine", figure: "waiting", ink: "--text", fold: sum },
    { label: "first token", kind: "engine", figure: "ttft_s", ink: "--link", fold: most, unit: "s", right: true, dash: [4, 3], dots: true }] },
};
// On a run's timeline other runs' tokens have no place, though the same engines wrote them.
const OWN_TOKENS = { ...PANELS.tokens, words: "tokens per second of this run", series: ROLES.map((of) => role(of, "run")) };
const GLYPHS = { passed: "✓", escalated: "▲", deferred: "◷", undone: "↺", alarm: "!", asks: "?", engine: "◆", run: "■", "hand-over": "" };
const INKS = { passed: "--good", escalated: "--bad", undone: "--warn", alarm: "--bad", asks: "--warn", engine: "--link" };
const NEAR = 6;
const text = (value, digits = 1) => (value === null || value === undefined ? "—" : value.toFixed(digits));

const clock = (at, [since, until]) => new Date(at * 1000).toLocaleTimeString("en-GB", until - since > 600 ? { hour: "2-digit", minute: "2-digit" } : {});
const hatch = (ctx, ink) => {
  const tile = Object.assign(document.createElement("canvas"), { width: 6 * devicePixelRatio, height: 6 * devicePixelRatio });
  const pen = tile.getContext("2d"), size = tile.width;
  pen.strokeStyle = ink;
  pen.lineWidth = devicePixelRatio;
  for (const shift of [-size, 0, size]) { pen.moveTo(shift, size); pen.lineTo(shift + size, 0); }
  pen.stroke();
  return ctx.createPattern(tile, "repeat");
};

export class Panel {
  // `large`: the chart in the dialog, with axes in words and a span that can be drawn with the mouse.
  constructor(name, place, strip, large = false) {
    this.strip = strip;
    this.name = name;
    this.large = large;
    this.bare = strip.seekable && !large;
    this.asked = strip.seekable && name === "tokens" ? OWN_TOKENS : PANELS[name];
    this.root = document.createElement("section");
    this.root.className = "strip-panel";
    this.root.setAttribute("aria-label", `${this.asked.title} over time`);
    this.root.innerHTML = `<p><span class="keys-of"></span></p><div class="strip-plot" role="img"${this.bare ? "" : ' tabindex="0"'}></div>`; // a timeline has its slider for keys
    place.append(this.root);
    this.head = this.root.querySelector(".keys-of");
    this.plot = this.root.lastElementChild;
    if (!large) this.addOpener();
    this.plot.setAttribute("aria-label", `${this.asked.title}: nothing yet`);
    this.tip = Object.assign(document.createElement("div"), { className: "strip-tip", hidden: true });
    this.plot.append(this.tip);
    this.columns = [];
    this.marks = [];
    this.at = Number(strip.root.dataset.at) || undefined;
    this.watch();
    if (this.bare) this.hand();
  }

  addOpener() {
    const opener = Object.assign(document.createElement("button"), { type: "button", className: "enlarge", textContent: "⤢", title: "Open this chart large" });
    opener.setAttribute("aria-label", `Open the chart of ${this.asked.title} large`);
    opener.addEventListener("click", () => this.strip.open(this.name));
    this.root.firstElementChild.append(opener);
  }

  get provenance() { return [...new Set(this.columns.map((one) => one.provenance).filter(Boolean))].join(", "); }

  ink(one) {
    const colour = getComputedStyle(document.documentElement).getPropertyValue(one.ink).trim();
    if (!one.strength) return colour;
    const ground = getComputedStyle(document.documentElement).getPropertyValue("--bg").trim();
    return `color-mix(in srgb, ${colour} ${one.strength}%, ${ground})`;
  }

  watch() {
    new ResizeObserver(() => { const { clientWidth: width, clientHeight: height } = this.plot; if (this.chart && width && height && (width !== this.chart.width || height !== this.chart.height)) this.chart.setSize({ width, height }); }).observe(this.plot);
    const redraw = () => { this.chart?.destroy(); this.chart = null; this.strip.draw(); };
    matchMedia("(prefers-color-scheme: light)").addEventListener("change", redraw);
    addEventListener("scheme", redraw); // looks.js
  }

  draw(data, span) {
    this.span = span;
    this.times = data.times;
    this.marks = data.marks;
    const wanted = this.asked.series.map((one) => data.series.filter((it) => it.kind === one.kind && it.figure === one.figure && (!one.of || it.of === one.of)));
    const flows = new Set(this.asked.flow ? wanted.flat() : []);
    const joined = joinSeries(data, wanted.filter((_, place) => !this.asked.series[place].dots).flat(), span[1], (one) => flows.has(one));
    this.gaps = joined.gaps.map(([since, until]) => [Math.max(since, span[0]), until]).filter(([since, until]) => until - since > Math.max(HOLD, 1.5 * data.step)); // the grid begins a bit after the span
    this.columns = this.asked.series.map((one, number) => {
      const own = wanted[number], raw = data.times.map((_, place) => one.fold(own.map((it) => it.values[place])));
      const values = one.dots ? raw : data.times.map((_, place) => one.fold(own.map((it) => joined.values.get(it)?.[place])));
      return { ...one, provenance: own[0]?.provenance ?? "", source: own[0]?.source ?? "", raw, values };
    });
    this.tell();
    const shown = this.asked.stacked ? this.stacked() : this.columns.map((one) => one.values);
    if (!data.times.length) return;
    this.chart ??= this.made();
    this.chart.setData([data.times.map(this.toX), ...shown], false);
    this.chart.batch(() => {
      this.chart.setScale("x", { min: this.toX(span[0]), max: Math.max(this.toX(span[1]), this.toX(span[0]) + 0.1) });
      for (const scale of ["y", "right"]) if (this.chart.scales[scale]) this.chart.setScale(scale, { min: 0, max: this.top(scale, shown) });
    });
  }

  // A timeline's axis leaves the queue out and folds long waits.
  toX = (at) => (this.strip.axis ? this.strip.axis.toPlace(at) : at);
  toTime = (x) => (this.strip.axis ? this.strip.axis.toTime(x) : x);

  // The topmost layer first: each is drawn over what it hides.
  stacked() {
    let below = this.columns[0]?.values.map(() => 0) ?? [];
    const layers = this.columns.map(({ values }) => {
      below = values.map((value, place) => below[place] + (value ?? 0));
      return values.map((value, place) => (value === null ? null : below[place]));
    });
    return layers.reverse();
  }

  top(scale, shown) {
    const order = this.asked.stacked ? [...this.columns].reverse() : this.columns;
    const highest = most(shown.flatMap((values, place) => ((order[place].right ? "right" : "y") === scale ? values : [])));
    if (order.some((one) => one.right && one.unit === "%") && scale === "right") return 100;
    return highest ? highest * 1.12 : 1;
  }

  tell() {
    const parts = this.columns.filter((one) => !this.asked.stacked || one.values.some((value) => value));
    this.head.replaceChildren();
    const name = document.createElement("b");
    name.textContent = `${this.asked.title}, ${this.asked.unit}`;
    name.title = [this.asked.words, this.asked.rightWords, this.provenance].filter(Boolean).join("; ");
    this.head.append(name);
    for (const one of parts) {
      const key = document.createElement("span");
      key.className = one.dash ? "key dashed" : "key";
      key.style.setProperty("--ink", this.ink(one));
      key.textContent = `${one.label}${one.unit ? `, ${one.unit}` : ""}`;
      this.head.append(key);
    }
    if (!this.columns.some((one) => one.values.some((value) => value !== null))) {
      this.head.append(Object.assign(document.createElement("span"), { className: "none", textContent: "no samples" }));
    }
    const said = parts.map((one) => `${one.label} ${text(one.values.at(-1) ?? one.values.at(-2))}`).join(", ");
    this.plot.setAttribute("aria-label", `${this.asked.title} in ${this.asked.unit}: newest ${said || "not known"}. The table below has the figures.`);
  }

  made() {
    const css = getComputedStyle(document.documentElement);
    const quiet = css.getPropertyValue("--quiet").trim(), grid = { stroke: css.getPropertyValue("--line").trim(), width: 1 };
    const order = this.asked.stacked ? [...this.columns].reverse() : this.columns;
    const axis = { stroke: quiet, grid, ticks: { show: false }, font: "11px system-ui, sans-serif", gap: 2 };
    const right = order.some((one) => one.right), { bare, large } = this;
    const labelled = (words) => (large ? { label: `${words} (${this.provenance || "not known"})`, labelSize: 20, labelFont: "12px system-ui, sans-serif" } : {});
    return new uPlot({
      width: this.plot.clientWidth, height: this.plot.clientHeight, legend: { show: false }, pxAlign: 0,
      padding: bare ? [0, 0, 0, 0] : [6, right ? 0 : 8, 0, 0],
      cursor: { drag: { x: large, y: false, setScale: false }, points: { show: false }, y: false, ...(large ? {} : { sync: { key: "strip" } }) },
      scales: { x: { time: !this.strip.axis, auto: false }, y: { auto: false }, ...(right ? { right: { auto: false } } : {}) },
      axes: bare ? [{ show: false }, { show: false }] : [
        { ...axis, size: 20, space: 62, values: (_, splits) => splits.map((at) => (this.strip.axis ? asClock(at) : clock(at, this.span))), ...(large ? { label: this.strip.axis ? "time since work began, in minutes and seconds" : "time of day on this computer", labelSize: 20, labelFont: "12px system-ui, sans-serif" } : {}) },
        { ...axis, size: 38, space: 24, ...labelled(this.asked.words) },
        ...(right ? [{ ...axis, side: 1, scale: "right", size: 38, space: 24, grid: { show: false }, ...labelled(this.asked.rightWords) }] : [])],
      series: [{}, ...order.map((one) => ({
        scale: one.right ? "right" : "y", stroke: this.ink(one), width: this.asked.stacked ? 0 : 1.5, dash: one.dash,
        fill: this.asked.stacked ? this.ink(one) : undefined, points: { show: Boolean(one.dots), size: 4 },
      }))],
      hooks: { draw: [(chart) => this.overlay(chart)], setCursor: [(chart) => this.point(chart)], setSelect: [(chart) => this.select(chart)] },
    }, [[], ...order.map(() => [])], this.plot);
  }

  overlay(chart) {
    const { ctx, bbox } = chart, css = getComputedStyle(document.documentElement);
    ctx.save();
    this.hatchGaps(chart, ctx, css.getPropertyValue("--quiet").trim());
    const line = (at, ink, width, dash = []) => {
      const x = Math.round(chart.valToPos(at, "x", true));
      if (x < bbox.left || x > bbox.left + bbox.width) return;
      ctx.strokeStyle = css.getPropertyValue(ink).trim();
      ctx.lineWidth = width * devicePixelRatio;
      ctx.setLineDash(dash);
      ctx.beginPath(); ctx.moveTo(x, bbox.top); ctx.lineTo(x, bbox.top + bbox.height); ctx.stroke();
      return x;
    };
    ctx.font = `${10 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.textAlign = "center";
    let last = -99;
    for (const mark of this.marks) {
      const ink = INKS[mark.kind] ?? "--quiet";
      const x = line(this.toX(mark.at), ink, 1, mark.kind === "hand-over" ? [1, 3] : [3, 2]);
      if (x === undefined || x - last < 9 * devicePixelRatio || !GLYPHS[mark.kind]) continue;
      ctx.fillStyle = css.getPropertyValue(ink).trim();
      ctx.fillText(GLYPHS[mark.kind], x, bbox.top + 10 * devicePixelRatio);
      last = x;
    }
    if (this.at) line(this.at, "--text", 2);
    if (this.bare) this.scales(chart, ctx, css.getPropertyValue("--quiet").trim());
    ctx.restore();
  }

  hatchGaps({ bbox, valToPos }, ctx, ink) {
    ctx.fillStyle = hatch(ctx, ink);
    ctx.globalAlpha = 0.5;
    for (const [since, until] of this.gaps) {
      const left = Math.max(bbox.left, valToPos(this.toX(since), "x", true)), right = Math.min(bbox.left + bbox.width, valToPos(this.toX(until), "x", true));
      if (right > left) ctx.fillRect(left, bbox.top, right - left, bbox.height);
    }
    ctx.globalAlpha = 1;
  }

  // A span drawn with the mouse in the large chart.
  select(chart) {
    if (!this.large || chart.select.width < NEAR) return;
    const [since, until] = [chart.select.left, chart.select.left + chart.select.width].map((x) => this.toTime(chart.posToVal(x, "x")));
    chart.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    this.onSpan(since, until);
  }

  // A timeline is as wide as its slider, so how high its chart goes is said inside.
  scales({ bbox, scales }, ctx, ink) {
    const unit = (name, usual) => this.columns.find((one) => Boolean(one.right) === (name === "right"))?.unit ?? usual;
    ctx.fillStyle = ink;
    for (const [name, align, x] of [["y", "left", bbox.left + 4 * devicePixelRatio], ["right", "right", bbox.left + bbox.width - 4 * devicePixelRatio]]) {
      if (!scales[name]?.max) continue;
      ctx.textAlign = align;
      ctx.fillText(`${text(scales[name].max, scales[name].max < 10 ? 1 : 0)} ${unit(name, this.asked.unit)}`, x, bbox.top + 24 * devicePixelRatio);
    }
  }

  playhead(at) { this.at = at; this.chart?.redraw(false); }

  point(chart) {
    const { left, idx } = chart.cursor;
    this.tip.hidden = left < 0 || idx === null || !this.plot.matches(":hover");
    if (this.tip.hidden) return;
    const near = this.marks.filter((mark) => Math.abs(chart.valToPos(this.toX(mark.at), "x") - left) < NEAR).slice(-4);
    const at = new Date(this.times[idx] * 1000).toLocaleTimeString("en-GB");
    const gap = this.gaps.some(([since, until]) => since <= this.times[idx] && this.times[idx] <= until) ? ["no samples"] : [];
    const said = this.columns.filter((one) => one.values[idx]).map((one) => `${one.label} ${text(one.values[idx])}${one.unit ? ` ${one.unit}` : ""}`);
    this.tip.textContent = [at, ...gap, ...said, ...near.map((mark) => `${GLYPHS[mark.kind] || "→"} ${mark.text}`)].join(" · ");
    this.tip.style.left = `${Math.min(left + 46, this.plot.clientWidth - Math.min(260, this.tip.offsetWidth))}px`;
    this.tip.style.top = "4px";
  }

  // Mouse and touch say which moment is meant; arrows do it on the slider below.
  hand() {
    const meant = (event, done) => {
      const at = this.chart.posToVal(event.clientX - this.chart.over.getBoundingClientRect().left, "x");
      this.strip.seek(Math.max(0, Math.min(this.toX(this.span[1]), at)), done);
    };
    this.plot.style.touchAction = "pan-y";
    this.plot.addEventListener("pointerdown", (event) => { if (!this.chart || event.button) return; this.plot.setPointerCapture(event.pointerId); this.held = true; meant(event, false); });
    this.plot.addEventListener("pointermove", (event) => { if (this.held) meant(event, false); });
    for (const end of ["pointerup", "pointercancel"]) this.plot.addEventListener(end, (event) => { if (this.held) meant(event, true); this.held = false; });
  }

  rows() {
    return this.columns.filter((one) => one.values.some((value) => value !== null)).map((one) => {
      const known = one.values.filter((value) => value !== null);
      return [`${one.label}, ${one.unit ?? this.asked.unit}`, text(known.at(-1)), text(Math.min(...known)), text(Math.max(...known)), one.provenance || "live"];
    });
  }
}
