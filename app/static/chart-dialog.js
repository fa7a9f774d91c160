// A chart in a dialog of its own: large, zoomed to a span, and taken along as a picture or as a table. Esc closes it.
import { Panel } from "./strip-panel.js";

const SHORTEST = 5;
const two = (number) => String(number).padStart(2, "0");
const asDay = (at) => new Date(at * 1000).toISOString().replace("T", " ").slice(0, 19);

export class LargeChart {
  constructor(name, strip, closed) {
    this.strip = strip;
    this.zoom = null;
    this.dialog = document.createElement("dialog");
    this.dialog.className = "strip-large";
    this.dialog.innerHTML = '<h2></h2><div class="strip-tools" role="group" aria-label="Chart"></div><div class="strip-big"></div><p class="strip-told muted" role="status"></p><p class="strip-sources muted"></p>';
    this.panel = new Panel(name, this.dialog.querySelector(".strip-big"), strip, true);
    this.panel.at = strip.panels[0].at; // the playhead
    this.panel.onSpan = (since, until) => this.show([since, until]);
    const { asked } = this.panel;
    this.dialog.querySelector("h2").textContent = `${asked.title}: ${[asked.words, asked.rightWords].filter(Boolean).join("; ")}`;
    this.dialog.setAttribute("aria-label", `${asked.title} over time, large`);
    this.addTools();
    this.dialog.addEventListener("close", () => { this.dialog.remove(); this.panel.chart?.destroy(); closed(); });
    document.body.append(this.dialog);
    this.dialog.showModal();
  }

  addTools() {
    const tools = [
      ["Zoom in", () => this.scale(0.5)], ["Zoom out", () => this.scale(2)], ["Earlier", () => this.shift(-0.5)], ["Later", () => this.shift(0.5)],
      ["Whole time", () => this.show(null)], ["Save as PNG", () => this.savePicture()], ["Save as CSV", () => this.saveTable()], ["Close", () => this.dialog.close()],
    ];
    for (const [words, press] of tools) {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: words });
      button.addEventListener("click", press);
      this.dialog.querySelector(".strip-tools").append(button);
    }
  }

  get span() { return this.zoom ?? this.strip.span(); }

  scale(factor) {
    const [since, until] = this.span, middle = (since + until) / 2, half = Math.max(SHORTEST, (until - since) * factor) / 2;
    this.show([middle - half, middle + half]);
  }

  shift(share) {
    const [since, until] = this.span, by = (until - since) * share;
    this.show([since + by, until + by]);
  }

  // A span stays within the whole; as long as the whole, it follows the strip again.
  async show(span) {
    const [first, last] = this.strip.span();
    if (span) {
      const length = Math.max(SHORTEST, Math.min(span[1] - span[0], last - first)), since = Math.max(first, Math.min(span[0], last - length));
      span = length < last - first ? [since, since + length] : null;
    }
    this.zoom = span;
    const mine = (this.asked = {});
    const data = span ? await this.strip.read(span, [this.panel]) : this.strip.data;
    if (data && this.asked === mine) this.draw(data, this.span);
  }

  // The strip has drawn itself anew; a zoomed chart stays where it is.
  follow(data, span) { if (!this.zoom) this.draw(data, span); }

  draw(data, span) {
    this.panel.draw(data, span);
    const sources = Map.groupBy(this.panel.columns.filter((one) => one.source), (one) => `${one.source} (${one.provenance})`);
    const told = [...sources].map(([source, columns]) => `${columns.map((one) => one.label).join(", ")}: ${source}`);
    this.dialog.querySelector(".strip-told").textContent = `${asDay(span[0])} to ${asDay(span[1])} UTC, one value for each ${data.step} s. Drag over the chart to zoom; a hatched time has no samples.`;
    this.dialog.querySelector(".strip-sources").textContent = `Sources: ${told.join("; ") || "none yet"}`;
  }

  save(blob, ending) {
    const link = document.createElement("a"), now = new Date(this.span[1] * 1000);
    link.href = URL.createObjectURL(blob);
    link.download = `temper-${this.panel.name}-${asDay(now / 1000).slice(0, 10)}-${two(now.getUTCHours())}${two(now.getUTCMinutes())}.${ending}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  // One column for each figure, as it was sampled: an empty cell is a time without a sample.
  saveTable() {
    const cell = (text) => `"${String(text).replaceAll('"', '""')}"`;
    const { columns, times, asked, span } = this.panel, shown = columns.filter((one) => one.raw.some((value) => value !== null));
    const head = ["time (UTC)", ...shown.map((one) => `${one.label} in ${one.unit ?? asked.unit} (${one.provenance || "live"})`)];
    const lines = [head.map(cell).join(",")];
    times.forEach((at, place) => {
      if (at < span[0] - this.strip.step || at > span[1]) return;
      lines.push([asDay(at), ...shown.map((one) => one.raw[place] ?? "")].join(","));
    });
    this.save(new Blob([lines.join("\r\n"), "\r\n"], { type: "text/csv" }), "csv");
  }

  savePicture() {
    const { chart, columns } = this.panel, ratio = devicePixelRatio, css = getComputedStyle(document.documentElement);
    const from = chart.ctx.canvas, picture = Object.assign(document.createElement("canvas"), { width: from.width, height: from.height + 84 * ratio });
    const pen = picture.getContext("2d"), write = (words, y, ink, size) => {
      pen.fillStyle = ink;
      pen.font = `${size * ratio}px system-ui, sans-serif`;
      pen.fillText(words, 8 * ratio, y * ratio, from.width - 16 * ratio);
    };
    pen.fillStyle = css.getPropertyValue("--bg").trim();
    pen.fillRect(0, 0, picture.width, picture.height);
    write(this.dialog.querySelector("h2").textContent, 22, css.getPropertyValue("--text").trim(), 16);
    let x = 8 * ratio;
    for (const one of columns.filter((it) => it.values.some((value) => value))) {
      pen.font = `${12 * ratio}px system-ui, sans-serif`;
      pen.fillStyle = this.panel.ink(one);
      pen.fillRect(x, 32 * ratio, 10 * ratio, 10 * ratio);
      pen.fillStyle = css.getPropertyValue("--text").trim();
      pen.fillText(one.label, x + 14 * ratio, 42 * ratio);
      x += pen.measureText(one.label).width + 28 * ratio;
    }
    pen.drawImage(from, 0, 52 * ratio);
    write(`Temper, ${asDay(this.span[0])} to ${asDay(this.span[1])} UTC; ${this.panel.provenance || "provenance not known"}`, 52 + from.height / ratio + 20, css.getPropertyValue("--quiet").trim(), 12);
    picture.toBlob((blob) => this.save(blob, "png"), "image/png");
  }
}
