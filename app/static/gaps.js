// What lies between samples. Idle machines are sampled every ten seconds: that is joined. A longer silence is a gap.
export const HOLD = 3;
const IDLE = 15;

// For one source, `looked` at some of the times: from which sample each place takes its value (-1 in a gap), whether
// that is so old that only an idle machine can be between, and the gaps. The time ends at `end`.
export const findGaps = (looked, times, step, end) => {
  const from = new Array(times.length).fill(-1), old = new Array(times.length).fill(false), gaps = [];
  const held = Math.max(HOLD, 1.5 * step), idle = Math.max(IDLE, 1.5 * step);
  let last = -1;
  const close = (next, at) => {
    if (last < 0) return;
    const joined = at - times[last] <= idle;
    for (let place = last; place < next; place += 1) {
      const age = times[place] - times[last];
      if (!joined && age > held) break;
      from[place] = last;
      old[place] = age > held;
    }
    if (!joined) gaps.push([times[last] + step, at]);
  };
  looked.forEach((is, place) => {
    if (!is) return;
    close(place, times[place]);
    last = place;
  });
  close(times.length, end);
  return { from, old, gaps, first: looked.indexOf(true) };
};

const known = (value) => value !== null && value !== undefined;
const toSource = (one) => (one.kind === "role" || one.kind === "run" ? one.kind : `${one.kind} ${one.host} ${one.of}`);

// Each series with its idle time joined: a level stays, a flow falls to zero. Times without any sample are `gaps`.
export const joinSeries = (data, own, end, isFlow) => {
  const sources = new Map();
  for (const one of own) sources.set(toSource(one), [...(sources.get(toSource(one)) ?? []), one]);
  const values = new Map(), gaps = [];
  let first = data.times.length;
  for (const members of sources.values()) {
    const found = findGaps(data.times.map((_, place) => members.some((one) => known(one.values[place]))), data.times, data.step, end);
    if (found.first < 0) continue;
    first = Math.min(first, found.first);
    gaps.push(...found.gaps);
    for (const one of members) {
      values.set(one, found.from.map((from, place) => (from < 0 ? null : found.old[place] && isFlow(one) ? 0 : one.values[from])));
    }
  }
  if (!sources.size || first === data.times.length) return { values, gaps: [[-Infinity, end]] };
  if (first) gaps.push([-Infinity, data.times[first]]);
  return { values, gaps };
};
