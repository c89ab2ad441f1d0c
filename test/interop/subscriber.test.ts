/** `examples/subscriber.py` (nats-py) at the embedded endpoint and at nats-server: order, kills, gaps and restores. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import type {} from "./libraries.ts";
import { beginGeneration, type Generation, withGenerations } from "#src/runtime/events/generation.ts";
import { pruneEvents } from "#src/runtime/events/replay.ts";
import type { Transition } from "#src/runtime/events/transition.ts";
import { until } from "../support/base/until.ts";
import {
  eventDatabase,
  insertTransitions,
  serveDatabase,
  type ServedEndpoint,
  startEmbeddedStream,
  startServerStream,
  type StreamServer,
} from "../support/infra/jetStream.ts";
import { hasNatsServer } from "../support/infra/natsServer.ts";
import { Running } from "../system/examples/running.ts";

const library = inject("libraries")["nats-py"];
const python = path.join(library, "venv", "bin", "python");
const program = fileURLToPath(new URL("../../examples/subscriber.py", import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), "arbor-subscriber-"));
const running = new Running();
afterAll(async () => {
  await running.end();
  rmSync(folder, { recursive: true, force: true });
});

/** Versions of actors, in their order. */
const transitions = (id: string, from: number, to: number): Transition[] =>
  Array.from({ length: to - from + 1 }, (_, i) => ({
    ...{ entity: { kind: "token", id }, version: from + i, from: "a", to: "b", type: "UPDATED", cause: "test" },
    at: 1_700_000_000_000 + from + i,
  }));
const environment = ({ url, token }: { readonly url: string; readonly token?: string | undefined }) => ({
  ...{ NATS_URL: url, PYTHONDONTWRITEBYTECODE: "1" },
  ...(token === undefined ? {} : { NATS_TOKEN: token }),
});
/** Starts the program; gives the lines that it has printed. */
function subscribe(state: string, env: Readonly<Record<string, string>>) {
  const { printed, ...run } = running.start([python, program, path.join(folder, state)], env);
  const lines = () =>
    printed().split("\n").slice(0, -1).filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
  const first = async (count: number) => {
    await until(`${count} lines`, async () => lines().length >= count);
    return lines().map((line) => "number" in line ? [line.number, line.actor, line.version] : line);
  };
  return { ...run, printed, first };
}

describe.skipIf(library === "")("subscriber.py", () => {
  const servers: readonly [string, () => Promise<StreamServer>][] = [
    ["the embedded endpoint", startEmbeddedStream],
    ...(hasNatsServer() ? [["nats-server", startServerStream] as const] : []) as [],
  ];
  it.each(servers)("gets every event of %s in order, also after kills", async (_name, start) => {
    const server = await start();
    const state = `${randomBytes(4).toString("hex")}.json`;
    await server.write([...transitions("a", 1, 3), ...transitions("b", 1, 2)]);
    const first = subscribe(state, environment(server));
    expect(await first.first(5)).toEqual([
      [1, "token/a", 1],
      [2, "token/a", 2],
      [3, "token/a", 3],
      [4, "token/b", 1],
      [5, "token/b", 2],
    ]);
    // killed at any point, by chance between two steps; what comes meanwhile is not lost
    await server.write(transitions("a", 4, 40));
    await first.first(15);
    await first.kill();
    const printed = (await first.first(15)).length;
    await server.write(transitions("b", 3, 4));
    const second = subscribe(state, environment(server));
    await until("the last event", async () => second.printed().includes('"number": 44'));
    const all = [...await first.first(printed), ...await second.first(1)] as [number, string, number][];
    // one line at most is repeated
    expect(all.length - new Set(all.map(([number]) => number)).size).toBeLessThanOrEqual(1);
    const each = all.filter(([number], i) => number !== all[i - 1]?.[0]);
    expect(each.map(([number]) => number)).toEqual(Array.from({ length: 44 }, (_, i) => i + 1));
    expect(each.slice(5).map(([, actor, version]) => [actor, version])).toEqual(
      [...transitions("a", 4, 40), ...transitions("b", 3, 4)].map(({ entity, version }) => [
        `token/${entity.id}`,
        version,
      ]),
    );
    await second.kill();
    await server.stop();
  });

  describe("on a log that loses events", () => {
    let database: Awaited<ReturnType<typeof eventDatabase>>;
    let served: ServedEndpoint;
    const token = "a-token-of-the-test";
    const serve = async (generation?: Generation) => {
      const port = served?.endpoint.port ?? 0;
      served = await serveDatabase(database.store, token, { port }, {}, [], generation);
    };
    const env = () => environment({ url: served.endpoint.url, token });
    beforeEach(async () => {
      database = await eventDatabase();
      await serve();
    });
    afterEach(async () => {
      await served.stop();
      await database.drop();
    });

    it("reports a gap, and a database that was restored, whose events it reads from the start", async () => {
      await insertTransitions(database.store, transitions("a", 1, 4));
      const first = subscribe("lost.json", env());
      await first.first(4);
      await first.kill();
      await insertTransitions(database.store, transitions("a", 5, 6));
      await insertTransitions(database.store, transitions("a", 7, 8));
      // other databases' open transactions delay it
      await until("the first six are deleted", async () => await pruneEvents(database.store, 0, 7) > 0);
      const second = subscribe("lost.json", env());
      expect(await second.first(3)).toEqual([{ gap: [5, 6] }, [7, "token/a", 7], [8, "token/a", 8]]);

      await served.stop();
      await database.store.sql`delete from outbox where version >= 8`;
      const generation = await withGenerations(
        database.store,
        (sql) => beginGeneration(sql, { reason: "a test" }),
      );
      await serve(generation);
      await insertTransitions(database.store, transitions("b", 1, 1));
      expect((await second.first(7)).slice(3)).toEqual([
        { restored: generation.id },
        { gap: [1, 6] },
        [7, "token/a", 7],
        [8, "token/b", 1],
      ]);
      await second.kill();
    });
  });

  it("ends with a sentence at nonsense", async () => {
    const server = await startEmbeddedStream();
    const ends = (args: readonly string[], env: Readonly<Record<string, string>>) => {
      const child = running.start([python, program, ...args], env);
      return once(child.child, "close").then(([code]) => [code, child.printed()]);
    };
    writeFileSync(path.join(folder, "torn.json"), '{"number": 3');
    expect(await ends([], environment(server))).toEqual([1, "usage: subscriber.py STATEFILE\n"]);
    expect(await ends([path.join(folder, "torn.json")], environment(server))).toEqual([
      1,
      expect.stringMatching(/^\S+torn.json is not a state file of this program.*\n$/),
    ]);
    // a guest may not have a durable consumer
    const state = path.join(folder, "guest.json");
    expect(await ends([state], environment({ url: server.url }))).toEqual([
      1,
      expect.stringContaining("a durable consumer needs credentials"),
    ]);
    expect(await ends([state], environment({ url: server.url, token: "wrong" }))).toEqual([
      1,
      "nats: 'Authorization Violation'\n",
    ]);
    expect(await ends([state], environment({ url: "nats://127.0.0.1:9" }))).toEqual([
      1,
      "nats: no servers available for connection\n",
    ]);
    await server.stop();
  });
});
