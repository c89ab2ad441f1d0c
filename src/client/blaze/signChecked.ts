/** Signing of checked transactions by Blaze's wallets. */
import { Core, type Wallet } from "@blaze-cardano/sdk";

/** What `CheckedTransaction` has of a transaction. */
export interface Signable<T> {
  readonly cbor: string;
  readonly hash: string;
  withWitnessSet(witnessSet: string): T;
}

/**
 * A checked transaction, as `TokenClient` gives it, with the signatures of a Blaze wallet; all other bytes stay.
 *
 * @throws {TypeError} where Blaze reads it as a transaction with another hash: its wallet would sign something else.
 *
 * @example
 * ```ts
 * import type { Wallet } from "@blaze-cardano/sdk";
 * import { signChecked } from "./src/client/blaze/signChecked.ts";
 * import { TokenClient } from "./src/client/tokens.ts";
 *
 * export async function request(tokens: TokenClient, wallet: Wallet, token: string): Promise<string> {
 *   const address = (await wallet.getChangeAddress()).toBech32();
 *   const { checked } = await tokens.insert(address, token, "planet", "Earth");
 *   return await tokens.submitAndWait(await signChecked(checked, wallet));
 * }
 * ```
 */
export async function signChecked<T>(transaction: Signable<T>, wallet: Pick<Wallet, "signTransaction">): Promise<T> {
  const read = Core.Transaction.fromCbor(Core.TxCBOR(transaction.cbor));
  if (read.getId() !== transaction.hash) throw new TypeError("Blaze reads this transaction as another one.");
  return transaction.withWitnessSet((await wallet.signTransaction(read, true)).toCbor());
}
