// Says what the check of this file found, what it could not check, and against whose word the key was held.
import { Broken, checkChain, checkShow, checkSignature } from "./shared-check.js";
import { takeBlock, unpackBlock } from "./shared-frames.js";

const place = document.getElementById("shared-check"), badge = document.getElementById("check-badge"), pin = document.getElementById("pin");
const WORDS = { valid: "CHECKED", broken: "NOT GENUINE", unchecked: "PARTLY CHECKED" };
const lines = document.getElementById("check-lines");
let manifest = {}, found = [];

const judgePin = () => {
  const given = pin.value.trim().toLowerCase();
  if (!given) return ["unsure", `Not pinned: the key ${manifest.key} is vouched for by this file alone. Compare it with the one that temper key prints on the Temper that made the file.`];
  if (given === manifest.key) return ["fine", "Pinned: the key is the one that you gave."];
  if (given === manifest.chain_head && manifest.withheld.length) return ["unsure", "The chain head is the one that you gave. It does not pin the events before the last withheld prompt: give the key."];
  if (given === manifest.chain_head) return ["fine", "Pinned: the chain head is the one that you gave."];
  return ["fault", "Neither the key nor the chain head of this file is the one that you gave."];
};
const show = () => {
  const told = found.some(([kind]) => kind === "fault") ? found : [...found, judgePin()];
  lines.replaceChildren(...told.map(([kind, text]) => Object.assign(document.createElement("li"), { className: kind, textContent: text })));
  const state = told.some(([kind]) => kind === "fault") ? "broken" : found.some(([kind]) => kind === "unsure") ? "unchecked" : "valid";
  place.dataset.state = state;
  badge.textContent = WORDS[state];
  badge.className = `badge checked ${state}`;
};
const checkFile = async () => {
  if (!globalThis.crypto?.subtle) return [["unsure", "This browser offers no cryptography to this page, so nothing was checked. Open the file from disk, or run temper verify FILE."]];
  const content = takeBlock("manifest"), signature = new TextDecoder().decode(takeBlock("signature"));
  manifest = JSON.parse(new TextDecoder().decode(content));
  const signed = await checkSignature(content, signature, manifest.key);
  await checkShow(await unpackBlock("show"), manifest);
  await checkChain(await unpackBlock("lines"), manifest);
  const hidden = manifest.withheld.length, untied = manifest.lines ? 0 : Math.max(0, ...manifest.withheld);
  return [
    ["fine", `${untied ? `The events after event ${untied}` : `All ${manifest.events} events`} are those of the manifest, up to the chain head ${manifest.chain_head}.`],
    ...(hidden ? [["fine", `${hidden} of them have prompts, which are withheld: their hashes are part of the chain, and their text is not in this file.`]] : []),
    ...(untied ? [["unsure", `An older Temper made this file: its first ${untied} events are not signed.`]] : []),
    signed ? ["fine", `The key ${manifest.key} signed the chain head and the pictures of the replay.`]
      : ["unsure", "This browser does not know Ed25519, so it did not check the signature. The digests of events and pictures agree with the manifest."],
  ];
};
export const report = async () => {
  try {
    found = await checkFile();
  } catch (error) {
    found = [["fault", error instanceof Broken ? error.message : `The data of this file is damaged: ${error.message}`]];
  }
  show();
};
pin.addEventListener("input", show);
