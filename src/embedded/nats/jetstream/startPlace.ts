/** Where a new consumer begins: what its deliver policy says of the stream as it is now. */
import { type ConsumerConfig, filtersOf } from "#src/embedded/nats/jetstream/config.ts";
import { insufficientResources } from "#src/embedded/nats/jetstream/errors.ts";
import type { StreamReader } from "#src/embedded/nats/jetstream/reader.ts";

/** Where a new consumer begins. */
export interface StartPlace {
  /** The first number. */
  readonly from: number;
  /** With the policy `last_per_subject`: the messages to deliver before `from`. */
  readonly first: readonly number[];
}

/** The place where a consumer of a configuration begins. @throws ApiError where it would begin with more subjects than `mostSubjects` */
export async function startOf(reader: StreamReader, config: ConsumerConfig, mostSubjects: number): Promise<StartPlace> {
  const { first, last } = await reader.refresh();
  const { source } = reader;
  const filters = filtersOf(config);
  const bounded = (from: number) => ({ from: Math.min(Math.max(from, first), last + 1), first: [] });
  switch (config.deliver_policy) {
    case "all":
      return bounded(first);
    case "new":
      return bounded(last + 1);
    case "by_start_sequence":
      return bounded(config.opt_start_seq ?? first);
    case "by_start_time":
      return bounded(await source.numberAt(Date.parse(config.opt_start_time ?? ""), last));
    case "last": {
      if (filters.length === 0 && !reader.stream.hasGaps) return bounded(last);
      const newest = await source.last(first, last, filters.length === 0 ? [reader.stream.subject] : filters);
      return bounded(newest?.seq ?? first);
    }
    case "last_per_subject": {
      const newest = await source.lastOfEach(first, last, filters, mostSubjects);
      if (newest === undefined) throw insufficientResources();
      return { from: last + 1, first: newest };
    }
  }
}
