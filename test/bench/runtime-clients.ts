/**
 * The clients of the benchmark, in a process of their own: each sends a request, waits for the response and repeats
 * that. Over HTTP they all use their server in the same way, whichever it is: one kept-alive connection per client, one
 * request at a time.
 */
import { connect, type Socket } from "node:net";
import { sleep } from "#src/base/clock.ts";
import { createAsk } from "#src/runtime/bus/ask.ts";
import { connectBus } from "#src/runtime/bus/bus.ts";
import type { Event } from "#src/runtime/types.ts";
import { openStore } from "#src/store/store.ts";
import { serve, settings } from "./runtime-child.ts";

export interface ClientSettings {
  readonly databaseUrl: string;
  readonly natsUrl: string;
  readonly natsToken: string;
}

/** A command that is sent to an entity over NATS. */
export interface Question {
  readonly kind: string;
  readonly event?: Event;
  /** A build by its name, instead of an event. */
  readonly build?: string;
}

export interface Load {
  /** Where to send requests; over NATS by default. `ID` in it is replaced by the entity's, `MS` by the time until `at`. */
  readonly url?: string;
  readonly body?: string;
  readonly at?: number;
  /** Over NATS; an addition to a counter by default. */
  readonly question?: Question;
  readonly prefix: string;
  readonly entities: number;
  readonly clients: number;
  /** Duration, in milliseconds. */
  readonly ms: number;
  /** Answered in the end, however long it takes: each entity once instead of `ms`. */
  readonly once?: boolean;
}

export interface Loaded {
  readonly answered: number;
  readonly failed: number;
  readonly seconds: number;
  /** Milliseconds. */
  readonly mean: number;
  readonly p50: number;
  readonly p99: number;
  readonly longest: number;
  /** When the first response arrived, in milliseconds after the start. */
  readonly first: number;
}

const { databaseUrl, natsUrl, natsToken } = settings<ClientSettings>();
const bus = await connectBus({ url: natsUrl, token: natsToken });
const ask = createAsk({ bus, store: openStore(databaseUrl, { max: 1, application: "clients" }) });

/** An addition to a counter. */
const ADD: Question = { kind: "counter", event: { type: "ADD", amount: 1 } };

function overNats({ kind, event, build }: Question): (id: string) => Promise<boolean> {
  const options = { deadlineMs: 60_000 };
  if (build !== undefined) return async (id) => (await ask.build({ kind, id }, build, { amount: 1 }, options)).ok;
  return async (id) => (await ask.ask({ kind, id }, event!, options)).ok;
}

/** One client of HTTP/1.1 on one kept-alive connection; returns whether the response was one of success. */
async function overHttp(url: string, body: string, at = 0): Promise<(id: string) => Promise<boolean>> {
  const { hostname, port, host } = new URL(url);
  const path = url.slice(url.indexOf("/", 8));
  let socket: Socket | undefined;
  let settle: { resolve(ok: boolean): void; reject(error: Error): void } | undefined;
  let text = "";
  const open = async () => {
    text = "";
    const fresh = connect(Number(port), hostname);
    fresh.setNoDelay(true);
    fresh.setEncoding("latin1");
    await new Promise<void>((resolve, reject) => fresh.once("connect", resolve).once("error", reject));
    fresh.on("data", (chunk: string) => {
      text += chunk;
      const end = endOf(text);
      if (end === undefined) return;
      const ok = text.startsWith("HTTP/1.1 20");
      text = text.slice(end);
      settle?.resolve(ok);
    });
    fresh.on("error", () => fresh.destroy());
    fresh.on("close", () => {
      socket = undefined;
      settle?.reject(new Error("closed"));
    });
    return fresh;
  };
  socket = await open().catch(() => undefined);
  return async (id) => {
    socket ??= await open();
    const answer = new Promise<boolean>((resolve, reject) => settle = { resolve, reject });
    socket.write(
      `POST ${
        path.replace("ID", id).replace("MS", String(at - Date.now()))
      } HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\n` +
        `content-length: ${body.length}\r\n\r\n${body}`,
    );
    return await answer;
  };
}

/** The end of a response, with a length or in chunks. */
function endOf(text: string): number | undefined {
  const head = text.indexOf("\r\n\r\n");
  if (head < 0) return undefined;
  const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, head));
  if (length !== null) {
    const end = head + 4 + Number(length[1]);
    return text.length >= end ? end : undefined;
  }
  const last = text.indexOf("0\r\n\r\n", head + 4);
  return last < 0 ? undefined : last + 5;
}

async function run({ url, body, at: due, question = ADD, prefix, entities, clients, ms, once }: Load): Promise<Loaded> {
  const times: number[] = [];
  const askers = await Promise.all(
    Array.from({ length: clients }, () => url === undefined ? overNats(question) : overHttp(url, body ?? "", due)),
  );
  let next = 0;
  let failed = 0;
  let first = NaN;
  const begun = performance.now();
  await Promise.all(askers.map(async (put) => {
    while (once ? next < entities : performance.now() - begun < ms) {
      const id = `${prefix}${once ? next++ : (next++ * 7_919) % entities}`;
      const startedAt = performance.now();
      let ok = false;
      do {
        ok = await put(id).catch(() => false);
        if (!ok) {
          failed++;
          await sleep(5);
        }
      } while (!ok && once);
      const now = performance.now();
      if (ok) times.push(now - startedAt);
      if (ok && Number.isNaN(first)) first = now - begun;
    }
  }));
  const seconds = (performance.now() - begun) / 1_000;
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? NaN;
  const mean = times.reduce((sum, time) => sum + time, 0) / times.length;
  return {
    answered: times.length,
    failed,
    seconds,
    mean,
    p50: at(0.5),
    p99: at(0.99),
    longest: times.at(-1) ?? NaN,
    first,
  };
}

serve(null, run);
