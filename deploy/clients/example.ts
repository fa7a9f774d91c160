// Start a run, follow it, and print what passed. With Node 24: node example.ts; Deno and Bun run it, too.
import { Problem, Temper } from "./temper.ts";

const address = process.env["TEMPER"] ?? "http://127.0.0.1:8000";
const temper = new Temper(address, process.env["TEMPER_TOKEN"]);
const order = { host: "fixture", rules: ["V-257820", "V-257985"] };
const run = await temper.call("start_run", { body: order, headers: { "Idempotency-Key": `example-${Date.now()}` } });
for await (const event of temper.followRun(run.id)) {
  if (event.kind === "item.passed") console.log("passed", event.rule);
}
console.log((await temper.call("show_run", { path: { run: run.id } })).state);
for await (const one of temper.iterateRuns({ limit: 1 })) console.log("run", one.id === run.id || "earlier");
const pack = await temper.call("take_pack", { path: { run: run.id } });
console.log("evidence", pack.size > 1000);
try {
  await temper.call("show_run", { path: { run: "gone" } });
} catch (error) {
  console.log(error instanceof Problem && error.kind);
}
