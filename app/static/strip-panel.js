// One chart of the strip: its figures out of the samples, its marks, and the hand on it.
const sum = (values) => values.reduce((all, one) => (one === null || one === undefined ? all : (all ?? 0) + one), null);
const mean = (values) => { const known = values.filter((one) => one !== null && one !== undefined); return known.length ? sum(known) / known.length : null; };
const most = (values) => values.reduce((all, one) => (one === null || one === undefined ? all : Math.max(all ?? one, one)), null);

const role = (of) => ({ label: of, kind: "role", of, figure: "tok_s", ink: of === "others" ? "--quiet" : `--${of}`, fold: sum });
const part = (figure, label, strength) => ({ label, kind: "gpu", figure, ink: "--text", strength, fold: sum });
export const PANELS = {
  tokens: { title: "Tokens", unit: "tok/s", stacked: true, series: ["architect", "worker", "auditor", "sentry", "others"].map(role) },
  memory: { title: "GPU memory", unit: "GiB", stacked: true, series: [
    part("weights", "weights", 85), part("kv", "KV pool", 62), part("graphs", "graphs", 45), part("engine", "engine", 36),
    part("processes", "processes", 28), part("other", "unexplained", 20), part("reserved", "reserved", 12)] },
  power: { title: "Power", unit: "W", series: [
    { label: "power", kind: "gpu", figure: "power_w", ink: "--text", fold: sum },
    { label: "utilization", kind: "gpu", figure: "utilization", ink: "--link", fold: mean, unit: "%", right: true, dash: [4, 3] }] },
  queue: { title: "Queue", unit: "requests", series: [
    { label: "queued", kind: "engine", figure: "waiting", ink: "--text", fold: sum },
    { label: "first token", kind: "engine", figure: "ttft_s", ink: "--link", fold: most, unit: "s", right: true, dash: [4, 3], dots: true }] },
};
const GLYPHS = { passed: "✓", escalated: "▲", deferred: "◷", undone: "↺", alarm: "!", asks: "?", engine: "◆", run: "■", "hand-over": "" };
const INKS = { passed: "--good", escalated: "--bad", undone: "--warn", alarm: "--bad", asks: "--warn", engine: "--link" };
const NEAR = 6, HOLD = 3;
const text = (value, digits = 1) => (value === null || value === undefined ? "—" : value.toFixed(digits));

const clock = (at, [since, until]) => new Date(at * 1000).toLocaleTimeString("en-GB", until - since > 600 ? { hour: "2-digit", minute: "2-digit" } : {});
// A look that came a little late leaves no hole: what was sampled holds until the next look is due.
const held = (values, times, kind) => {
  let last = null, since = 0;
  return values.map((value, place) => {
    if (value !== null && value !== undefined) { last = value; since = times[place]; return value; }
    return kind.dots || last === null || times[place] - since > HOLD ? null : last;
  });
};

export class Panel {
  constructor(name, place, strip) {
    this.strip = strip;
    this.asked = PANELS[name];
    this.root = document.createElement("section");
    this.root.className = "strip-panel";
    this.root.setAttribute("aria-label", `${this.asked.title} over time`);
    this.root.innerHTML = `<p></p><div class="strip-plot" role="img"${strip.seekable ? "" : ' tabindex="0"'}></div>`; // a timeline has its slider for keys
    place.append(this.root);
    [this.head, this.plot] = this.root.children;
    this.plot.setAttribute("aria-label", `${this.asked.title}: nothing yet`);
    this.tip = Object.assign(document.createElement("div"), { className: "strip-tip", hidden: true });
    this.plot.append(this.tip);
    this.columns = [];
    this.marks = [];
    this.at = Number(strip.root.dataset.at) || undefined;
    this.watch();
    if (strip.seekable) this.hand();
  }

  ink(one) {
    const colour = getComputedStyle(document.documentElement).getPropertyValue(one.ink).trim();
    if (!one.strength) return colour;
    const ground = getComputedStyle(document.documentElement).getPropertyValue("--bg").trim();
    return `color-mix(in srgb, ${colour} ${one.strength}%, ${ground})`;
  }

  watch() {
    new ResizeObserver(() => { const width = this.plot.clientWidth; if (this.chart && width && width !== this.chart.width) this.chart.setSize({ width, height: this.chart.height }); }).observe(this.plot);
    matchMedia("(prefers-color-scheme: light)").addEventListener("change", () => { this.chart?.destroy(); this.chart = null; this.strip.draw(); });
  }

