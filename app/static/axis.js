// The axis of a run's timeline: seconds of work, on which a longer wait takes FOLDED seconds. As in timeline.py.
export const FOLDED = 5;

export class Axis {
  constructor(zero, waits) {
    this.zero = zero;
    this.waits = waits;
  }

  // The seconds on the axis of a time, which is in seconds since 1970.
  toPlace(at) {
    let place = at - this.zero;
    for (const [since, until] of this.waits) {
      if (at <= since) break;
      const end = until ?? at, length = Math.max(end - since, 0.001);
      place -= Math.min(at, end) - since - Math.min(length, FOLDED) * Math.min(1, (at - since) / length);
    }
    return Math.max(0, place);
  }

  toTime(place) {
    let at = this.zero + place;
    for (const [since, until] of this.waits) {
      if (at <= since || until === null) break;
      const length = until - since, kept = Math.min(length, FOLDED);
      at = at < since + kept ? since + ((at - since) * length) / kept : at + length - kept;
    }
    return at;
  }
}

export const asClock = (seconds) => {
  const whole = Math.floor(seconds), two = (number) => String(number).padStart(2, "0");
  const minutes = `${Math.floor(whole / 60) % 60}`;
  return whole < 3600 ? `${minutes}:${two(whole % 60)}` : `${Math.floor(whole / 3600)}:${two(minutes)}:${two(whole % 60)}`;
};
