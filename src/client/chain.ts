/** The typed client of the chain behind the token service: for programs that build their own transactions. */
import type * as api from "#src/tokens/api/chain.ts";
import type { Exact } from "#src/client/exact.ts";
import { call, queryText } from "#src/client/http.ts";

export type ChainParameters = Exact<typeof api.chainParameters>;
export type ChainOutputs = Exact<typeof api.chainOutputs>;
export type ChainOutput = Exact<typeof api.chainOutput>;
export type Evaluated = Exact<typeof api.evaluated>;

/** Which outputs of an address are wanted. */
export interface OutputSelection {
  /** Whether outputs of pending transactions are among them; default: they are. */
  readonly pending?: boolean;
  /** Only those with this asset: policy id and name in hexadecimal. */
  readonly asset?: string;
}

/** An output that the service cannot know: `<hash>-<index>`, and its CBOR in hexadecimal. */
export interface AdditionalOutput {
  readonly outputRef: string;
  readonly cbor: string;
}

/** Outputs that a request may name. */
const MOST_REFS = 200;

/**
 * The chain over HTTP, at the token service: the same on a devnet, with a node and with Blockfrost. Outputs are CBOR in
 * hexadecimal; each answer names the block after which it holds (`at`).
 *
 * @throws {ApiError} by every method, where the service refuses or does not respond.
 *
 * @example
 * ```ts
 * import { ChainClient } from "./src/client/chain.ts";
 *
 * const client = new ChainClient("http://127.0.0.1:3000");
 * console.log(await client.parameters().then(({ network }) => network.magic, (error) => error.code));
 * ```
 */
export class ChainClient {
  /** `base` is the URL of the token service, such as `http://127.0.0.1:3000`. */
  constructor(readonly base: string) {}

  /** The network, how its slots map to time, and its protocol parameters. */
  parameters(): Promise<ChainParameters> {
    return call(this.base, "GET", "/chain/parameters");
  }

  /** Outputs of an address that can be spent: none that a pending transaction spends. */
  outputs(address: string, { pending, asset }: OutputSelection = {}): Promise<ChainOutputs> {
    return call(this.base, "GET", `/chain/outputs/${encodeURIComponent(address)}${queryText({ pending, asset })}`);
  }

  /** Those of some outputs (`<hash>-<index>`) that can be spent; more than 200 are asked for in parts. */
  async namedOutputs(outputRefs: readonly string[]): Promise<readonly ChainOutput[]> {
    const found: ChainOutput[] = [];
    for (let from = 0; from < outputRefs.length; from += MOST_REFS) {
      const part = { outputRefs: outputRefs.slice(from, from + MOST_REFS) };
      found.push(...(await call<ChainOutputs>(this.base, "POST", "/chain/outputs", part)).outputs);
    }
    return found;
  }

  /**
   * The state output of a token by its asset (policy id and name in hexadecimal), after pending transactions.
   *
   * @throws {ApiError} `asset_not_indexed` for an asset that is no token of the service.
   */
  assetOutput(asset: string): Promise<ChainOutputs> {
    return call(this.base, "GET", `/chain/assets/${asset}`);
  }

  /**
   * Execution units of each redeemer of a transaction (CBOR in hexadecimal), whose fee, units and signatures may be missing.
   *
   * @throws {ApiError} `script_refused`, with the reason for each redeemer in the details.
   */
  evaluate(transaction: string, additionalOutputs: readonly AdditionalOutput[] = []): Promise<Evaluated> {
    return call(this.base, "POST", "/chain/evaluate", { transaction, additionalOutputs });
  }
}