  draw(data, span) {
    this.span = span;
    this.marks = data.marks;
    this.columns = this.asked.series.map((one) => {
      const own = data.series.filter((it) => it.kind === one.kind && it.figure === one.figure && (!one.of || it.of === one.of));
      return { ...one, provenance: own[0]?.provenance ?? "", values: held(data.times.map((_, place) => one.fold(own.map((it) => it.values[place]))), data.times, one) };
    });
    this.tell();
    const shown = this.asked.stacked ? this.stacked() : this.columns.map((one) => one.values);
    if (!data.times.length) return;
    this.chart ??= this.made();
    this.chart.setData([data.times, ...shown], false);
    this.chart.batch(() => {
      this.chart.setScale("x", { min: span[0], max: span[1] });
      for (const scale of ["y", "right"]) if (this.chart.scales[scale]) this.chart.setScale(scale, { min: 0, max: this.top(scale, shown) });
    });
  }

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
    const right = order.some((one) => one.right), bare = this.strip.seekable;
    return new uPlot({
      width: this.plot.clientWidth, height: this.plot.clientHeight, legend: { show: false }, pxAlign: 0,
      padding: bare ? [0, 0, 0, 0] : [6, right ? 0 : 8, 0, 0],
      cursor: { drag: { x: false, y: false }, points: { show: false }, y: false, sync: { key: "strip" } },
      scales: { x: { time: true, auto: false }, y: { auto: false }, ...(right ? { right: { auto: false } } : {}) },
      axes: bare ? [{ show: false }, { show: false }] : [{ ...axis, size: 20, space: 62, values: (_, splits) => splits.map((at) => clock(at, this.span)) }, { ...axis, size: 38, space: 24 }, ...(right ? [{ ...axis, side: 1, scale: "right", size: 38, space: 24, grid: { show: false } }] : [])],
      series: [{}, ...order.map((one) => ({
        scale: one.right ? "right" : "y", stroke: this.ink(one), width: this.asked.stacked ? 0 : 1.5, dash: one.dash,
        fill: this.asked.stacked ? this.ink(one) : undefined, points: { show: Boolean(one.dots), size: 4 },
      }))],
      hooks: { draw: [(chart) => this.overlay(chart)], setCursor: [(chart) => this.point(chart)] },
    }, [[], ...order.map(() => [])], this.plot);
  }

  overlay(chart) {
    const { ctx, bbox } = chart, css = getComputedStyle(document.documentElement);
    const line = (at, ink, width, dash = []) => {
      const x = Math.round(chart.valToPos(at, "x", true));
      if (x < bbox.left || x > bbox.left + bbox.width) return;
      ctx.strokeStyle = css.getPropertyValue(ink).trim();
      ctx.lineWidth = width * devicePixelRatio;
      ctx.setLineDash(dash);
      ctx.beginPath(); ctx.moveTo(x, bbox.top); ctx.lineTo(x, bbox.top + bbox.height); ctx.stroke();
      return x;
    };
    ctx.save();
    ctx.font = `${10 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.textAlign = "center";
    let last = -99;
    for (const mark of this.marks) {
      const ink = INKS[mark.kind] ?? "--quiet";
      const x = line(mark.at, ink, 1, mark.kind === "hand-over" ? [1, 3] : [3, 2]);
      if (x === undefined || x - last < 9 * devicePixelRatio || !GLYPHS[mark.kind]) continue;
      ctx.fillStyle = css.getPropertyValue(ink).trim();
      ctx.fillText(GLYPHS[mark.kind], x, bbox.top + 10 * devicePixelRatio);
      last = x;
    }
    if (this.at) line(this.at, "--text", 2);
    if (this.strip.seekable) this.scales(chart, ctx, css.getPropertyValue("--quiet").trim());
    ctx.restore();
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
    const near = this.marks.filter((mark) => Math.abs(chart.valToPos(mark.at, "x") - left) < NEAR).slice(-4);
    const at = new Date(chart.data[0][idx] * 1000).toLocaleTimeString("en-GB");
    const said = this.columns.filter((one) => one.values[idx]).map((one) => `${one.label} ${text(one.values[idx])}${one.unit ? ` ${one.unit}` : ""}`);
    this.tip.textContent = [at, ...said, ...near.map((mark) => `${GLYPHS[mark.kind] || "→"} ${mark.text}`)].join(" · ");
    this.tip.style.left = `${Math.min(left + 46, this.plot.clientWidth - Math.min(260, this.tip.offsetWidth))}px`;
    this.tip.style.top = "4px";
  }

  // Mouse and touch say which moment is meant; arrows do it on the slider below.
  hand() {
    const meant = (event, done) => {
      const at = this.chart.posToVal(event.clientX - this.chart.over.getBoundingClientRect().left, "x");
      this.strip.seek(Math.max(this.span[0], Math.min(this.span[1], at)), done);
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
