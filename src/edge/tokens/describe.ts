/**
 * Summaries of transactions, from their bytes and from the outputs that they spend: those of the index, and those that
 * the network knows.
 */
import type { Summary } from "#src/api/summary.ts";
import { fromHex } from "#src/base/bytes.ts";
import { inTime } from "#src/base/clock.ts";
import type { Json } from "#src/base/json.ts";
import { type Output, type OutRef, refKey } from "#src/cardano/output.ts";
import type { SlotConfig } from "#src/cardano/parameters.ts";
import { readCaged } from "#src/cage/index/outputs.ts";
import { resolvable } from "#src/cage/summary/explain.ts";
import { askOutputs, readOutputs } from "#src/chain/index/outputs.ts";
import type { TokenEdgeOptions } from "#src/edge/tokens/options.ts";
import { refusal } from "#src/edge/tokens/status.ts";

/** Longest wait for the network, in milliseconds. */
const ASK_MS = 5_000;

type Rooms = Pick<TokenEdgeOptions, "store" | "port" | "builders">;

/** The deadline (ms since 1970), and the address (bytes in hexadecimal) from whose side the summary is written. */
interface Asked {
  readonly deadline: number;
  readonly address?: string | undefined;
}

/** The summary of a transaction (hexadecimal CBOR); throws 400 `undecodable`, and 503 as builds do. */
export async function tell(rooms: Rooms, hex: string, { deadline, address }: Asked): Promise<Summary> {
  const transaction = fromHex(hex);
  const refs = resolvable(transaction);
  if (!refs.ok) throw refusal(refs.error);
  const [known, slots] = await Promise.all([found(rooms, refs.value, deadline), slotsOf(rooms, deadline)]);
  const outputs = [...known].map(([ref, { raw }]) => [ref, raw] as const);
  const told = await rooms.builders.run("explain", { transaction, outputs, address, slots }, { deadline });
  if (!told.ok) throw refusal(told.error);
  return told.value;
}

/**
 * A build's answer with the summary of its transaction. The edge adds it and not the build: the facts of many requests
 * in full are more than one message between processes may hold.
 */
export async function told(rooms: Rooms, built: Json, asked: Asked): Promise<Json> {
  const { unsignedTransaction } = built as { unsignedTransaction?: string };
  if (unsignedTransaction === undefined) return built;
  return { summary: await tell(rooms, unsignedTransaction, asked), ...(built as object) };
}

/** How slots map to time, where the network answers in time. */
async function slotsOf({ port }: Rooms, deadline: number): Promise<SlotConfig | undefined> {
  const network = await inTime(port.network(), patience(deadline)).catch(() => undefined);
  return network?.slots;
}

const patience = (deadline: number) => Math.max(0, Math.min(ASK_MS, deadline - Date.now()));

async function found(
  { store, port }: Rooms,
  refs: readonly OutRef[],
  deadline: number,
): Promise<ReadonlyMap<string, Output>> {
  const [rows, caged] = await Promise.all([readOutputs(store.sql, refs), readCaged(store.sql, refs)]);
  const known = new Map([...rows, ...caged]);
  const missing = refs.filter((ref) => !known.has(refKey(ref)));
  const asked = await askOutputs(port, missing, patience(deadline));
  return new Map([...known, ...asked]);
}
