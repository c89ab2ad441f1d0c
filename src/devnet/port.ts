/**
 * The devnet behind the port, for any process that reaches its database and its bus: what can be read is read from rows, a submission is
 * asked of the process that runs the devnet.
 */
import { sleep } from "#src/base/clock.ts";
import { toHex } from "#src/base/bytes.ts";
import type { Json } from "#src/base/json.ts";
import { type Log, reason } from "#src/base/log.ts";
import { fail, ok, type Result } from "#src/base/result.ts";
import type { ChainPort, Submission, Unreachable } from "#src/chain/port.ts";
import { isInMempool, readTip, readUtxosByAddress, readUtxosByRef } from "#src/devnet/chainRows.ts";
import { doorbell } from "#src/devnet/doorbell.ts";
import { followBlocks } from "#src/devnet/follow.ts";
import { type Genesis, readGenesis } from "#src/devnet/genesis.ts";
import { fromPlain } from "#src/devnet/plain.ts";
import { SUBMIT_SUBJECT } from "#src/devnet/subjects.ts";
import type { Bus } from "#src/runtime/bus.ts";
import type { Store } from "#src/store/store.ts";

export interface DevnetPortSettings {
  readonly store: Store;
  readonly bus: Bus;
  readonly log: Log;
  /** Milliseconds after which the block table is looked at although no doorbell rang. */
  readonly pollMs?: number;
  /** Milliseconds that a submission is waited for. */
  readonly submitMs?: number;
}

/** The port to the devnet that lives in a database. */
export function devnetPort({ store, bus, log, pollMs = 1_000, submitMs = 20_000 }: DevnetPortSettings): ChainPort {
  const { sql } = store;
  let known: Genesis | undefined;
  /** The genesis; waits for the devnet's first start. */
  const genesis = async (signal?: AbortSignal): Promise<Genesis> => {
    while (!(known ??= await readGenesis(sql))) {
      if (signal?.aborted) throw new Error("stopped before the devnet had begun");
      await sleep(200, signal);
    }
    return known;
  };
  const asked = async <T>(read: () => Promise<T>): Promise<Result<T, Unreachable>> => {
    try {
      return ok(await read());
    } catch (error) {
      log.warn("the devnet was not reached", { reason: reason(error) });
      return unreachable();
    }
  };
  return {
    network: async (signal) => (await genesis(signal)).network,
    follow: async function* (points, signal) {
      const { network } = await genesis(signal);
      const { wait, stop } = doorbell(bus, pollMs);
      try {
        yield* followBlocks(store, points, network.securityParameter, wait, signal);
      } finally {
        stop();
      }
    },
    tip: () => asked(() => readTip(sql)),
    submit: async (transaction) => {
      try {
        const answer = await bus.request(SUBMIT_SUBJECT, { transaction: toHex(transaction) }, submitMs);
        return readAnswer(answer);
      } catch (error) {
        log.warn("the devnet gave no answer to a submission", { reason: reason(error) });
        return unreachable();
      }
    },
    inMempool: (txHash) => asked(() => isInMempool(sql, txHash)),
    utxosByAddress: (addresses) => asked(() => readUtxosByAddress(sql, addresses)),
    utxosByRef: (refs) => asked(() => readUtxosByRef(sql, refs)),
    parameters: () =>
      asked(async () => {
        const { parameters } = await genesis(AbortSignal.abort());
        const { slot, hash } = await readTip(sql);
        return { point: { slot, hash }, value: parameters };
      }),
  };
}

function unreachable(
  message = "The devnet does not answer; is it running?",
): ReturnType<typeof fail<"network_unreachable">> {
  return fail("network_unreachable", message);
}

function readAnswer(answer: Json): Result<Submission, Unreachable> {
  const said = fromPlain(answer) as { outcome?: Submission; error?: { code: string; message: string } };
  if (said.outcome) return ok(said.outcome);
  if (said.error?.code === "undecodable") {
    return ok({ outcome: "refused", failures: [{ name: "DeserialiseFailure", message: said.error.message }] });
  }
  return unreachable(said.error?.message);
}
