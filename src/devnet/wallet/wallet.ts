/**
 * The development wallet of a devnet: the default accounts, whose keys are public, as a browser wallet has them
 * (CIP-30). Nothing here is for another network.
 */
import { fromHex, toHex } from "#src/base/bytes.ts";
import { elementAt } from "#src/base/present.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { type Address, addressText, readAddressHex, rewardAddress } from "#src/cardano/address.ts";
import { encode, Encoded } from "#src/cardano/cbor.ts";
import { readTransaction, type Undecodable } from "#src/cardano/conway/transaction.ts";
import { publicKey, type SigningKey } from "#src/cardano/keys/signingKey.ts";
import type { Utxo } from "#src/cardano/output.ts";
import { type SignedMessage, signMessage } from "#src/cardano/keys/signedMessage.ts";
import type { NewOutput } from "#src/cardano/transaction.ts";
import { lovelace, sumValues, type Value } from "#src/cardano/value.ts";
import type { ChainPort, Submission, Unreachable } from "#src/chain/provider/port.ts";
import type { SubmissionUnavailable, UndecodableSubmission } from "#src/devnet/blocks/submission.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { notRunning } from "#src/devnet/devnetRunner.ts";
import { balancePayment } from "#src/devnet/faucet/payment.ts";
import { accountAddress, type DevnetAccount, devnetAccounts, governanceKeys } from "#src/devnet/genesis/accounts.ts";
import { coinsAt, outputsOf } from "#src/devnet/wallet/coins.ts";
import { type CannotSign, signatures, type TransactionSignatures } from "#src/devnet/wallet/signatures.ts";
import { credentialKey } from "#src/ledger/state.ts";
import type { BalanceFailure } from "#src/transaction/balance.ts";
import { largestFirst } from "#src/transaction/coinPool.ts";
import { inListOrder } from "#src/transaction/coinSelection.ts";
import { atLeast, leastLovelace } from "#src/transaction/output.ts";
import { randomIndex } from "#src/transaction/random.ts";

/** Accounts of the wallet: those of Yaci DevKit. */
const ACCOUNTS = 20;
/** Lovelace that a collateral has unless more or less is requested; no script of mainnet's limits needs more. */
const COLLATERAL = 5_000_000n;
/** Collateral inputs that mainnet's parameters allow. */
const MOST_COLLATERAL = 3;

/** An account of the wallet; it has one address. */
export interface WalletAccount {
  /** `0` to `19`. */
  readonly id: string;
  readonly name: string;
  readonly address: Address;
  readonly rewardAddress: Extract<Address, { kind: "reward" }>;
}

/** The chain cannot be read now; a later attempt may succeed. */
export type ChainAway = Unreachable | SubmissionUnavailable;

/** Why data is not signed: the address has no key, or the account does not have it. */
export type CannotSignData = Failure<"address_without_key" | "key_unknown">;

/** Why a payment cannot be built, beside its balance. */
export type BadPayment = Failure<"sender_without_key" | "amount_too_small">;

/** What the wallet works on. */
export interface WalletServices {
  readonly devnet: Pick<Devnet, "network" | "query" | "mempool" | "submit">;
  /** The port to the same devnet. */
  readonly port: Pick<ChainPort, "utxosByAddress" | "parameters">;
}

/** The development wallet. */
export class DevnetWallet {
  #accounts: readonly WalletAccount[] | undefined;

  constructor(private readonly services: WalletServices) {}

