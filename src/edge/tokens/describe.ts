/** What transactions do, told at the edge: by their bytes, and by what is known here and on the network of the outputs that they spend. */
import type { Summary } from "#src/api/summary.ts";
import { fromHex } from "#src/base/bytes.ts";
import { inTime } from "#src/base/clock.ts";
import type { Json } from "#src/base/json.ts";
import { type Output, type OutRef, refKey } from "#src/cardano/output.ts";
import type { SlotConfig } from "#src/cardano/parameters.ts";
import { readContractOutputs } from "#src/cage/index/outputs.ts";
import { referencedOutputs } from "#src/cage/summary/summarize.ts";
import { queryOutputs, readOutputs } from "#src/chain/index/outputs.ts";
import type { TokenEdgeOptions } from "#src/edge/tokens/options.ts";
import { refusal } from "#src/edge/tokens/status.ts";

/** How long the network may take to say what it knows, in milliseconds. */
const ASK_MS = 5_000;

type Rooms = Pick<TokenEdgeOptions, "store" | "port" | "builders">;

/** What is asked: by when (ms since 1970), and from whose address (bytes in hexadecimal) it is looked at. */
interface Asked {
  readonly deadline: number;
  readonly address?: string | undefined;
}

/** What a transaction (hexadecimal CBOR) does; throws 400 `undecodable`, and 503 as builds do. */
export async function tell(rooms: Rooms, hex: string, { deadline, address }: Asked): Promise<Summary> {
  const transaction = fromHex(hex);
  const refs = referencedOutputs(transaction);
  if (!refs.ok) throw refusal(refs.error);
  const [known, slots] = await Promise.all([found(rooms, refs.value, deadline), slotsOf(rooms, deadline)]);
  const outputs = [...known].map(([ref, { raw }]) => [ref, raw] as const);
  const told = await rooms.builders.run("explain", { transaction, outputs, address, slots }, { deadline });
  if (!told.ok) throw refusal(told.error);
  return told.value;
}

/**
 * A build's answer with what its transaction does. It is told here and not where it was built: that the facts of many requests are told in full
 * is more than a message between processes holds.
 */
export async function told(rooms: Rooms, built: Json, asked: Asked): Promise<Json> {
  const { unsignedTransaction } = built as { unsignedTransaction?: string };
  if (unsignedTransaction === undefined) return built;
  return { summary: await tell(rooms, unsignedTransaction, asked), ...(built as object) };
}

/** How slots map to time, where the network says so in time. */
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
  const [rows, caged] = await Promise.all([readOutputs(store.sql, refs), readContractOutputs(store.sql, refs)]);
  const known = new Map([...rows, ...caged]);
  const missing = refs.filter((ref) => !known.has(refKey(ref)));
  const asked = await queryOutputs(port, missing, patience(deadline));
  return new Map([...known, ...asked]);
}
