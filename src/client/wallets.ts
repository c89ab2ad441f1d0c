/**
 * The typed client of the wallet service; runs in a browser.
 *
 * @example
 * ```ts
 * import { lovelace, WalletClient } from "./src/client/wallets.ts";
 *
 * export async function pay(service: string, words: string[], passphrase: string, address: string): Promise<string> {
 *   const client = new WalletClient(service);
 *   const wallet = await client.create({ name: "Savings", mnemonic_sentence: words, passphrase });
 *   const { transaction } = await client.construct(wallet.id, { payments: [{ address, amount: lovelace(2_000_000n) }] });
 *   const signed = await client.sign(wallet.id, transaction, passphrase);
 *   return (await client.submit(wallet.id, signed.transaction)).id;
 * }
 * ```
 */
import type { z } from "zod";
import type * as addresses from "#src/wallets/api/addresses.ts";
import type * as governance from "#src/wallets/api/governance.ts";
import type * as pools from "#src/wallets/api/pools.ts";
import type * as selections from "#src/wallets/api/selections.ts";
import type * as spending from "#src/wallets/api/spending.ts";
import type * as transactions from "#src/wallets/api/transactions.ts";
import type * as wallets from "#src/wallets/api/wallets.ts";
import type { Json } from "#src/base/json.ts";
import { WalletReads } from "#src/client/walletReads.ts";
import type { Exact } from "#src/client/exact.ts";
import type {
  ByronWallet,
  Constructed,
  Decoded,
  FeeEstimate,
  Prefix,
  Transaction,
  Wallet,
} from "#src/client/walletTypes.ts";

export type * from "#src/client/walletTypes.ts";

/**
 * An amount of lovelace, as bodies have it.
 *
 * @example
 * ```ts
 * import { lovelace } from "./src/client/wallets.ts";
 *
 * console.log(lovelace(2_000_000n)); // { quantity: 2000000n, unit: "lovelace" }
 * ```
 */
export const lovelace = (quantity: number | bigint) => ({ quantity, unit: "lovelace" as const });

/**
 * The wallet service over HTTP; its paths and bodies are those of cardano-wallet. Transactions are CBOR in base64 or
 * hexadecimal, as the service gives them; amounts are lovelace or units of an asset.
 *
 * @throws {ApiError} by every method, where the service refuses or does not respond.
 *
 * @example
 * ```ts
 * import { WalletClient } from "./src/client/wallets.ts";
 *
 * const client = new WalletClient("http://127.0.0.1:8090/v2");
 * const wallets = await client.wallets().catch((error) => error.code);
 * console.log(wallets);
 * ```
 */
export class WalletClient extends WalletReads {
  makeAddress(body: z.input<typeof addresses.addressBody>): Promise<{ readonly address: string }> {
    return this.send("POST", "/addresses", body);
  }

  create(body: z.input<typeof wallets.walletBody>): Promise<Wallet> {
    return this.send("POST", "/wallets", body);
  }

  createByron(body: z.input<typeof wallets.byronWalletBody>): Promise<ByronWallet> {
    return this.send("POST", "/byron-wallets", body);
  }

  change(id: string, body: z.input<typeof wallets.walletChange>): Promise<Wallet> {
    return this.send("PUT", `/wallets/${id}`, body);
  }

  changePassphrase(id: string, body: z.input<typeof wallets.passphraseChange>): Promise<null> {
    return this.send("PUT", `/wallets/${id}/passphrase`, body);
  }

  delete(id: string, prefix: Prefix = "wallets"): Promise<null> {
    return this.send("DELETE", `/${prefix}/${id}`);
  }

  /** Reserves the next unused receiving address: every caller gets another one. */
  reserveAddress(
    id: string,
    body: z.input<typeof addresses.reservationBody> = {},
    prefix: Prefix = "wallets",
  ): Promise<Exact<typeof addresses.reservedAddress>> {
    return this.send("POST", `/${prefix}/${id}/addresses/next-unused`, body);
  }

