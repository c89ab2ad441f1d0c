/** What the port asks of a node, each on a connection that stands. Everything here throws `NodeError`. */
import { toHex } from "#src/base/bytes.ts";
import type { Result } from "#src/base/result.ts";
import { created, type Point, type Tip } from "#src/cardano/block.ts";
import { CborError } from "#src/cardano/cbor.ts";
import type { EraHistory } from "#src/cardano/eras.ts";
import type { LedgerFailure } from "#src/cardano/failure.ts";
import type { SlotConfig } from "#src/cardano/parameters.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { AnsweredQueries } from "#src/chain/index/answeredQueries.ts";
import type { Ledger } from "#src/chain/provider/ledgerQueries.ts";
import type { At, Network, Submission } from "#src/chain/provider/port.ts";
import type { NodeConnection } from "#src/node/client/connection.ts";
import { NodeError, nodeError, type NodeFailure } from "#src/node/errors.ts";
import { ask, askEra } from "#src/node/queries/ask.ts";
import { startTime } from "#src/node/queries/history.ts";
import { decodeRejection } from "#src/node/rejections/rejections.ts";
import type { MempoolSession, QuerySession } from "#src/node/client/sessions.ts";
import { CONWAY, eraName, originTip } from "#src/node/protocols/values.ts";

/** Asks the ledger at the tip, all in one session, and gives the point at which the answer holds. */
export async function atTip<T>(
  connection: NodeConnection,
  signal: AbortSignal,
  work: (ledger: Ledger) => Promise<T>,
  answered: AnsweredQueries = new AnsweredQueries(),
): Promise<At<T>> {
  const session = valueOf(await connection.acquire("tip", signal));
  try {
    const point = valueOf(await ask(session, { kind: "point" }, signal));
    return { point, value: await work(ledgerOf(session, signal, answered)) };
  } finally {
    session.release();
  }
}

function ledgerOf(session: QuerySession, signal: AbortSignal, answered: AnsweredQueries): Ledger {
  let era: Promise<number> | undefined;
  const current = () => era ??= ask(session, { kind: "currentEra" }, signal).then(valueOf);
  return {
    era: current,
    answers: (kind) => answered.has(kind),
    ask: async (query) => valueOf(await ask(session, query, signal)),
    askEra: async (query) => {
      const asked = query(await current());
      const answer = await askEra(session, asked, signal);
      if (answer.ok) answered.answered(asked.kind);
      else if (answer.error.code === "connection_lost") answered.hungUp(asked.kind);
      return valueOf(answer);
    },
  };
}

/** What the network is, of which the magic is known. */
export async function readNetwork(connection: NodeConnection, magic: number, signal: AbortSignal): Promise<Network> {
  const { value } = await atTip(connection, signal, async (ledger): Promise<Network> => {
    const start = startTime(await ledger.ask({ kind: "systemStart" }));
    const slots = slotsOf(await ledger.ask({ kind: "eraHistory" }), start);
    const { networkId, securityParameter } = await ledger.askEra((era) => ({ kind: "genesis", era }));
    return { magic, id: networkId === 1 ? 1 : 0, slots, securityParameter };
  });
  return value;
}

/** How slots map to time in the newest era; `start` is the system start in ms since 1970. */
export function slotsOf(history: EraHistory, start: number): SlotConfig {
  const era = history.at(-1);
  if (!era) throw nodeError("protocol_violation", "The node's history of eras is empty.");
  return {
    zeroTime: start + Number(era.start.time / 1_000_000_000n),
    zeroSlot: era.start.slot,
    slotLength: era.terms.slotLength,
  };
}

/** The newest block. */
export async function readTip(connection: NodeConnection, signal: AbortSignal): Promise<Tip> {
  const { point, value: height } = await atTip(connection, signal, (ledger) => ledger.ask({ kind: "height" }));
  return point.slot < 0 || height === undefined ? originTip : { ...pointOf(point), height };
}

const pointOf = ({ slot, hash }: Point): Point => ({ slot, hash });

/** How a node is asked for one transaction of its mempool. */
export interface MempoolManners {
  /** Its snapshot is gone through, since it hung up on being asked: nodes on gouroboros (Dingo) read another form of that question. */
  walks: boolean;
}

/** Whether the mempool holds a transaction. Where the node hangs up on that very question, `manners` keeps it for the next attempt. */
export async function isPending(
  connection: NodeConnection,
  hash: string,
  signal: AbortSignal,
  manners: MempoolManners,
): Promise<boolean> {
  const snapshot = valueOf(await connection.mempool(signal));
  try {
    if (manners.walks) return await walk(snapshot, hash, signal);
    const answer = await snapshot.has({ era: CONWAY, hash }, signal);
    if (!answer.ok && answer.error.code === "connection_lost") manners.walks = true;
    return valueOf(answer);
  } finally {
    snapshot.release();
  }
}

async function walk(snapshot: MempoolSession, hash: string, signal: AbortSignal): Promise<boolean> {
  for (;;) {
    const next = valueOf(await snapshot.next(signal));
    if (!next) return false;
    if (next.era !== 0 && scanTransaction(next.bytes).hash === hash) return true;
  }
}

/**
 * Hands over a transaction. A node refuses one that it has already; it counts as accepted where the mempool holds it, or the ledger one
 * of its outputs.
 */
export async function submit(
  connection: NodeConnection,
  transaction: Uint8Array,
  signal: AbortSignal,
  manners: MempoolManners,
): Promise<Submission> {
  const verdict = valueOf(await connection.submit(transaction, { signal }));
  if (verdict.accepted) return { outcome: "accepted" };
  const scanned = scanTransaction(transaction);
  if (await isPending(connection, scanned.hash, signal, manners)) return { outcome: "accepted" };
  const inputs = created(scanned).map(({ ref }) => ref);
  const { value: unspent } = await atTip(
    connection,
    signal,
    async (ledger) => inputs.length === 0 ? [] : await ledger.askEra((era) => ({ kind: "utxoByInput", era, inputs })),
  );
  if (unspent.length > 0) return { outcome: "accepted" };
  return { outcome: "refused", failures: failuresOf(verdict.reason, transaction) };
}

/** The failures of a rejection; one that cannot be read at all keeps its bytes. */
function failuresOf(reason: Uint8Array, transaction: Uint8Array): readonly LedgerFailure[] {
  try {
    return decodeRejection(reason, transaction);
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    return [{ name: "UnknownFailure", rule: "LEDGER", cbor: toHex(reason) }];
  }
}

/** Why bytes are no transaction, if they are none: a node would hang up on them. */
export function undecodable(transaction: Uint8Array): LedgerFailure | undefined {
  try {
    const scanned = scanTransaction(transaction);
    created(scanned);
    return undefined;
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    return { name: "DeserialiseFailure", message: `These bytes are no transaction: ${error.message}.` };
  }
}

/** Refuses an era whose parameters have another form than those that everything here reckons with. */
export async function readParameters(ledger: Ledger) {
  const answer = await ledger.askEra((era) => ({ kind: "parameters", era }));
  if (answer.era === "Conway") return answer.parameters;
  throw nodeError("era_unknown", `The node's ledger is in ${eraName(await ledger.era())}, not in ${eraName(CONWAY)}.`);
}

function valueOf<T>(result: Result<T, NodeFailure>): T {
  if (result.ok) return result.value;
  throw new NodeError(result.error);
}
