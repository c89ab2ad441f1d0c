/** Server-sent events in chunks of any size, and a stream that reconnects by itself. */
import { createServer, type ServerResponse } from "node:http";
import { once } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { afterEach, describe, expect, it, test } from "vitest";
import { utf8 } from "#src/base/bytes.ts";
import { follow, type FollowedItem, readEvents, type StreamItem } from "#src/client/sse.ts";

async function itemsOf(text: string, cuts: readonly number[]): Promise<StreamItem[]> {
  const bytes = utf8(text);
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1))), bytes.length].sort((a, b) => a - b);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      let from = 0;
      for (const end of ends) {
        if (end > from) controller.enqueue(bytes.slice(from, end));
        from = end;
      }
      controller.close();
    },
  });
  const all: StreamItem[] = [];
  for await (const one of readEvents(body)) all.push(one);
  return all;
}

test("events are the same in any chunks, with any line ends", async () => {
  const line = fc.string({ unit: "grapheme", maxLength: 8 }).filter((text) =>
    !/[\r\n]/.test(text) && !text.startsWith(" ")
  );
  const sent = fc.record({
    event: fc.constantFrom("transaction", "rolled_back"),
    id: line.filter((text) => text !== ""),
    data: fc.array(line, { minLength: 1, maxLength: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(sent, { maxLength: 5 }),
      fc.constantFrom("\n", "\r\n", "\r"),
      fc.array(fc.nat(), { maxLength: 12 }),
      async (events, end, cuts) => {
        const text = events.map(({ event, id, data }) =>
          [": a comment", `event: ${event}`, `id: ${id}`, ...data.map((one) => `data: ${one}`), "", ""].join(end)
        ).join("");
        // a carriage return at the end may be half of a line end
        expect(await itemsOf(`retry: 5${end}${end}id: 0${end}${end}${text}: end${end}`, cuts)).toEqual([
          { type: "retry", ms: 5 },
          { type: "id", id: "0" },
          ...events.flatMap(({ event, id, data }) => [
            { type: "id", id },
            { type: "event", event: { event, id, data: data.join("\n") } },
          ]),
        ]);
      },
    ),
    { numRuns: 100 },
  );
});

describe("a stream that is followed", () => {
  const stops: (() => void)[] = [];
  afterEach(() => {
    for (const stop of stops.splice(0)) stop();
  });

  /** A server with a handler for each request, which records the position that each requests. */
  async function serving(...answers: readonly ((response: ServerResponse) => void)[]) {
    const from: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      const last = request.headers["last-event-id"];
      from.push(typeof last === "string" ? last : undefined);
      answers[Math.min(from.length, answers.length) - 1]!(response);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    stops.push(() => {
      server.close();
      server.closeAllConnections();
    });
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`, from };
  }
  const stream = (text: string, after: (response: ServerResponse) => void) => (response: ServerResponse) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(text, () => after(response));
  };
  const refusing = (status: number, code: string, more: Record<string, string> = {}, details?: object) =>
  (
    response: ServerResponse,
  ) => {
    response.writeHead(status, { "content-type": "application/json", ...more });
    response.end(JSON.stringify({ code, message: "No.", details }));
  };

  async function taken(followed: AsyncGenerator<FollowedItem, void>, count: number): Promise<string[]> {
    const all: string[] = [];
    for await (const one of followed) {
      all.push(
        one.type === "event"
          ? one.event.data
          : one.type === "opened"
          ? `opened ${one.id}`
          : `restored ${one.restoredTo}`,
      );
      if (all.length === count) break;
    }
    return all;
  }

  it("continues after the last event when the server ends it, breaks the connection or is away for a moment", async () => {
    const { url, from } = await serving(
      stream("retry: 1\n\nid: 0\n\nid: 1\ndata: one\n\n", (response) => response.end()),
      refusing(503, "unavailable"),
      stream("id: 2\ndata: two\n\nid: 3\n\n", (response) => response.destroy()),
      stream("id: 3\n\nid: 4\ndata: four\n\n", () => {}),
    );
    expect(await taken(follow(url), 6)).toEqual(["opened 0", "one", "opened 2", "two", "opened 3", "four"]);
    expect(from).toEqual([undefined, "1", "1", "3"]);
  });

  it("begins again where the server names it, after the database was restored to an earlier point", async () => {
    const refused = { generation: "mx1sjqtc", restoredTo: "7" };
    const { url, from } = await serving(
      stream("retry: 1\n\nid: 9\n\n", (response) => response.end()),
      refusing(409, "restored", {}, { ...refused, begin: "start" }),
      stream("id: 1\ndata: one\n\n", (response) => response.end()),
      refusing(409, "restored", {}, { ...refused, begin: null }),
      stream("id: 2\n\n", () => {}),
    );
    const items = await taken(follow(url), 6);
    expect(items).toEqual(["opened 9", "restored 7", "opened 1", "one", "restored 7", "opened 2"]);
    expect(from).toEqual([undefined, "9", "start", "1", undefined]);
    // without a position there is nothing to begin again
    const { url: other } = await serving(refusing(409, "restored", {}, refused));
    await expect(follow(other).next()).rejects.toMatchObject({ code: "restored" });
  });

  it("reports the server's error, and an unreachable server on the first request", async () => {
    const { url, from } = await serving(refusing(400, "bad_request"));
    await expect(follow(url, { after: "x" }).next()).rejects.toMatchObject({
      status: 400,
      code: "bad_request",
      message: "No.",
    });
    expect(from).toEqual(["x"]);
    for (const stop of stops.splice(0)) stop();
    await expect(follow(url).next()).rejects.toMatchObject({ status: 0, code: "unreachable" });
    // also later, if the error is permanent
    const gone = await serving(
      stream("retry: 1\n\nid: 1\n\n", (response) => response.end()),
      refusing(404, "no_such_wallet"),
    );
    await expect(taken(follow(gone.url), 9)).rejects.toMatchObject({ status: 404 });
  });

  it.each([429, 503])("reconnects after a %i, not before the time that Retry-After states", async (status) => {
    const times: number[] = [];
    const noting = (respond: (response: ServerResponse) => void) => (response: ServerResponse) => {
      times.push(performance.now());
      respond(response);
    };
    const { url, from } = await serving(
      stream("retry: 1\n\nid: 1\ndata: one\n\n", (response) => response.end()),
      noting(refusing(status, "later", { "retry-after": "1" })),
      noting(stream("id: 1\n\nid: 2\ndata: two\n\n", () => {})),
    );
    expect(await taken(follow(url), 4)).toEqual(["opened 1", "one", "opened 1", "two"]);
    expect(from).toEqual([undefined, "1", "1"]);
    expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(990);
  });

  it("waits after a 429 on its first request, with or without Retry-After", async () => {
    const { url } = await serving(
      refusing(429, "rate_limited", { "retry-after": "0" }),
      refusing(429, "rate_limited"),
      stream("id: 1\n\n", () => {}),
    );
    expect(await taken(follow(url, { retryMs: 1 }), 1)).toEqual(["opened 1"]);
    const unavailable = await serving(refusing(503, "unavailable", { "retry-after": "0" }));
    await expect(follow(unavailable.url).next()).rejects.toMatchObject({ status: 503 });
  });

  it("ends with its signal, and closes its connection when the consumer stops reading", async () => {
    let closed = 0;
    const { url } = await serving((response) => {
      response.on("close", () => closed++);
      stream("id: 1\n\n", () => {})(response);
    });
    const end = new AbortController();
    const followed = follow(url, { signal: end.signal });
    expect(await followed.next()).toEqual({ done: false, value: { type: "opened", id: "1" } });
    const next = followed.next();
    end.abort();
    expect(await next).toEqual({ done: true, value: undefined });
    expect(await taken(follow(url), 1)).toEqual(["opened 1"]);
    while (closed < 2) await new Promise((resolve) => setTimeout(resolve, 5));

    // also if memory was collected since it began
    const later = new AbortController();
    const long = follow(url, { signal: later.signal });
    await long.next();
    const last = long.next();
    setFlagsFromString("--expose-gc");
    const tidy = runInNewContext("gc") as () => void;
    for (let i = 0; i < 3; i++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      tidy();
    }
    later.abort();
    expect(await last).toEqual({ done: true, value: undefined });
    expect(await follow(url, { signal: end.signal }).next()).toEqual({ done: true, value: undefined });
  });
});