  limitSpending(id: string, body: z.input<typeof spending.limitBody>, prefix: Prefix = "wallets"): Promise<null> {
    return this.send("PUT", `/${prefix}/${id}/spending-limit`, body);
  }

  removeSpendingLimit(id: string, passphrase: string, prefix: Prefix = "wallets"): Promise<null> {
    return this.send("DELETE", `/${prefix}/${id}/spending-limit`, { passphrase });
  }

  makePolicyKey(id: string, passphrase: string): Promise<string> {
    return this.send("POST", `/wallets/${id}/policy-key`, { passphrase });
  }

  policyId(id: string, template: Json): Promise<{ readonly policy_id: string }> {
    return this.send("POST", `/wallets/${id}/policy-id`, { policy_script_template: template });
  }

  construct(
    id: string,
    body: z.input<typeof transactions.constructBody>,
    prefix: Prefix = "wallets",
  ): Promise<Constructed> {
    return this.send("POST", `/${prefix}/${id}/transactions-construct`, body);
  }

  balance(id: string, body: z.input<typeof transactions.balanceBody>): Promise<Constructed> {
    return this.send("POST", `/wallets/${id}/transactions-balance`, body);
  }

  sign(
    id: string,
    transaction: string,
    passphrase: string,
    prefix: Prefix = "wallets",
  ): Promise<{ readonly transaction: string }> {
    return this.send("POST", `/${prefix}/${id}/transactions-sign`, { transaction, passphrase });
  }

  /** Submits a signed transaction. `key` is an `Idempotency-Key`: a request sent again with it is carried out once. */
  submit(
    id: string,
    transaction: string,
    options: { readonly prefix?: Prefix; readonly key?: string } = {},
  ): Promise<{ readonly id: string }> {
    return this.send("POST", `/${options.prefix ?? "wallets"}/${id}/transactions-submit`, { transaction }, options.key);
  }

  decode(
    id: string,
    body: z.input<typeof transactions.decodeBody>,
    prefix: Prefix = "wallets",
  ): Promise<Decoded> {
    return this.send("POST", `/${prefix}/${id}/transactions-decode`, body);
  }

  /**
   * The wallet's own addresses that a transaction (CBOR in base64 or hexadecimal) spends from or pays to, change addresses
   * included, which `addresses` does not list.
   */
  async ownAddresses(id: string, transaction: string): Promise<string[]> {
    const { inputs, outputs, collateral, collateral_outputs } = await this.decode(id, { transaction });
    const all = [...inputs, ...outputs, ...collateral ?? [], ...collateral_outputs ?? []];
    const own = all.flatMap((one) =>
      "derivation_path" in one && one.derivation_path && "address" in one && one.address ? [one.address] : []
    );
    return [...new Set(own)];
  }

  fees(
    id: string,
    body: z.input<typeof transactions.paymentFeesBody>,
    prefix: Prefix = "wallets",
  ): Promise<FeeEstimate> {
    return this.send("POST", `/${prefix}/${id}/payment-fees`, body);
  }

  /** Builds, signs and submits in one call; `key` as in `submit`. */
  pay(
    id: string,
    body: z.input<typeof transactions.sendBody>,
    options: { readonly prefix?: Prefix; readonly key?: string } = {},
  ): Promise<Transaction> {
    return this.send("POST", `/${options.prefix ?? "wallets"}/${id}/transactions`, body, options.key);
  }

  /** The coins for payments or a delegation, for a transaction that is built and signed elsewhere. */
  selectCoins(
    id: string,
    body: z.input<typeof selections.selectBody>,
    prefix: Prefix = "wallets",
  ): Promise<Exact<typeof transactions.coinSelection>> {
    return this.send("POST", `/${prefix}/${id}/coin-selections/random`, body);
  }

