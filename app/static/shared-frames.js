// The frames of a recorded run: unpacked, and put together again to the messages that the stream has sent.
const KEEP = 100; // frames between two states that are kept, so that a seek replays few

export const takeBlock = (name) => Uint8Array.from(atob(document.getElementById(`shared-${name}`).textContent.trim()), (one) => one.charCodeAt(0));
export const unpackBlock = async (name) => {
  const stream = new Blob([takeBlock(name)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
};

const patchLines = (before, patch) => patch.flatMap((one) => (typeof one === "string" ? one.split("\n") : before.slice(one[0], one[1])));
const wrapPart = (head, lines) => `<hx-partial ${head}>${lines.join("\n")}</hx-partial>`;

export class Frames {
  constructor({ frames, events, parts }) {
    this.frames = frames.map(([at, seq, whole]) => ({ at: at / 1000, seq, whole, events: [], patches: [] }));
    for (const [name, told] of Object.entries(events)) for (const [place, data] of told) this.frames[place].events.push([name, data]);
    for (const [head, told] of Object.entries(parts)) for (const [place, patch] of told) this.frames[place].patches.push([head, patch]);
    this.kept = [new Map()]; // the parts before frame 0, KEEP, 2 KEEP …
    this.rewind(0);
  }

  get last() { return this.frames.length - 1; }

  // The last frame that is not later, by its time or its seq.
  find(name, value) {
    let low = 0, high = this.last;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.frames[middle][name] <= value) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  rewind(place) {
    const near = Math.min(Math.floor(place / KEEP), this.kept.length - 1);
    this.next = near * KEEP;
    this.parts = new Map(this.kept[near]);
    while (this.next < place) this.step();
  }

  // Goes one frame further, and returns its messages in order: [name, data] of an event, or ["", text] to swap.
  step() {
    const { events, patches } = this.frames[this.next];
    const text = patches.map(([head, patch]) => {
      const lines = patchLines(this.parts.get(head) ?? [], patch);
      this.parts.set(head, lines);
      return wrapPart(head, lines);
    }).join("");
    this.next += 1;
    if (this.next % KEEP === 0) this.kept[this.next / KEEP] ??= new Map(this.parts);
    return text ? [...events, ["", text]] : events;
  }

  // All messages that show the page as it was after a frame, wherever it is now.
  jump(place) {
    let whole = place;
    while (whole > 0 && !this.frames[whole].whole) whole -= 1;
    this.rewind(whole + 1);
    const told = [["", [...this.parts].map(([head, lines]) => wrapPart(head, lines)).join("")]];
    while (this.next <= place) told.push(...this.step());
    return told;
  }
}
