// Plays the run that this file holds: frames go through htmx and the page's own scripts, as the stream's messages do.
import { Frames, unpackBlock } from "./shared-frames.js";
import { report } from "./shared-report.js";

const mission = document.getElementById("mission"), bar = document.getElementById("t"), play = document.getElementById("play");
const speed = document.getElementById("speed"), strip = document.querySelector(".scrubber [data-strip]"), dialog = document.getElementById("shared-item");
const CROWD = 40, LONGEST_GAP = 2; // more frames at once are a jump; longer gaps without events are cut to this, in seconds
const asClock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
for (const one of document.querySelectorAll("[hx-get]")) one.remove(); // nobody answers

const loaded = unpackBlock("show").then((bytes) => JSON.parse(new TextDecoder().decode(bytes)));
// The charts ask for samples as they ask a server.
globalThis.fetch = async (address) => {
  const path = new URL(String(address), "http://file.invalid").pathname;
  if (path !== "/api/v1/samples") return new Response("", { status: 404 });
  return new Response(JSON.stringify((await loaded).samples), { headers: { "content-type": "application/json" } });
};

class Player {
  constructor(show) {
    this.frames = new Frames(show);
    this.starts = show.starts;
    this.items = show.items;
    this.at = this.end;
    this.place = this.frames.last;
    this.wanted = null;
  }

  get end() { return this.frames.frames.at(-1).at; }
  get seq() { return this.frames.frames[this.place].seq; }

  async tell(messages) {
    for (const [name, content] of messages) {
      if (name) htmx.trigger(mission, name, { data: content });
      else await htmx.swap({ text: content, sourceElement: mission, target: mission, swap: "none" });
    }
  }

  // Of all moments that are asked for while the page is busy, only the newest is drawn.
  async seek(at, place = this.frames.find("at", at)) {
    document.body.classList.add("scrubbing");
    this.at = at;
    this.mark();
    this.wanted = place;
    if (this.busy) return;
    this.busy = true;
    while (this.wanted !== null) {
      const next = this.wanted;
      this.wanted = null;
      await this.tell(this.frames.jump(next));
      this.place = next;
    }
    this.busy = false;
    this.mark();
  }

  seekSeq(seq) {
    const place = this.frames.find("seq", seq);
    return this.seek(this.frames.frames[place].at, place);
  }

  mark() {
    if (!bar.matches(":active")) bar.value = this.at;
    mission.dataset.seq = this.seq;
    document.getElementById("t-out").textContent = asClock(this.at);
    bar.setAttribute("aria-valuetext", `${asClock(this.at)} of ${asClock(this.end)}`);
    strip?.dispatchEvent(new CustomEvent("strip:cursor", { detail: { at: this.at } }));
  }

  async start() {
    if (this.playing) return;
    if (this.place >= this.frames.last) await this.seek(0);
    document.body.classList.add("scrubbing");
    this.hold(false);
    this.before = performance.now();
    requestAnimationFrame((now) => this.advance(now));
  }

  hold(held = true) {
    this.playing = !held;
    play.textContent = held ? "▶" : "▌▌";
    play.setAttribute("aria-label", held ? "play the replay" : "pause the replay");
  }

  async advance(now) {
    if (!this.playing) return;
    const pace = Number(speed.value), passed = ((now - this.before) / 1000) * pace;
    this.before = now;
    if (!this.busy) await this.go(passed, pace);
    if (this.place >= this.frames.last && !this.busy) return this.finish();
    requestAnimationFrame((then) => this.advance(then));
  }

  async go(passed, pace) {
    const { frames } = this.frames, next = frames[this.place + 1];
    this.at = Math.max(this.at + passed, next ? next.at - LONGEST_GAP * pace : 0);
    const upto = this.frames.find("at", this.at);
    if (upto - this.place > CROWD) return this.seek(this.at, upto);
    this.busy = true;
    if (this.frames.next !== this.place + 1) this.frames.rewind(this.place + 1);
    while (this.place < upto) {
      await this.tell(this.frames.step());
      this.place += 1;
    }
    this.busy = false;
    this.mark();
    if (this.wanted !== null) await this.seek(this.at, this.wanted);
  }

  finish() {
    this.hold();
    this.at = this.end;
    this.mark();
    document.body.classList.remove("scrubbing");
    scrollTo(0, 0);
  }

  async toSummary() {
    this.hold();
    await this.seek(this.end, this.frames.last);
    this.finish();
  }

  toItem(step) {
    const before = this.starts.filter((seq) => seq < this.seq), after = this.starts.filter((seq) => seq > this.seq);
    return this.seekSeq(step < 0 ? (before.at(-1) ?? 1) : (after[0] ?? this.frames.frames.at(-1).seq));
  }

  async open(link) {
    const { pathname, searchParams } = new URL(link.getAttribute("href"), "http://file.invalid");
    const item = pathname.match(/\/items\/([^/]+)$/), own = pathname.startsWith(`/runs/${mission.dataset.run}`);
    if (own && searchParams.has("at")) {
      dialog.close();
      this.hold();
      await this.seekSeq(Number(searchParams.get("at")));
      if (!searchParams.get("speed")) return;
      speed.value = [...speed.options].some((one) => one.value === searchParams.get("speed")) ? searchParams.get("speed") : speed.value;
      await this.start();
    } else if (own && item && this.items[decodeURIComponent(item[1])]) {
      dialog.querySelector("div").innerHTML = this.items[decodeURIComponent(item[1])];
      dialog.showModal();
    } else if (own && pathname.split("/").length === 3) await this.toSummary();
    else explain();
  }
}

const note = Object.assign(document.createElement("p"), { className: "elsewhere", textContent: "This file holds one run. That page is on the server that made it.", hidden: true });
note.setAttribute("role", "status");
document.body.append(note);
const explain = () => {
  note.hidden = false;
  setTimeout(() => { note.hidden = true; }, 4000);
};

const begin = (show) => {
  const player = new Player(show);
  mission.player = player;
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    if (!link || link.getAttribute("href").startsWith("#")) return;
    event.preventDefault();
    player.open(link);
  });
  addEventListener("submit", (event) => event.target.method === "dialog" || event.preventDefault());
  play.addEventListener("click", () => (player.playing ? player.hold() : player.start()));
  bar.addEventListener("input", () => { player.hold(); player.seek(Number(bar.value)); });
  for (const name of ["strip:seek", "strip:picked"]) addEventListener(name, (event) => { player.hold(); player.seek(event.detail.at); });
  document.getElementById("previous").addEventListener("click", () => player.toItem(-1));
  document.getElementById("next").addEventListener("click", () => player.toItem(1));
  document.getElementById("to-summary").addEventListener("click", () => player.toSummary());
};
loaded.then(begin).finally(report);