  /** The plan of moving everything that the wallet has to other addresses. */
  migrationPlan(
    id: string,
    addresses: readonly string[],
    prefix: Prefix = "wallets",
  ): Promise<Exact<typeof selections.migrationPlan>> {
    return this.send("POST", `/${prefix}/${id}/migrations/plan`, { addresses });
  }

  consolidationPlan(
    id: string,
    body: z.input<typeof selections.consolidationPlanBody> = {},
    prefix: Prefix = "wallets",
  ): Promise<Exact<typeof selections.consolidationPlan>> {
    return this.send("POST", `/${prefix}/${id}/consolidations/plan`, body);
  }

  /** Merges small outputs of the wallet; `key` as in `submit`. */
  consolidate(
    id: string,
    body: z.input<typeof selections.consolidationBody>,
    options: { readonly prefix?: Prefix; readonly key?: string } = {},
  ): Promise<readonly Transaction[]> {
    return this.send("POST", `/${options.prefix ?? "wallets"}/${id}/consolidations`, body, options.key);
  }

  /** Moves everything that the wallet has to other addresses; `key` as in `submit`. */
  migrate(
    id: string,
    body: { readonly addresses: readonly string[]; readonly passphrase: string },
    options: { readonly prefix?: Prefix; readonly key?: string } = {},
  ): Promise<readonly Transaction[]> {
    return this.send("POST", `/${options.prefix ?? "wallets"}/${id}/migrations`, body, options.key);
  }

  forget(id: string, hash: string, prefix: Prefix = "wallets"): Promise<null> {
    return this.send("DELETE", `/${prefix}/${id}/transactions/${hash}`);
  }

  /** Delegates the stake to a pool in one call; `key` as in `submit`. */
  joinPool(id: string, pool: string, passphrase: string, key?: string): Promise<Transaction> {
    return this.send("PUT", `/stake-pools/${pool}/wallets/${id}`, { passphrase }, key);
  }

  /** Deregisters the stake key; its deposit and all rewards come back. */
  quitPool(id: string, passphrase: string, key?: string): Promise<Transaction> {
    return this.send("DELETE", `/stake-pools/*/wallets/${id}`, { passphrase }, key);
  }

  /** Delegates the vote: to `abstain`, `no_confidence` or a representative. */
  joinDrep(id: string, drep: string, passphrase: string, key?: string): Promise<Transaction> {
    return this.send("PUT", `/dreps/${drep}/wallets/${id}`, { passphrase }, key);
  }

  /** Registers the wallet as a representative in one call, with metadata where `anchor` names it; `key` as in `submit`. */
  registerDrep(id: string, body: z.input<typeof governance.drepBody>, key?: string): Promise<Transaction> {
    return this.send("POST", `/wallets/${id}/governance/drep`, body, key);
  }

  /** Replaces the metadata of the wallet as a representative. */
  updateDrep(id: string, body: z.input<typeof governance.drepBody>, key?: string): Promise<Transaction> {
    return this.send("PUT", `/wallets/${id}/governance/drep`, body, key);
  }

  /** Ends the registration as a representative; its deposit comes back. */
  deregisterDrep(id: string, passphrase: string, key?: string): Promise<Transaction> {
    return this.send("DELETE", `/wallets/${id}/governance/drep`, { passphrase }, key);
  }

  /** Votes on governance actions as a representative. */
  castVotes(id: string, body: z.input<typeof governance.votesBody>, key?: string): Promise<Transaction> {
    return this.send("POST", `/wallets/${id}/governance/votes`, body, key);
  }

  changeSettings(settings: z.input<typeof pools.settings>): Promise<null> {
    return this.send("PUT", "/settings", { settings });
  }

  /** Submits a transaction that was signed elsewhere; `key` as in `submit`. */
  proxy(transaction: Uint8Array, key?: string): Promise<{ readonly id: string }> {
    return this.send("POST", "/proxy/transactions", transaction, key);
  }
}
