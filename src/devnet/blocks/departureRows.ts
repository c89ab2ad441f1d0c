/**
 * Departures in the rows of the devnet, so that a restart still knows them.
 *
 * Assumptions: they are written some time after they happened, all of that time at once, so that a submission does not
 * wait for them; a process that is killed loses those of its last second.
 */
import { toHex } from "#src/base/bytes.ts";
import { sleep } from "#src/base/clock.ts";
import { type Json, toJson } from "#src/base/json.ts";
import type { LedgerFailure } from "#src/cardano/failure.ts";
import { type Departure, MOST_DEPARTURES } from "#src/devnet/blocks/departures.ts";
import { fromPlain, toPlain } from "#src/devnet/ledger/plainJson.ts";
import type { Queries } from "#src/store/store.ts";

/** Milliseconds that a departure waits for others. */
const TOGETHER_MS = 1_000;

/** Departures in the rows, oldest first. */
export async function readDepartures(sql: Queries): Promise<Departure[]> {
  const rows = await sql<
    {
      hash: string;
      cbor: Uint8Array;
      kind: Departure["kind"];
      why: string;
      failures: Json;
      at: bigint;
      slot: bigint;
    }[]
  >`
    select hash, cbor, kind, why, failures, at, slot from devnet_departure order by position`;
  return rows.map((row) => ({
    ...row,
    cbor: new Uint8Array(row.cbor),
    // what `writeDepartures` wrote
    failures: fromPlain(row.failures) as readonly LedgerFailure[],
    at: Number(row.at),
    slot: Number(row.slot),
  }));
}

/** Writes departures, the last one of each transaction, and removes the oldest rows beyond the limit. */
export async function writeDepartures(sql: Queries, departures: readonly Departure[]): Promise<void> {
  const last = new Map<string, Departure>();
  for (const one of departures) {
    last.delete(one.hash);
    last.set(one.hash, one);
  }
  const rows = [...last.values()].slice(-MOST_DEPARTURES).map(({ cbor, failures, ...row }) => ({
    ...row,
    cbor: `\\x${toHex(cbor)}`,
    failures: toPlain(failures),
  }));
  await sql`
    insert into devnet_departure (hash, cbor, kind, why, failures, at, slot)
    select hash, cbor, kind, why, failures, at, slot
    from json_populate_recordset(null::devnet_departure, ${toJson(rows)}::text::json)
    on conflict (hash) do update set position = excluded.position, cbor = excluded.cbor, kind = excluded.kind,
      why = excluded.why, failures = excluded.failures, at = excluded.at, slot = excluded.slot`;
  await sql`
    delete from devnet_departure where position <= (
      select position from devnet_departure order by position desc offset ${MOST_DEPARTURES} limit 1)`;
}

/** Writes departures later, those of some time together. */
export class DepartureWriter {
  #waiting: Departure[] = [];
  #writing: Promise<void> | undefined;
  readonly #ended = new AbortController();

  /** `write` is called with departures in their order; what it throws goes to `failed`, and they are not written. */
  constructor(
    private readonly write: (departures: readonly Departure[]) => Promise<void>,
    private readonly failed: (error: unknown) => void,
  ) {}

  /** Writes a departure within about a second. */
  add(departure: Departure): void {
    this.#waiting.push(departure);
    if (this.#waiting.length > MOST_DEPARTURES) this.#waiting.shift();
    this.#writing ??= this.#writeLater();
  }

  /** Writes what waits at once; later departures do not wait either. */
  async end(): Promise<void> {
    this.#ended.abort();
    while (this.#writing) await this.#writing;
  }

  async #writeLater(): Promise<void> {
    await sleep(TOGETHER_MS, this.#ended.signal);
    const departures = this.#waiting.splice(0);
    try {
      await this.write(departures);
    } catch (error) {
      this.failed(error);
    }
    this.#writing = this.#waiting.length === 0 ? undefined : this.#writeLater();
  }
}