  /** The accounts, derived at the first use. */
  get accounts(): readonly WalletAccount[] {
    const network = this.services.devnet.network.id;
    return this.#accounts ??= devnetAccounts(ACCOUNTS).map((account) => ({
      id: String(account.index),
      name: `Account ${account.index}`,
      address: known(accountAddress(network, account)),
      rewardAddress: rewardAddress(network, { kind: "key", hash: account.stake }),
    }));
  }

  /** An account by its id. */
  account(id: string): WalletAccount | undefined {
    return this.accounts.find((account) => account.id === id);
  }

  /** Everything at the account's address. */
  async balance({ address }: WalletAccount): Promise<Result<Value, ChainAway>> {
    const coins = await coinsAt(this.services, address.hex);
    return coins.ok ? ok(sumValues(coins.value.map(({ output }) => output.value))) : coins;
  }

  /** Unspent outputs of the account; with `amount`, as few as cover it, undefined where all of them do not. */
  async utxos({ address }: WalletAccount, amount?: Value): Promise<Result<readonly Utxo[] | undefined, ChainAway>> {
    const coins = await coinsAt(this.services, address.hex);
    return coins.ok && amount ? ok(covering(coins.value, amount)) : coins;
  }

  /** Outputs with nothing but lovelace that hold so much: the smallest one, or a few; undefined where there are none. */
  async collateral(
    { address }: WalletAccount,
    least: bigint = COLLATERAL,
  ): Promise<Result<readonly Utxo[] | undefined, ChainAway>> {
    const coins = await coinsAt(this.services, address.hex);
    if (!coins.ok) return coins;
    const plain = coins.value.filter(({ output: { value, script } }) => value.assets.size === 0 && !script);
    const holding = ({ output }: Utxo) => output.value.lovelace;
    const enough = plain.filter((utxo) => holding(utxo) >= least);
    const [smallest] = enough.sort((a, b) => holding(a) < holding(b) ? -1 : 1);
    if (smallest) return ok([smallest]);
    const several = covering(plain, lovelace(least));
    return ok(several && several.length <= MOST_COLLATERAL ? several : undefined);
  }

  /** Signs a transaction with the account's keys, as `signatures` says. */
  async sign(
    { id }: WalletAccount,
    transaction: Uint8Array,
    partial: boolean,
  ): Promise<Result<TransactionSignatures, Undecodable | CannotSign | SubmissionUnavailable>> {
    const read = readTransaction(transaction);
    if (!read.ok) return read;
    const { inputs, references, collateral } = read.value.body;
    const outputs = await outputsOf(this.services.devnet, [...inputs, ...references, ...collateral]);
    return outputs ? await signatures(read.value, keysOf(id), outputs, partial) : notRunning();
  }

  /** The public key of an account as a representative. */
  drepKey({ id }: WalletAccount): Uint8Array {
    return publicKey(governanceKeys(Number(id)).drep.key);
  }

  /** The public stake key of an account, and whether it is registered, by the mempool too. */
  async stakeKey(
    { rewardAddress, id }: WalletAccount,
  ): Promise<Result<{ readonly key: Uint8Array; readonly isRegistered: boolean }, SubmissionUnavailable>> {
    const key = credentialKey(rewardAddress.stake);
    const { devnet } = this.services;
    const inChain = await devnet.query(({ accounts }) => accounts.get(key) !== undefined);
    if (inChain === undefined) return notRunning();
    const changed = devnet.mempool().flatMap(({ applied }) => applied.accounts.filter((change) => change.key === key));
    const isRegistered = changed.length === 0 ? inChain : changed.at(-1)?.after !== undefined;
    return ok({ key: publicKey(accountOf(id).stakeKey), isRegistered });
  }

  /**
   * Signs data for an address with the key of its payment credential, or of its stake where it is a reward address; or as a
   * representative, by the hash of its key.
   */
  signData(
    { id }: WalletAccount,
    address: Address | { readonly kind: "drep"; readonly hash: string },
    payload: Uint8Array,
  ): Result<SignedMessage, CannotSignData> {
    if (address.kind === "drep") {
      const key = keysOf(id).get(address.hash);
      if (key) return ok(signMessage(payload, fromHex(address.hash), key));
      return fail("key_unknown", "The account does not have the key of this representative.");
    }
    const credential = address.kind === "reward" ? address.stake : "payment" in address ? address.payment : undefined;
    if (credential?.kind === "script") {
      return fail("address_without_key", "The address is a script's: no key can sign for it.");
    }
    const key = address.network === this.services.devnet.network.id && credential
      ? keysOf(id).get(credential.hash)
      : undefined;
    if (!key) return fail("key_unknown", `The account does not have the key of ${addressText(address)}.`);
    return ok(signMessage(payload, fromHex(address.hex), key));
  }

  /** Submits a transaction to the devnet. */
  submit(
    transaction: Uint8Array,
  ): Promise<Result<Submission, SubmissionUnavailable | UndecodableSubmission>> {
    return this.services.devnet.submit(transaction);
  }

  /**
   * A payment without signatures from any address with a payment key, which gets the change. An output with assets gets
   * the least lovelace where the value has less.
   */
  async build(
    from: Address,
    to: Address,
    value: Value,
  ): Promise<
    Result<{ readonly transaction: Uint8Array; readonly hash: string }, BadPayment | BalanceFailure | ChainAway>
  > {
    if (!("payment" in from) || from.payment.kind !== "key") {
      return fail("sender_without_key", "The address of the sender has no payment key.");
    }
    const coins = await coinsAt(this.services, from.hex);
    if (!coins.ok) return coins;
    const read = await this.services.port.parameters();
    if (!read.ok) return read;
    const parameters = read.value.value;
    const wanted: NewOutput = { address: to.hex, value };
    const output = value.assets.size > 0 ? atLeast(parameters, wanted) : wanted;
    const least = leastLovelace(parameters, output);
    if (output.value.lovelace < least) {
      return fail("amount_too_small", `An output at this address must have at least ${least} lovelace.`, {
        limit: least,
      });
    }
    return balancePayment(
      { address: from.hex, available: coins.value.map((utxo) => ({ utxo })), parameters },
      [output],
    );
  }
}

/** An account with its keys. @throws RangeError where there is none. */
function accountOf(id: string): DevnetAccount {
  return elementAt(devnetAccounts(ACCOUNTS), Number(id));
}

/**
 * The secret keys of an account, by the hashes of the public ones: of payments, stake, and governance (CIP-105). They never
 * leave this module.
 */
function keysOf(id: string): ReadonlyMap<string, SigningKey> {
  const { payment, paymentKey, stake, stakeKey } = accountOf(id);
  const governance = Object.values(governanceKeys(Number(id))).map(({ hash, key }) => [hash, key] as const);
  return new Map([[payment, paymentKey], [stake, stakeKey], ...governance]);
}

/** CBOR of a `transaction_unspent_output` (CIP-30): the input and the output, in hexadecimal. */
export function unspentOutputHex({ ref, output }: Utxo): string {
  return toHex(encode([[fromHex(ref.txHash), ref.index], new Encoded(output.raw)]));
}

function covering(utxos: readonly Utxo[], amount: Value): readonly Utxo[] | undefined {
  const coins = largestFirst(utxos.map((utxo) => ({ utxo })));
  const needs = { payments: [amount], surplus: lovelace(0n), hasInputs: true };
  const chosen = inListOrder(coins, needs, randomIndex(), coins.length);
  return typeof chosen === "string" ? undefined : chosen.groups.flatMap(({ coins }) => coins.map(({ utxo }) => utxo));
}

function known(hex: string): Address {
  const address = readAddressHex(hex);
  if (!address.ok) throw new Error(address.error.message);
  return address.value;
}
