/** What the devnet itself puts on its chain before anybody else: many outputs for the faucet, and reference scripts. */
import { type Log } from "#src/base/log.ts";
import type { DevnetChain } from "#src/devnet/blocks/chain.ts";
import type { Genesis } from "#src/devnet/genesis/genesis.ts";
import { leastOf } from "#src/devnet/faucet/payment.ts";

/** A script to stand in an output at an address. */
export interface Published {
  /** Bytes of the address in hexadecimal. */
  readonly address: string;
  /** CBOR of `[language, script]`, as in `Output.script`. */
  readonly script: Uint8Array;
}

/** Outputs that the first one is split into. */
const PIECES = 32;

/** Splits the faucet's first output, so that payments need not all build upon one another. */
export async function splitFunds(chain: DevnetChain, { faucet }: Genesis, log: Log): Promise<void> {
  if (chain.tip.height >= 0 || chain.mempool.size > 0) return;
  const lovelace = faucet.funds / BigInt(PIECES + 1);
  const paid = await chain.pay(Array.from({ length: PIECES }, () => ({ address: faucet.address, lovelace })));
  if (!paid.ok) log.error("the faucet's funds were not split", { reason: paid.error.message });
}

/** Publishes a script unless it stands at its address already, in the chain or in the mempool. */
export async function publish(chain: DevnetChain, genesis: Genesis, script: Published, log: Log): Promise<void> {
  if (await chain.holdsScript(script.address, script.script)) return;
  const paid = await chain.pay([{ ...script, lovelace: leastOf(genesis.parameters, script) }]);
  if (paid.ok) log.info("a script is published", { address: script.address, transaction: paid.value.txHash });
  else log.error("a script was not published", { address: script.address, reason: paid.error.message });
}
