// A client of Temper's API for browsers, Node 20, Deno and Bun. Copy it with operations.ts into your project. Apache-2.0.
import { type Calls, type Event, OPERATIONS, type RunView } from "./operations.ts";

export type * from "./operations.ts";

/** The server refused a request. `kind` is the last part of the problem's type, such as "not-found". */
export class Problem extends Error {
  readonly status: number;
  readonly kind: string;
  readonly faults: ReadonlyArray<{ field: string; detail: string }>;

  constructor(status: number, kind: string, detail: string, faults: Problem["faults"] = []) {
    super(detail);
    this.status = status;
    this.kind = kind;
    this.faults = faults;
  }
}

interface Given {
  path?: Record<string, string>;
  query?: Record<string, unknown>;
  headers?: Record<string, string | null | undefined>;
  body?: unknown;
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export class Temper {
  private readonly url: string;
  private readonly token: string;

  constructor(url = "http://127.0.0.1:8000", token = "") {
    this.url = url;
    this.token = token;
  }

  /** Send an operation by its name in /openapi.json. */
  async call<K extends keyof Calls>(name: K, given: Calls[K]["given"]): Promise<Calls[K]["answer"]> {
    const [method, path] = OPERATIONS[name];
    const { body, ...rest } = given as Given;
    const answer = await fetch(this.address(path, rest), {
      method,
      headers: { ...this.headers(rest.headers), ...(body === undefined ? {} : { "content-type": "application/json" }) },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (!answer.ok) throw await readProblem(answer);
    if (answer.status === 204) return null as Calls[K]["answer"];
    const isFile = path.slice(path.lastIndexOf("/")).includes(".") || name === "metrics";
    return (isFile ? await answer.blob() : await answer.json()) as Calls[K]["answer"];
  }

  /** Yield the events of a run until it ends. A lost connection is resumed after the last event. */
  async *followRun(run: string, since = 0): AsyncGenerator<Event> {
    const address = this.address("/api/v1/runs/{run}/stream", { path: { run } });
    for (let wait = 500; ; wait = Math.min(2 * wait, 10_000)) {
      try {
        const answer = await fetch(address, { headers: this.headers(since ? { "last-event-id": String(since) } : {}) });
        if (!answer.ok && answer.status < 500) throw await readProblem(answer);
        for await (const message of answer.ok ? readMessages(answer) : []) {
          wait = 250;
          if (message.event === "end") return;
          if (message.event === "reset") since = 0;
          else {
            since = Number(message.id);
            yield JSON.parse(message.data) as Event;
          }
        }
      } catch (error) {
        if (!(error instanceof TypeError)) throw error; // fetch throws this if the connection is lost
      }
      await pause(wait);
    }
  }

  async waitForRun(run: string): Promise<RunView> {
    for await (const _ of this.followRun(run));
    return this.call("show_run", { path: { run } });
  }

  /** Yield all runs, newest first. */
  async *iterateRuns(query: NonNullable<Calls["list_runs"]["given"]["query"]> = {}): AsyncGenerator<RunView> {
    let cursor: string | null | undefined = query.cursor;
    do {
      const page: Calls["list_runs"]["answer"] = await this.call("list_runs", { query: { ...query, cursor } });
      yield* page.runs;
      cursor = page.cursors.next;
    } while (cursor !== null);
  }

  private address(path: string, { path: parts = {}, query = {} }: Given): string {
    const filled = path.replace(/{(\w+)}/g, (_, name) => encodeURIComponent(parts[name] ?? ""));
    const words = Object.entries(query).filter(([, value]) => value !== null && value !== undefined);
    return `${this.url}${filled}${words.length ? `?${new URLSearchParams(words.map(([name, value]) => [name, String(value)]))}` : ""}`;
  }

  private headers(more: Given["headers"] = {}): Record<string, string> {
    const sent = Object.entries(more).filter((pair): pair is [string, string] => typeof pair[1] === "string");
    return { ...Object.fromEntries(sent), ...(this.token ? { authorization: `Bearer ${this.token}` } : {}) };
  }
}

async function readProblem(answer: Response): Promise<Problem> {
  const text = await answer.text();
  try {
    const said = JSON.parse(text);
    return new Problem(answer.status, said.type.split("/").pop(), said.detail, said.errors);
  } catch {
    return new Problem(answer.status, "", text.slice(0, 500));
  }
}

/** Yield the server-sent events of an answer; a message that is cut off is dropped. */
async function* readMessages(answer: Response): AsyncGenerator<{ id: string; event: string; data: string }> {
  const reader = answer.body!.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let waiting = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const messages = (waiting + part.value).split("\n\n");
    waiting = messages.pop()!;
    for (const text of messages) {
      const fields: Record<string, string[]> = {};
      for (const line of text.split("\n")) {
        const at = line.indexOf(":");
        if (at > 0) (fields[line.slice(0, at)] ??= []).push(line.slice(at + 1).replace(/^ /, ""));
      }
      if (fields.data) yield { id: fields.id?.[0] ?? "", event: fields.event?.[0] ?? "", data: fields.data.join("\n") };
    }
  }
}
