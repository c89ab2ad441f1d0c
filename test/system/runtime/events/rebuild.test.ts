/** The whole service rebuilds the streams of a nats-server, asked over HTTP and by `arbor events rebuild`. */
import { AckPolicy, connect, type JetStreamManager, type NatsConnection } from "nats";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Json } from "#src/base/json.ts";
import { createLog } from "#src/base/log.ts";
import { memberOf } from "#src/base/member.ts";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { OperatorClient } from "#src/client/operators.ts";
import { WalletClient } from "#src/client/wallets.ts";
import { type Bus, connectBus } from "#src/runtime/bus/bus.ts";
import { NO_CONTENTS } from "#src/runtime/events/content.ts";
import { STREAM } from "#src/runtime/events/jetStream.ts";
import { readRebuild, startRebuild } from "#src/runtime/events/rebuild.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { valueOf } from "../../../support/devnet/devnetWorld.ts";
import { until } from "../../../support/base/until.ts";
import { runCli } from "../../../support/cli/arborCli.ts";
import { type Infra, sharedInfra } from "../../../support/infra/infra.ts";
import { hasNatsServer, type NatsServer, startNatsServer } from "../../../support/infra/natsServer.ts";
import { storedMessages } from "../../../support/runtime/storedStream.ts";
import { Arbor } from "../../../support/service/arbor.ts";
import { PASSPHRASE } from "../../../support/service/scenario.ts";

describe.skipIf(!hasNatsServer())("a rebuild of the streams", () => {
  let server: NatsServer;
  let infra: Infra;
  let arbor: Arbor;
  let store: Store;
  let connection: NatsConnection;
  let manager: JetStreamManager;

  beforeAll(async () => {
    [server, infra] = await Promise.all([startNatsServer(), sharedInfra()]);
    arbor = await Arbor.start({ infra: { ...infra, natsUrl: server.url, natsToken: "" }, blockMs: 0 });
    store = openStore(infra.databaseUrl, { max: 1 });
    connection = await connect({ servers: server.url });
    manager = await connection.jetstreamManager();
  });
  afterAll(async () => {
    await connection?.close();
    await arbor?.end();
    await store?.close();
    await server?.stop();
    await infra?.stop();
  });

  /** Creates a wallet; resolves when it has made its last transition, so that no other follows unasked. */
  const create = async (name: string) => {
    const { id } = await new WalletClient(arbor.wallets)
      .create({ name, mnemonic_sentence: newMnemonic(15), passphrase: PASSPHRASE });
    await until(
      "the wallet is live",
      async () =>
        (await store.sql`select 1 from outbox where kind = 'wallet' and id = ${id} and to_state = 'live'`).length > 0,
    );
  };
  /** What identifies each message of the stream, in an order that does not depend on how actors were interleaved. */
  const stored = async () => (await storedMessages(manager)).map(({ event }) => event.id).sort();
  /** The same, of the database. */
  const written = async () => {
    const rows = await store.sql<{ id: string }[]>`select kind || '/' || id || ':' || version as id from outbox`;
    return rows.map(({ id }) => id).sort();
  };
  const complete = () =>
    until("the stream has all", async () => {
      const [events, all] = [await stored(), await written()];
      return all.length > 0 && events.join() === all.join();
    });

  it("by the command line: it completes, consumers get all again, and later transitions follow", async () => {
    await create("before");
    await complete();
    await manager.consumers.add(STREAM, { durable_name: "reader", ack_policy: AckPolicy.Explicit });
    await manager.streams.purge(STREAM);
    expect(await stored()).toEqual([]);

    const env = { ARBOR_OPERATOR_URL: arbor.operator };
    const { code, stdout, stderr } = await runCli(["events", "rebuild", "--json"], { env });
    expect(code, stderr).toBe(0);
    const count = (await written()).length;
    expect(JSON.parse(stdout)).toEqual({ status: "done", stored: count, total: count, reason: null });
    expect(await stored()).toEqual(await written());
    expect((await manager.consumers.info(STREAM, "reader")).num_pending).toBe(count);
    expect((await manager.streams.info(STREAM)).config).toMatchObject({ subjects: ["arbor.event.>"] });

    await create("after");
    await complete();
    expect((await stored()).length).toBeGreaterThan(count);
  });

  it("over HTTP: the answer is that it runs, and its state is read until it is done", async () => {
    await manager.streams.purge(STREAM);
    const client = new OperatorClient(arbor.operator);
    expect(await client.startRebuild({ stream: true })).toMatchObject({ status: "running", reason: null });
    const state = await until("it has ended", async () => {
      const now = await client.rebuild();
      return now.status !== "running" && now;
    });
    const count = (await written()).length;
    expect(state).toEqual({ status: "done", stored: count, total: count, reason: null });
    expect(await stored()).toEqual(await written());
  });

  it("begins again when the server still knows the messages that it deleted", async () => {
    const bus = await connectBus({ url: server.url });
    const windows: number[] = [];
    // The stream keeps its duplicate window at the first attempt, as a busy server that forgets late.
    const late: Bus = {
      ...bus,
      request: (subject, body, timeoutMs, headers) => {
        const window = memberOf(body as Json, "duplicate_window");
        if (!subject.startsWith("$JS.API.STREAM.UPDATE.") || typeof window !== "number") {
          return bus.request(subject, body, timeoutMs, headers);
        }
        windows.push(window);
        const kept = windows.length <= 4 ? { ...(body as object), duplicate_window: 120_000_000_000 } : body;
        return bus.request(subject, kept, timeoutMs, headers);
      },
    };
    try {
      const maxAgeMs = 86_400_000;
      const lines: string[] = [];
      const log = createLog("info", {}, (line) => lines.push(JSON.parse(line).message));
      const started = await startRebuild({ store, bus: late, log, contents: NO_CONTENTS, maxAgeMs });
      await valueOf(started).done;
      expect(await readRebuild(store)).toMatchObject({ status: "done", reason: null });
      expect(await stored()).toEqual(await written());
      expect(lines.filter((line) => /begins again/.test(line))).toHaveLength(1);
    } finally {
      await bus.close();
    }
  });
});
