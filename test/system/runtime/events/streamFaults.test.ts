/**
 * Transitions wait in the outbox while their stream is away. The test answers JetStream's requests on an embedded
 * endpoint itself, because it needs faults at exact moments; `test/long/streamCluster.test.ts` has a real cluster.
 */
import { expect, test } from "vitest";
import { createLog } from "#src/base/log.ts";
import { connectBus } from "#src/runtime/bus/bus.ts";
import { readIncompleteStreams } from "#src/runtime/events/streamRecord.ts";
import { until } from "../../../support/base/until.ts";
import { openOutbox } from "../../../support/runtime/outbox.ts";

const NO_QUORUM = { error: { err_code: 10_008, description: "JetStream system temporarily unavailable" } };

/** Streams with faults; a message is stored only while `mode` is "there". */
async function scriptedStreams(url: string, token: string | undefined) {
  const bus = await connectBus({ url, token });
  let streams = new Map<string, { config: object; created: string; stored: string[] }>();
  let mode: "there" | "no quorum" | "no JetStream" = "there";
  let ends: (() => void)[] = [];
  const serve = () => {
    const ends = [
      bus.subscribe("$JS.API.STREAM.INFO.*", (_, respond, subject) => {
        const stream = streams.get(subject.split(".").at(-1)!);
        if (mode === "no quorum") respond?.(NO_QUORUM);
        else if (stream === undefined) respond?.({ error: { err_code: 10_059, description: "stream not found" } });
        else respond?.({ ...stream, state: { last_seq: stream.stored.length } });
      }),
      bus.subscribe("$JS.API.STREAM.CREATE.*", (config, respond, subject) => {
        const stream = { config: config as object, created: new Date().toISOString() + streams.size, stored: [] };
        streams.set(subject.split(".").at(-1)!, stream);
        respond?.(stream);
      }),
      bus.subscribe("arbor.event.>", (body, respond) => {
        const { stored } = streams.get("ARBOR_EVENTS") ?? {};
        if (mode === "no quorum" || stored === undefined) return respond?.(NO_QUORUM);
        const id = (body as { id: string }).id;
        if (!stored.includes(id)) stored.push(id);
        respond?.({ stream: "ARBOR_EVENTS", seq: stored.indexOf(id) + 1 });
      }),
    ];
    return ends;
  };
  ends = serve();
  await bus.flush();
  return {
    stored: () => streams.get("ARBOR_EVENTS")?.stored ?? [],
    become: async (next: typeof mode) => {
      if (next === "no JetStream") { for (const end of ends.splice(0)) end(); }
      else if (ends.length === 0) ends = serve();
      mode = next;
      await bus.flush();
    },
    wipe: () => streams = new Map(),
    close: () => bus.close(),
  };
}

async function world() {
  const outbox = await openOutbox();
  const streams = await scriptedStreams(outbox.infra.natsUrl, outbox.infra.natsToken);
  const stop = async () => {
    await outbox.stop();
    await streams.close();
  };
  return { ...outbox, streams, stop };
}

test.concurrent.for(["no quorum", "no JetStream"] as const)(
  "with %s transitions wait, and are stored when it is back",
  async (fault) => {
    const { streams, publisher, write, waiting, stop } = await world();
    try {
      const lines: string[] = [];
      const first = await publisher(undefined, createLog("warn", {}, (line) => lines.push(JSON.parse(line).message)));
      first.push([await write()]);
      await until("the first is marked", async () => (await waiting()).length === 0);
      await streams.become(fault);
      first.push([await write()]);
      await until("the fault is reported", async () => lines.length > 0);
      // A process that starts meanwhile does not know the stream.
      await first.stop(0);
      const second = await publisher();
      await write();
      const swept = second.sweep([0], 0);
      expect(await Promise.race([swept, new Promise((resolve) => setTimeout(resolve, 700, "waits"))])).toBe("waits");
      expect(await waiting()).toEqual([2, 3]);
      await streams.become("there");
      await swept;
      expect(streams.stored()).toEqual(["other/x:1", "other/x:2", "other/x:3"]);
      expect(await waiting()).toEqual([]);
    } finally {
      await stop();
    }
  },
);

test.concurrent("a stream that was wiped gets what follows, and is recorded as incomplete", async () => {
  const { store, streams, publisher, write, waiting, stop } = await world();
  try {
    const one = await publisher();
    one.push([await write()]);
    await until("the first is marked", async () => (await waiting()).length === 0);
    expect(await readIncompleteStreams(store)).toEqual([]);
    streams.wipe();
    one.push([await write()]);
    await until("the second is marked", async () => (await waiting()).length === 0, 20_000);
    expect(streams.stored()).toEqual(["other/x:2"]);
    expect(await readIncompleteStreams(store)).toContain("ARBOR_EVENTS");
  } finally {
    await stop();
  }
});

test.concurrent("without JetStream from the start they go over core NATS", async () => {
  const { streams, publisher, write, waiting, stop } = await world();
  try {
    await streams.become("no JetStream");
    const one = await publisher();
    one.push([await write()]);
    await until("it is marked", async () => (await waiting()).length === 0);
  } finally {
    await stop();
  }
});
