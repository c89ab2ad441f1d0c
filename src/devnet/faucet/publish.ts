/** The devnet's own transactions: splitting the faucet's funds, publishing reference scripts. */
import { type Log, reason } from "#src/base/log.ts";
import type { DevnetChain } from "#src/devnet/blocks/chain.ts";
import type { Genesis } from "#src/devnet/genesis/genesis.ts";
import { minLovelace } from "#src/devnet/faucet/payment.ts";

/** A reference script and the address of its output. */
export interface ReferenceScript {
  /** Bytes of the address in hexadecimal. */
  readonly address: string;
  /** CBOR of `[language, script]`, as in `Output.script`. */
  readonly script: Uint8Array;
  /** First protocol version whose ledger accepts it; by default every version. Until then it is not published. */
  readonly firstProtocol?: number;
}

/** Outputs into which the first one is split. */
const SPLIT_OUTPUTS = 32;

/** Splits the faucet's first output, so that payments need not depend on one another. */
async function splitFunds(chain: DevnetChain, { faucet }: Genesis, log: Log): Promise<void> {
  if (chain.tip.height >= 0 || chain.mempool.size > 0) return;
  const lovelace = faucet.funds / BigInt(SPLIT_OUTPUTS + 1);
  const paid = await chain.pay(Array.from({ length: SPLIT_OUTPUTS }, () => ({ address: faucet.address, lovelace })));
  if (!paid.ok) log.error("the faucet's funds were not split", { reason: paid.error.message });
}

/** Publishes a script unless its address holds it already, in the chain or in the mempool, or the ledger would not accept it. */
async function publish(chain: DevnetChain, genesis: Genesis, script: ReferenceScript, log: Log): Promise<void> {
  if (script.firstProtocol !== undefined && chain.parameters.protocolVersion.major < script.firstProtocol) return;
  if (await chain.holdsScript(script.address, script.script)) return;
  const output = { address: script.address, script: script.script };
  const paid = await chain.pay([{ ...output, lovelace: minLovelace(genesis.parameters, output) }]);
  if (paid.ok) log.info("a script is published", { address: script.address, transaction: paid.value.txHash });
  else log.error("a script was not published", { address: script.address, reason: paid.error.message });
}

/** Makes the devnet's own transactions. */
export class OwnTransactions {
  /** Protocol version for which scripts were published last. */
  #publishedFor: number | undefined;

  constructor(private readonly scripts: readonly ReferenceScript[], private readonly log: Log) {}

  /** Submits the first ones, unless the chain has them. */
  async submitFirst(chain: DevnetChain, genesis: Genesis): Promise<void> {
    this.keepVersion(chain);
    await splitFunds(chain, genesis, this.log);
    await this.#publish(chain, genesis);
  }

  /** Publishes the scripts that need it after the first block of a protocol version. */
  async publishNew(chain: DevnetChain, genesis: Genesis): Promise<void> {
    if (chain.parameters.protocolVersion.major === this.#publishedFor) return;
    this.keepVersion(chain);
    await this.#publish(chain, genesis).catch((error) =>
      this.log.warn("scripts were not published", { reason: reason(error) })
    );
  }

  /** Takes the chain's protocol version as one for which scripts are published; a hard fork may come again. */
  keepVersion(chain: DevnetChain): void {
    this.#publishedFor = chain.parameters.protocolVersion.major;
  }

  /** Publishes the scripts that the ledger accepts, unless the chain has them. */
  async #publish(chain: DevnetChain, genesis: Genesis): Promise<void> {
    for (const script of this.scripts) await publish(chain, genesis, script, this.log);
  }
}
