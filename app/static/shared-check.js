// The chain of hashes and the signature of a shared file, checked in the browser as app/evidence/signed_log_in_html_file.py does it.
export class Broken extends Error {}
const WITHHELD = ["turn.started", "questions"];
const MARK = 8, SEALED = "temper shared file\n", SPACE = 32, NEWLINE = 10;
const encode = (text) => new TextEncoder().encode(text);
const decode = (bytes) => new TextDecoder().decode(bytes);
const toHex = (bytes) => Array.from(bytes, (one) => one.toString(16).padStart(2, "0")).join("");
const fromHex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const digest = async (bytes) => toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
const join = (...parts) => {
  const whole = new Uint8Array(parts.reduce((size, one) => size + one.length, 0));
  parts.reduce((at, one) => { whole.set(one, at); return at + one.length; }, 0);
  return whole;
};
const readEvent = (line) => { try { return JSON.parse(decode(line)); } catch { return {}; } };

function* splitLines(bytes) {
  for (let start = 0; start <= bytes.length;) {
    const found = bytes.indexOf(NEWLINE, start), end = found < 0 ? bytes.length : found;
    yield bytes.subarray(start, end);
    start = end + 1;
  }
}

// Follows the hashes to the head, and compares the digest of all lines, since no hash leads across a withheld event; throws Broken with the first event that is not what was recorded.
export const checkChain = async (bytes, manifest) => {
  const withheld = new Set(manifest.withheld);
  let previous = "0".repeat(64), seq = 0;
  for (const text of splitLines(bytes)) {
    seq += 1;
    const space = text.indexOf(SPACE), mark = decode(text.subarray(0, space)), line = text.subarray(space + 1), event = readEvent(line);
    if (withheld.has(seq) && !WITHHELD.includes(event.kind)) throw new Broken(`Event ${seq} is not what was recorded: only prompts and answers may be withheld.`);
    previous = withheld.has(seq) ? mark : await digest(join(encode(previous), line));
    if (previous.slice(0, MARK) !== mark.slice(0, MARK)) throw new Broken(`Event ${seq} is not what was recorded: its hash does not follow from event ${seq - 1}.`);
    if (event.seq !== seq || event.run !== manifest.run) throw new Broken(`Event ${seq} says of itself that it is another.`);
  }
  if (seq !== manifest.events || previous !== manifest.chain_head) throw new Broken(`The ${seq} events do not lead to the chain head of ${manifest.events} events that was signed.`);
  if (manifest.lines && (await digest(bytes)) !== manifest.lines) throw new Broken("The events are not what was signed.");
};

export const checkShow = async (bytes, manifest) => {
  if ((await digest(bytes)) !== manifest.show) throw new Broken("The pictures of the replay are not what was signed.");
};

// Returns false where this browser does not have Ed25519.
export const checkSignature = async (bytes, signature, key) => {
  let imported;
  try {
    imported = await crypto.subtle.importKey("raw", fromHex(key), { name: "Ed25519" }, false, ["verify"]);
  } catch (error) {
    if (error.name === "NotSupportedError") return false;
    throw new Broken("The manifest names no key.");
  }
  const holds = await crypto.subtle.verify({ name: "Ed25519" }, imported, fromHex(signature), join(encode(SEALED), bytes));
  if (!holds) throw new Broken(`The signature is wrong: the key ${key} did not sign this file.`);
  return true;
};
