/** Queries of the port to a node, each on an open connection. All functions throw `NodeError`. */
import { toHex } from "#src/base/bytes.ts";
import type { Result } from "#src/base/result.ts";
import { created, type Point, type Tip } from "#src/cardano/block.ts";
import { CborError } from "#src/cardano/cbor.ts";
import type { EraHistory } from "#src/cardano/eras.ts";
import type { LedgerFailure } from "#src/cardano/failure.ts";
import type { SlotConfig } from "#src/cardano/parameters.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { AnsweredQueries } from "#src/chain/provider/node/answeredQueries.ts";
import type { LedgerSession } from "#src/chain/provider/ledgerQueries.ts";
import { type MempoolRead, MempoolReader } from "#src/chain/provider/mempool.ts";
import type { At, Network, Submission } from "#src/chain/provider/port.ts";
import type { NodeConnection } from "#src/node/client/connection.ts";
import { NodeError, nodeError, type NodeFailure } from "#src/node/errors.ts";
import { sendEraQuery, sendQuery } from "#src/node/queries/sendQuery.ts";
import { startTime } from "#src/node/queries/history.ts";
import { decodeRejection } from "#src/node/rejections/rejections.ts";
import type { MempoolSession, QuerySession } from "#src/node/client/sessions.ts";
import { BYRON, CONWAY, eraName, originTip } from "#src/node/protocols/values.ts";

/** Queries the ledger at the tip, in one session; gives the point at which the answer holds. */
export async function atTip<T>(
  connection: NodeConnection,
  signal: AbortSignal,
  work: (ledger: LedgerSession) => Promise<T>,
  answered: AnsweredQueries = new AnsweredQueries(),
): Promise<At<T>> {
  const session = valueOf(await connection.acquire("tip", signal));
  try {
    const point = valueOf(await sendQuery(session, { kind: "point" }, signal));
    return { point, value: await work(ledgerOf(session, signal, answered)) };
  } finally {
    session.release();
  }
}

function ledgerOf(session: QuerySession, signal: AbortSignal, answered: AnsweredQueries): LedgerSession {
  let era: Promise<number> | undefined;
  const current = () => era ??= sendQuery(session, { kind: "currentEra" }, signal).then(valueOf);
  return {
    era: current,
    supports: (kind) => answered.has(kind),
    query: async (query) => valueOf(await sendQuery(session, query, signal)),
    queryEra: async (query) => {
      const inEra = await current();
      if (inEra === BYRON) {
        throw nodeError(
          "byron_era",
          "The node is still in the Byron era and answers no queries of the ledger before Shelley.",
        );
      }
      const eraQuery = query(inEra);
      const answer = await sendEraQuery(session, eraQuery, signal);
      if (answer.ok) answered.answered(eraQuery.kind);
      else if (answer.error.code === "connection_lost") answered.connectionClosed(eraQuery.kind);
      return valueOf(answer);
    },
  };
}

/** The network with this magic. */
export async function readNetwork(connection: NodeConnection, magic: number, signal: AbortSignal): Promise<Network> {
  const { value } = await atTip(connection, signal, async (ledger): Promise<Network> => {
    const start = startTime(await ledger.query({ kind: "systemStart" }));
    const slots = slotsOf(await ledger.query({ kind: "eraHistory" }), start);
    const { networkId, securityParameter } = await ledger.queryEra((era) => ({ kind: "genesis", era }));
    return { magic, id: networkId === 1 ? 1 : 0, slots, securityParameter };
  });
  return value;
}

/** The mapping of slots to times in the newest era; `start` is the system start in ms since 1970. */
export function slotsOf(history: EraHistory, start: number): SlotConfig {
  const era = history.at(-1);
  if (!era) throw nodeError("protocol_violation", "The node's era history is empty.");
  return {
    zeroTime: start + Number(era.start.time / 1_000_000_000n),
    zeroSlot: era.start.slot,
    slotLength: era.terms.slotLength,
  };
}

/** The newest block. */
export async function readTip(connection: NodeConnection, signal: AbortSignal): Promise<Tip> {
  const { point, value: height } = await atTip(connection, signal, (ledger) => ledger.query({ kind: "height" }));
  return point.slot < 0 || height === undefined ? originTip : { ...pointOf(point), height };
}

const pointOf = ({ slot, hash }: Point): Point => ({ slot, hash });

