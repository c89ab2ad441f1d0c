/**
 * Outputs as a wallet of the devnet sees them: the chain with the transactions of the mempool applied, so that a
 * payment can follow another one without waiting for a block.
 */
import type { Result } from "#src/base/result.ts";
import { type Output, type OutRef, refKey, type Utxo } from "#src/cardano/output.ts";
import type { ChainPort, Unreachable } from "#src/chain/provider/port.ts";
import type { SubmissionUnavailable } from "#src/devnet/blocks/submission.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { notRunning } from "#src/devnet/devnetRunner.ts";
import type { UtxoView } from "#src/ledger/state.ts";

/** What coins are read from. */
export interface CoinSource {
  readonly devnet: Pick<Devnet, "query" | "mempool">;
  /** The port to the same devnet. */
  readonly port: Pick<ChainPort, "utxosByAddress">;
}

/** Reads that a block may interrupt before the coins are those of an older tip. */
const ATTEMPTS = 5;

/** Outputs at an address (bytes in hexadecimal) that a new transaction can spend, oldest first. */
export async function coinsAt(
  { devnet, port }: CoinSource,
  address: string,
): Promise<Result<readonly Utxo[], Unreachable | SubmissionUnavailable>> {
  for (let attempt = 1;; attempt++) {
    const read = await port.utxosByAddress([address]);
    if (!read.ok) return read;
    const { point, value } = read.value;
    const coins = await devnet.query((_state, tip) =>
      // a block between the two reads has moved transactions of the mempool to the chain
      tip.hash === point.hash || attempt === ATTEMPTS ? withMempool(devnet, value, address) : "again"
    );
    if (coins === undefined) return notRunning();
    if (coins !== "again") return { ok: true, value: coins };
  }
}

function withMempool(devnet: Pick<Devnet, "mempool">, chain: readonly Utxo[], address: string): readonly Utxo[] {
  const coins = new Map(chain.map((utxo) => [refKey(utxo.ref), utxo]));
  for (const { applied: { spent, created } } of devnet.mempool()) {
    for (const { ref } of spent) coins.delete(refKey(ref));
    for (const utxo of created) if (utxo.output.address === address) coins.set(refKey(utxo.ref), utxo);
  }
  return [...coins.values()];
}

/**
 * The outputs behind references, from the chain or from transactions in the mempool, also those that the mempool spends.
 * Undefined while the chain is not open in this process.
 */
export async function outputsOf(
  devnet: Pick<Devnet, "query" | "mempool">,
  refs: readonly OutRef[],
): Promise<UtxoView | undefined> {
  return await devnet.query(({ utxo }) => {
    const pending = new Map(
      devnet.mempool().flatMap(({ applied }) =>
        applied.created.map(({ ref, output }) => [refKey(ref), output] as const)
      ),
    );
    const outputs = new Map<string, Output>();
    for (const ref of refs) {
      const output = utxo.get(ref) ?? pending.get(refKey(ref));
      if (output) outputs.set(refKey(ref), output);
    }
    return { get: (ref) => outputs.get(refKey(ref)), outputs: () => outputs.values() };
  });
}
