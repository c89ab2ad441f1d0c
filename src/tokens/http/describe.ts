/**
 * Summaries of transactions, from their bytes and from the outputs that they spend: those of the index, and those that
 * the network knows.
 */
import type { Summary } from "#src/contract/summary/schema.ts";
import { fromHex } from "#src/base/bytes.ts";
import { inTime } from "#src/base/clock.ts";
import { isObject, type Json } from "#src/base/json.ts";
import { type Output, type OutRef, refKey } from "#src/cardano/output.ts";
import type { SlotConfig } from "#src/cardano/parameters.ts";
import { readContractOutputs } from "#src/tokens/index/read.ts";
import { referencedOutputs } from "#src/contract/summary/summarize.ts";
import { queryOutputs, readOutputs } from "#src/chain/index/outputs.ts";
import type { TokenEdgeOptions } from "#src/tokens/http/options.ts";
import { answered } from "#src/tokens/http/status.ts";

/** Longest wait for the network, in milliseconds. */
const NETWORK_MS = 5_000;

type SummaryServices = Pick<TokenEdgeOptions, "store" | "port" | "builders">;

/** The deadline (ms since 1970), and the address (bytes in hexadecimal) from whose side the summary is written. */
interface SummaryRequest {
  readonly deadline: number;
  readonly address?: string | undefined;
}

/** The summary of a transaction (hexadecimal CBOR); throws 400 `undecodable`, and 503 as builds do. */
export async function summaryOf(
  services: SummaryServices,
  hex: string,
  { deadline, address }: SummaryRequest,
): Promise<Summary> {
  const transaction = fromHex(hex);
  const refs = answered(referencedOutputs(transaction));
  const [known, slots] = await Promise.all([readSpentOutputs(services, refs, deadline), slotsOf(services, deadline)]);
  const outputs = [...known].map(([ref, { raw }]) => [ref, raw] as const);
  return answered(await services.builders.run("explain", { transaction, outputs, address, slots }, { deadline }));
}

/**
 * A build's answer with the summary of its transaction. The edge adds it and not the build: the facts of many requests
 * in full are more than one message between processes may hold.
 */
export async function withSummary(services: SummaryServices, built: Json, request: SummaryRequest): Promise<Json> {
  if (!isObject(built) || typeof built.unsignedTransaction !== "string") return built;
  return { summary: await summaryOf(services, built.unsignedTransaction, request), ...built };
}

/** How slots map to time, where the network answers in time. */
async function slotsOf({ port }: SummaryServices, deadline: number): Promise<SlotConfig | undefined> {
  const network = await inTime(port.network(), patience(deadline)).catch(() => undefined);
  return network?.slots;
}

const patience = (deadline: number) => Math.max(0, Math.min(NETWORK_MS, deadline - Date.now()));

/**
 * The outputs of some references, spent or not: from the index, the contract's rows, and the network, as far as they are
 * known.
 */
export async function readSpentOutputs(
  { store, port }: Pick<SummaryServices, "store" | "port">,
  refs: readonly OutRef[],
  deadline: number,
): Promise<ReadonlyMap<string, Output>> {
  const [rows, caged] = await Promise.all([readOutputs(store.sql, refs), readContractOutputs(store.sql, refs)]);
  const known = new Map([...rows, ...caged]);
  const missing = refs.filter((ref) => !known.has(refKey(ref)));
  const fetched = await queryOutputs(port, missing, patience(deadline));
  return new Map([...known, ...fetched]);
}