/** How the node can be queried for one transaction of its mempool. */
export interface MempoolSupport {
  /**
   * Read the whole snapshot, since the node closed the connection on the query: nodes on gouroboros (Dingo) expect
   * another form of it.
   */
  readWhole: boolean;
}

/**
 * Whether the mempool holds a transaction. If the node closes the connection on the query, `support` records that for
 * the next attempt.
 */
export async function isPending(
  connection: NodeConnection,
  hash: string,
  signal: AbortSignal,
  support: MempoolSupport,
): Promise<boolean> {
  const snapshot = valueOf(await connection.mempool(signal));
  try {
    if (support.readWhole) return await findInSnapshot(snapshot, hash, signal);
    const answer = await snapshot.has({ era: CONWAY, hash }, signal);
    if (!answer.ok && answer.error.code === "connection_lost") support.readWhole = true;
    return valueOf(answer);
  } finally {
    snapshot.release();
  }
}

async function findInSnapshot(snapshot: MempoolSession, hash: string, signal: AbortSignal): Promise<boolean> {
  for (;;) {
    const next = valueOf(await snapshot.next(signal));
    if (!next) return false;
    if (next.era !== 0 && scanTransaction(next.bytes).hash === hash) return true;
  }
}

/** Reads the whole mempool: a node gives its transactions one by one, whether the caller knows them or not. */
export async function readMempool(
  connection: NodeConnection,
  known: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<MempoolRead> {
  const snapshot = valueOf(await connection.mempool(signal));
  const reader = new MempoolReader(known);
  try {
    for (let next = valueOf(await snapshot.next(signal)); next; next = valueOf(await snapshot.next(signal))) {
      const hash = next.era === 0 ? undefined : transactionHash(next.bytes);
      if (hash === undefined) continue;
      if (!reader.add(hash)) break;
      await reader.read(hash, next.bytes);
    }
    return reader.result();
  } finally {
    snapshot.release();
  }
}

/** The hash of a transaction; undefined for bytes that this release cannot read. */
function transactionHash(bytes: Uint8Array): string | undefined {
  try {
    return scanTransaction(bytes).hash;
  } catch (error) {
    if (error instanceof CborError) return undefined;
    throw error;
  }
}

/**
 * Submits a transaction. A node refuses a transaction that it already has; it counts as accepted if the mempool holds
 * it, or the ledger holds one of its outputs.
 */
export async function submit(
  connection: NodeConnection,
  transaction: Uint8Array,
  signal: AbortSignal,
  support: MempoolSupport,
): Promise<Submission> {
  const verdict = valueOf(await connection.submit(transaction, { signal }));
  if (verdict.accepted) return { outcome: "accepted" };
  const scanned = scanTransaction(transaction);
  if (await isPending(connection, scanned.hash, signal, support)) return { outcome: "accepted" };
  const inputs = created(scanned).map(({ ref }) => ref);
  const { value: unspent } = await atTip(
    connection,
    signal,
    async (ledger) => inputs.length === 0 ? [] : await ledger.queryEra((era) => ({ kind: "utxoByInput", era, inputs })),
  );
  if (unspent.length > 0) return { outcome: "accepted" };
  return { outcome: "refused", failures: failuresOf(verdict.reason, transaction) };
}

/** The failures of a rejection. One that cannot be decoded keeps its bytes. */
function failuresOf(reason: Uint8Array, transaction: Uint8Array): readonly LedgerFailure[] {
  try {
    return decodeRejection(reason, transaction);
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    return [{ name: "UnknownFailure", rule: "LEDGER", cbor: toHex(reason) }];
  }
}

/** Why bytes are not a transaction, if they are not: a node would close the connection on them. */
export function undecodable(transaction: Uint8Array): LedgerFailure | undefined {
  try {
    const scanned = scanTransaction(transaction);
    created(scanned);
    return undefined;
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    return { name: "DeserialiseFailure", message: `The bytes are not a transaction: ${error.message}.` };
  }
}

/** The protocol parameters. Refuses eras other than Conway, whose parameters have another form. */
export async function readParameters(ledger: LedgerSession) {
  const answer = await ledger.queryEra((era) => ({ kind: "parameters", era }));
  if (answer.era === "Conway") return answer.parameters;
  throw nodeError("era_unknown", `The node's ledger is in ${eraName(await ledger.era())}, not in ${eraName(CONWAY)}.`);
}

function valueOf<T>(result: Result<T, NodeFailure>): T {
  if (result.ok) return result.value;
  throw new NodeError(result.error);
}
