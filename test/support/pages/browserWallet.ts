/** A browser wallet (CIP-30) whose key stays in the test: it signs with a library that the product does not use. */
import CSL from "@emurgo/cardano-serialization-lib-nodejs";
import type { BrowserContext } from "playwright-core";
import type { User } from "../service/user.ts";

export interface BrowserWallet {
  /** Transactions that it received for signing, in hexadecimal, and whether partial signing was requested. */
  readonly signRequests: (readonly [transaction: string, partial: boolean])[];
  /** Errors that it throws instead of signing, each once. */
  readonly refusals: { readonly code: number; readonly info: string }[];
  /** Values that it returns instead of its signature, each once. */
  readonly odd: ((transaction: string) => string)[];
}

/** A witness set that contains only a user's signature. */
export function witnessSet(user: User, transaction: string): string {
  const hash = CSL.FixedTransaction.from_hex(transaction).transaction_hash();
  const signatures = CSL.Vkeywitnesses.new();
  signatures.add(CSL.make_vkey_witness(hash, user.key));
  const set = CSL.TransactionWitnessSet.new();
  set.set_vkeys(signatures);
  return set.to_hex();
}

/** Installs a user's wallet in every page of a context, as `window.cardano.<id>`. */
export async function installWallet(
  context: BrowserContext,
  user: User,
  { id = "testwallet", networkId = 0 } = {},
): Promise<BrowserWallet> {
  const wallet: BrowserWallet = { signRequests: [], refusals: [], odd: [] };
  await context.exposeFunction("signForTest", (transaction: string, partial: boolean) => {
    wallet.signRequests.push([transaction, partial]);
    const refusal = wallet.refusals.shift();
    return refusal ? { refusal } : { set: wallet.odd.shift()?.(transaction) ?? witnessSet(user, transaction) };
  });
  const address = CSL.Address.from_bech32(user.address).to_hex();
  await context.addInitScript(({ id, networkId, address }) => {
    const { signForTest } = globalThis as unknown as {
      signForTest(transaction: string, partial: boolean): Promise<{ refusal?: object; set?: string }>;
    };
    const enabled = {
      getNetworkId: () => Promise.resolve(networkId),
      getChangeAddress: () => Promise.resolve(address),
      getUsedAddresses: () => Promise.resolve([address]),
      getUtxos: () => Promise.resolve(null),
      signTx: async (transaction: string, partial: boolean) => {
        const { refusal, set } = await signForTest(transaction, partial);
        if (refusal) throw refusal;
        return set;
      },
    };
    // a wallet knows the pages that its owner has let in
    const known = "test-wallet-enabled";
    const offered = {
      name: "Test wallet",
      apiVersion: "1.0.0",
      icon: "",
      enable: () => {
        sessionStorage.setItem(known, "yes");
        return Promise.resolve(enabled);
      },
      isEnabled: () => Promise.resolve(sessionStorage.getItem(known) === "yes"),
    };
    Object.assign(globalThis, { cardano: { [id]: offered } });
  }, { id, networkId, address });
  return wallet;
}
