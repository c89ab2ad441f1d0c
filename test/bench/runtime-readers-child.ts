/** Many readers of one edge's event stream, in a process of their own. */
import { connect } from "node:net";
import { sleep } from "#src/base/clock.ts";
import { serve, settings } from "./runtime-child.ts";

export interface ReaderSettings {
  readonly url: string;
  readonly readers: number;
}

/** Asks when every reader has received so many events, and waits for that. */
export interface ReaderQuestion {
  readonly count: number;
}

export interface Received {
  /** When the last reader received it, in milliseconds since 1970. */
  readonly last: number;
  /** Readers that miss events, or received other ones. */
  readonly lost: number;
}

/** What a reader has received: the ids of its events, in their order. */
interface Reader {
  readonly ids: string[];
  last: number;
}

const { url, readers } = settings<ReaderSettings>();
const { hostname, port, host } = new URL(url);
const all: Reader[] = [];

/** Opens a stream; resolves when the server has sent its position. */
async function open(): Promise<void> {
  const reader: Reader = { ids: [], last: 0 };
  let rest = "";
  const socket = connect(Number(port), hostname);
  socket.setEncoding("latin1");
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject).once("close", () => reject(new Error("the stream ended")));
    socket.once("connect", () => socket.write(`GET /events HTTP/1.1\r\nhost: ${host}\r\n\r\n`));
    socket.on("data", (chunk: string) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop()!;
      for (const line of lines) {
        if (line.startsWith("id: ")) resolve();
        const id = /^data: .*"id":"([^"]+)"/.exec(line)?.[1];
        if (id === undefined) continue;
        reader.ids.push(id);
        reader.last = Date.now();
      }
    });
  });
  all.push(reader);
}

// Some at a time, so that the listener's queue of connections does not overflow.
let left = readers;
await Promise.all(Array.from({ length: 64 }, async () => {
  while (left-- > 0) await open();
}));

serve<ReaderQuestion, Received>(null, async ({ count }) => {
  const until = Date.now() + 60_000;
  while (all.some(({ ids }) => ids.length < count) && Date.now() < until) await sleep(5);
  const expected = all[0]!.ids.join();
  return {
    last: all.reduce((last, one) => Math.max(last, one.last), 0),
    lost: all.filter(({ ids }) =>
      ids.length !== count || ids.join() !== expected || new Set(ids).size !== count
    ).length,
  };
});
