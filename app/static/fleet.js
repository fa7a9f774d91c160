// Hosts by rules on a canvas: unpacked from two letters a character, drawn anew where a line changed, and walked by hand.
const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const GLYPHS = { p: "✓", o: "○", u: "↺", a: "▲", d: "◷", w: "●", s: "↓", ".": "" };
const NAMED = 12; // pixels a row needs for its host's name

class Picture {
  constructor(root) {
    this.root = root;
    this.letters = root.dataset.letters;
    this.words = JSON.parse(root.dataset.words);
    this.columns = root.querySelector(".columns").textContent.split(" ");
    this.order = root.querySelector(".order").textContent.split(" ").map(Number);
    this.hosts = root.querySelector(".lines").textContent.trim().split("\n").map((line) => this.read(line));
    this.place = new Map(this.hosts.map((host, row) => [host.name, row]));
    this.canvas = root.querySelector("canvas");
    this.told = root.querySelector(".told");
    this.names = root.querySelector(".names");
    this.at = null;
    this.lay();
    addEventListener("fleet", (event) => this.take(JSON.parse(event.detail.data)));
    new ResizeObserver(() => this.lay()).observe(root);
    matchMedia("(prefers-color-scheme: light)").addEventListener("change", () => this.lay());
    addEventListener("scheme", () => this.lay());
    this.canvas.addEventListener("pointermove", (event) => this.point(...this.under(event)));
    this.canvas.addEventListener("click", (event) => { this.point(...this.under(event)); this.open(); });
    this.canvas.addEventListener("keydown", (event) => this.key(event));
  }

  read(line) {
    const [name, run, state, alarm, cells] = line.split("\t");
    const letters = [...(cells ?? "")].flatMap((digit) => { const pair = DIGITS.indexOf(digit); return [this.letters[pair >> 3], this.letters[pair & 7]]; });
    return { name, run, state, alarm, letters };
  }

  take({ columns, lines }) {
    if (columns !== this.columns.length) return; // a rule is new: the next page has it
    for (const line of lines) {
      const host = this.read(line), row = this.place.get(host.name);
      if (row === undefined) continue;
      this.hosts[row] = host;
      this.row(row);
    }
    if (this.at) this.tell();
  }

  lay() {
    const style = getComputedStyle(this.root);
    this.colours = Object.fromEntries([...this.letters].map((letter) => [letter, style.getPropertyValue(`--cell-${letter === "." ? "none" : letter}`)]));
    this.ground = style.getPropertyValue("--panel");
    this.ink = style.getPropertyValue("--bg");
    const room = Math.max(240, innerHeight - 160), rows = this.hosts.length, count = this.columns.length;
    this.high = Math.max(1, Math.min(22, Math.floor(room / rows)));
    if (rows <= 60) this.high = Math.max(NAMED + 4, this.high);
    this.names.hidden = this.high < NAMED;
    if (!this.names.hidden && this.names.children.length !== rows) this.name();
    this.root.style.setProperty("--high", `${this.high}px`);
    const wide = this.root.querySelector(".frame").clientWidth - (this.names.hidden ? 0 : this.names.offsetWidth + 8);
    this.wide = Math.max(1, Math.min(22, wide / count));
    this.dots = devicePixelRatio || 1;
    this.canvas.style.width = `${this.wide * count}px`;
    this.canvas.style.height = `${this.high * rows}px`;
    this.canvas.width = Math.round(this.wide * count * this.dots);
    this.canvas.height = Math.round(this.high * rows * this.dots);
    this.pen = this.canvas.getContext("2d");
    this.hosts.forEach((_, row) => this.row(row));
    if (this.at) this.frame();
  }

  name() {
    this.names.replaceChildren(...this.hosts.map((host) => {
      const item = document.createElement("li"), link = document.createElement("a");
      Object.assign(link, { href: `/fleet/hosts/${encodeURIComponent(host.name)}`, textContent: host.name, tabIndex: -1 });
      if (host.alarm) item.className = "alarm";
      item.append(link);
      return item;
    }));
  }

  row(row) {
    const { pen, dots } = this, top = Math.round(row * this.high * dots), bottom = Math.round((row + 1) * this.high * dots);
    const gap = this.high > 6 && this.wide > 4 ? dots : 0;
    pen.fillStyle = this.ground;
    pen.fillRect(0, top, this.canvas.width, bottom - top);
    this.order.forEach((column, shown) => {
      const letter = this.hosts[row].letters[column] ?? ".";
      const left = Math.round(shown * this.wide * dots), right = Math.round((shown + 1) * this.wide * dots);
      pen.fillStyle = this.colours[letter];
      pen.fillRect(left, top, Math.max(1, right - left - gap), Math.max(1, bottom - top - gap));
      if (this.high >= NAMED && this.wide >= NAMED && GLYPHS[letter]) {
        pen.fillStyle = this.ink;
        pen.font = `700 ${Math.min(this.high, this.wide) * 0.7 * dots}px system-ui, sans-serif`;
        pen.textAlign = "center";
        pen.textBaseline = "middle";
        pen.fillText(GLYPHS[letter], (left + right - gap) / 2, (top + bottom) / 2);
      }
    });
  }

  under(event) {
    return [Math.floor(event.offsetY / this.high), Math.floor(event.offsetX / this.wide)];
  }

  point(row, shown) {
    const before = this.at;
    row = Math.max(0, Math.min(this.hosts.length - 1, row));
    this.at = { row, shown: Math.max(0, Math.min(this.order.length - 1, shown)) };
    if (before && before.row === row && before.shown === this.at.shown) return;
    if (before) for (const near of [before.row - 1, before.row, before.row + 1]) if (this.hosts[near]) this.row(near);
    this.frame();
    this.tell();
  }

  frame() {
    const { pen, dots } = this, { row, shown } = this.at;
    pen.strokeStyle = getComputedStyle(this.root).color;
    pen.lineWidth = dots;
    pen.strokeRect(shown * this.wide * dots, row * this.high * dots, Math.max(3, this.wide * dots), Math.max(3, this.high * dots));
  }

  tell() {
    const host = this.hosts[this.at.row], column = this.order[this.at.shown], letter = host.letters[column] ?? ".";
    const run = host.run ? `, run ${host.run} ${host.state}` : "";
    this.told.textContent = `${host.name} · ${this.columns[column]}: ${this.words[letter]}${run}`;
  }

  open() {
    const told = new URLSearchParams({ host: this.hosts[this.at.row].name, rule: this.columns[this.order[this.at.shown]], skill: this.root.dataset.skill });
    location.assign(`/fleet/cell?${told}`);
  }

  key(event) {
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], PageUp: [-20, 0], PageDown: [20, 0] };
    const { row, shown } = this.at ?? { row: 0, shown: 0 };
    if (event.key === "Enter" && this.at) this.open();
    else if (event.key === "Home") this.point(row, 0);
    else if (event.key === "End") this.point(row, this.order.length - 1);
    else if (steps[event.key]) this.point(row + steps[event.key][0] * (this.at ? 1 : 0), shown + steps[event.key][1] * (this.at ? 1 : 0));
    else return;
    event.preventDefault();
  }
}

for (const root of document.querySelectorAll(".picture")) root.picture = new Picture(root);
