/** Transitions written as turns write them, and publishers of them within the test's process. */
import { type Log, silentLog } from "#src/base/log.ts";
import { connectBus } from "#src/runtime/bus/bus.ts";
import { NO_CONTENTS } from "#src/runtime/events/content.ts";
import { createPublisher, type Publisher, type PublisherOptions } from "#src/runtime/events/publisher.ts";
import type { Transition } from "#src/runtime/events/transition.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { type Infra, sharedInfra } from "../infra/infra.ts";

export interface Outbox {
  readonly store: Store;
  readonly infra: Infra;
  /** A publisher with a connection of its own. */
  publisher(natsUrl?: string, log?: Log, more?: Pick<PublisherOptions, "generation">): Promise<Publisher>;
  /** Writes the next transition of the actor `other/x`; resolves to it. */
  write(): Promise<Transition>;
  /** Has `write` go on after an earlier version. */
  rewind(to: number): void;
  /** The versions that are not published. */
  waiting(): Promise<number[]>;
  stop(): Promise<void>;
}

export async function openOutbox(): Promise<Outbox> {
  const infra = await sharedInfra();
  const store = openStore(infra.databaseUrl, { max: 4 });
  const open: (() => Promise<void>)[] = [];
  let version = 0;
  return {
    store,
    infra,
    publisher: async (natsUrl, log = silentLog, more = {}) => {
      const bus = await connectBus(
        natsUrl === undefined ? { url: infra.natsUrl, token: infra.natsToken } : { url: natsUrl },
      );
      const publisher = createPublisher({
        store,
        bus,
        log,
        contents: NO_CONTENTS,
        partitions: 1,
        owned: () => [0],
        ...more,
      });
      open.push(async () => {
        await publisher.stop(0);
        await bus.close();
      });
      return publisher;
    },
    write: async () => {
      const transition = {
        entity: { kind: "other", id: "x" },
        version: ++version,
        from: "a",
        to: "b",
        type: "GO",
        cause: "c",
        at: Date.now(),
      };
      await store.sql`
        with written as (
          insert into outbox (kind, id, version, partition, from_state, to_state, type, cause, body, at, published)
          values ('other', 'x', ${version}, 0, 'a', 'b', 'GO', 'c', '{"type":"GO"}', ${new Date(transition.at)}, true))
        insert into outbox_unpublished (kind, id, version, partition) values ('other', 'x', ${version}, 0)`;
      return transition;
    },
    rewind: (to) => version = to,
    waiting: async () => {
      const rows = await store.sql<{ version: bigint }[]>`select version from outbox_unpublished order by version`;
      return rows.map((row) => Number(row.version));
    },
    stop: async () => {
      for (const stop of open) await stop();
      await store.close();
      await infra.stop();
    },
  };
}
