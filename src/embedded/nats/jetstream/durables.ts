/**
 * Stores durable consumers. What a consumer has delivered and what was acknowledged is written together for all, at
 * most every `WRITE_MS`: a process that is killed delivers the messages of that time again.
 */
import { z } from "zod";
import { type Json, toJson } from "#src/base/json.ts";
import { sleep } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import type { AckState } from "#src/embedded/nats/jetstream/acks.ts";
import { type ConsumerConfig, parseConfig } from "#src/embedded/nats/jetstream/config.ts";
import type { Consumer } from "#src/embedded/nats/jetstream/consumer.ts";
import type { Store } from "#src/store/store.ts";

const WRITE_MS = 250;
const RETRY_MS = 1_000;

const stateSchema = z.object({
  sseq: z.number(),
  dseq: z.number(),
  ackedStream: z.number(),
  ackedConsumer: z.number(),
  open: z.array(z.tuple([z.number(), z.number(), z.number(), z.number()])),
});

/** A durable consumer as it was stored. */
export interface StoredConsumer {
  readonly stream: string;
  readonly name: string;
  readonly config: ConsumerConfig;
  readonly state: AckState;
  readonly created: number;
}

export class Durables {
  private readonly changed = new Set<Consumer>();
  private writing: Promise<void> | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private stopped = false;

  constructor(private readonly store: Store, private readonly log: Log) {}

  /** All stored consumers; one that this version cannot read is left out. */
  async read(): Promise<StoredConsumer[]> {
    const rows = await this.store.sql<{ stream: string; name: string; config: Json; state: unknown; created: Date }[]>`
      select stream, name, config, state, created from jetstream_consumer order by stream, name`;
    return rows.flatMap(({ stream, name, config, state, created }) => {
      try {
        const parsed = { config: parseConfig(config), state: stateSchema.parse(state) };
        return [{ stream, name, created: created.getTime(), ...parsed }];
      } catch (error) {
        this.log.warn("a durable consumer could not be read", { consumer: name, reason: reason(error) });
        return [];
      }
    });
  }

  /** Has a consumer's progress written soon. */
  note(consumer: Consumer): void {
    this.changed.add(consumer);
    if (!this.stopped) this.timer ??= setTimeout(() => void this.flush().catch(() => {}), WRITE_MS);
  }

  /** Writes a consumer now, with its configuration. */
  async put(consumer: Consumer): Promise<void> {
    const { name, config, created, options: { reader } } = consumer;
    this.changed.delete(consumer);
    await this.store.sql`
      insert into jetstream_consumer (stream, name, config, state, created)
      values (${reader.name}, ${name}, ${toJson(config)}::text::jsonb,
        ${toJson(consumer.acks.state())}::text::jsonb,
        ${new Date(created)})
      on conflict (stream, name) do update set config = excluded.config, state = excluded.state`;
  }

  async remove(consumer: Consumer): Promise<void> {
    await this.writing?.catch(() => {});
    this.changed.delete(consumer);
    await this.store.sql`
      delete from jetstream_consumer where stream = ${consumer.options.reader.name} and name = ${consumer.name}`;
  }

  /** Writes the progress of all consumers that have changed. */
  async flush(): Promise<void> {
    await this.writing?.catch(() => {});
    await (this.writing ??= this.write().finally(() => this.writing = undefined));
  }

  private async write(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const consumers = [...this.changed];
    this.changed.clear();
    if (consumers.length === 0) return;
    const rows = consumers.map(({ name, acks, options: { reader } }) => ({
      stream: reader.name,
      name,
      state: acks.state(),
    }));
    try {
      await this.store.sql`
        update jetstream_consumer c set state = r.state
        from json_to_recordset(${toJson(rows)}::text::json) as r(stream text, name text, state jsonb)
        where c.stream = r.stream and c.name = r.name`;
    } catch (error) {
      this.log.warn("the progress of durable consumers could not be written", { reason: reason(error) });
      for (const consumer of consumers) this.changed.add(consumer);
      await sleep(RETRY_MS);
      if (!this.stopped) this.timer ??= setTimeout(() => void this.flush().catch(() => {}), WRITE_MS);
      throw error;
    }
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.flush();
  }
}
