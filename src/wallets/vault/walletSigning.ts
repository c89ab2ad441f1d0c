/**
 * A wallet's signatures on transactions. The passphrase goes to the vault and nowhere else.
 *
 * Anybody can copy the derivation path of a random wallet into an address of their own: such a forged address looks
 * like the wallet's until its key is derived. Signing derives the keys, so forged addresses are found here and
 * recorded; a build that follows leaves their outputs out.
 */
import { fromHex } from "#src/base/bytes.ts";
import type { Messaged } from "#src/base/json.ts";
import { elementAt, onlyOf } from "#src/base/present.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { paymentKeyHash, rewardAddress } from "#src/cardano/address.ts";
import { byronAttributes, isByronKey } from "#src/cardano/byron.ts";
import { decode } from "#src/cardano/cbor.ts";
import { keysOf, readNative } from "#src/cardano/nativeScript.ts";
import { type OutRef, refKey, type Utxo } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { addWitnesses } from "#src/cardano/transaction.ts";
import type { Queries, Store } from "#src/store/store.ts";
import type { UnsealFailure, Vault } from "#src/wallets/vault/vault.ts";
import { policyKeyHash } from "#src/wallets/builds/policy.ts";
import { attempted } from "#src/wallets/builds/decode.ts";
import { actsAsDrep } from "#src/wallets/builds/governance.ts";
import { witnessesOf } from "#src/wallets/builds/witnesses.ts";
import type { ConstructedTransaction, DecodedInput, DecodeFailure, StakeAccount } from "#src/wallets/builds/types.ts";
import { readAccount } from "#src/wallets/delegation/read.ts";
import { storeForged } from "#src/wallets/index/forged.ts";
import { ownersOf } from "#src/wallets/index/owners.ts";
import { readOwnUtxos } from "#src/wallets/index/read.ts";
import { byronKeyPaths } from "#src/cardano/keys/byronAddress.ts";
import { policyPath, stakePath } from "#src/cardano/keys/paths.ts";
import type { Path } from "#src/cardano/keys/types.ts";
import { ownDrepOf } from "#src/wallets/ownDrep.ts";
import type { WalletRow } from "#src/wallets/rows.ts";
import type { LimitExceeded } from "#src/wallets/spending.ts";
import type { WalletBuilds } from "#src/wallets/walletBuildCalls.ts";

/** What signing works with. */
export interface SigningServices {
  readonly store: Pick<Store, "sql">;
  readonly vault: Pick<Vault, "signAll" | "publicKeys">;
  /** Counts signed transactions towards the wallet's spending limit, or refuses them. */
  readonly countSpending: (
    wallet: string,
    transactions: readonly Uint8Array[],
  ) => Promise<Result<null, LimitExceeded>>;
}

/** A spent coin, as far as its signature needs it. */
export interface SpentCoin {
  readonly utxo: { readonly ref: OutRef; readonly output: Pick<Utxo["output"], "address"> };
  readonly path: Path;
}

/** Keys that a wallet can sign with, as far as a transaction may need them. */
export interface OwnKeys {
  /** Own outputs among the inputs and the collateral. */
  readonly coins: readonly SpentCoin[];
  readonly account?: Pick<StakeAccount, "credential" | "path"> | undefined;
  readonly drep?: { readonly hash: string; readonly path: Path } | undefined;
  readonly policyKey?: { readonly hash: string; readonly path: Path } | undefined;
  /** More keys by hash, which a body may name as required signers. */
  readonly keys?: ReadonlyMap<string, Path> | undefined;
  /** CBOR in hexadecimal of native minting scripts in reference inputs: the witness set does not have them. */
  readonly policies?: readonly string[] | undefined;
}

/** A transaction to be signed, with the wallet's coins that it spends and the native scripts that it mints with. */
export interface UnsignedTransaction extends Required<Pick<OwnKeys, "coins" | "policies">> {
  readonly transaction: Uint8Array;
}

export type SignFailure =
  | DecodeFailure
  | UnsealFailure
  | LimitExceeded
  | Failure<"key_not_found_for_address">;

/** What signing works with where the wallet's actor reads the transaction. */
export interface BuiltSigningServices extends SigningServices {
  readonly builds: Pick<WalletBuilds, "decode">;
}

/** Longest time for one transaction, in milliseconds. */
const SIGN_MS = 30_000;
/** Most addresses whose keys are derived when a forged one was found. */
const MOST_CHECKED = 500;
/** Most times that a transaction is built and signed because of forged addresses. */
const MOST_ATTEMPTS = 8;

/**
 * Transactions with all signatures that the wallet owes them, in their order; signatures that they have stay. The root
 * key is opened once for all. `key_not_found_for_address`: they spend from forged addresses, which are recorded as
 * such.
 */
export async function signTransactions(
  { store: { sql }, vault, countSpending }: SigningServices,
  row: Pick<WalletRow, "id" | "kind" | "key" | "policyKey" | "account">,
  transactions: readonly UnsignedTransaction[],
  passphrase: string,
): Promise<Result<Uint8Array[], SignFailure>> {
  const account = await readAccount(sql, row.id);
  const policy = policyKeyHash(row);
  const required = [];
  for (const { transaction, ...own } of transactions) {
    const signing = signingOf(transaction, {
      ...own,
      account: account && { credential: account.credential, path: stakePath(row.account) },
      drep: ownDrepOf(row),
      policyKey: policy === undefined ? undefined : { hash: policy, path: policyPath() },
      keys: await requiredSignerPaths(sql, row.id, transaction),
    });
    if (!signing.ok) return signing;
    required.push(signing.value);
  }
  const wanted = required.map(({ hash, paths, byron }) => ({
    message: fromHex(hash),
    paths: [...paths, ...byron.flatMap(({ path }) => byronKeyPaths(path))],
  }));
  const until = { deadline: Date.now() + SIGN_MS * wanted.length };
  const signed = await vault.signAll(row.id, { passphrase, wanted }, until);
  if (!signed.ok) return signed;
  const forged: string[] = [];
  const witnesses = required.map(({ paths, byron }, i) => {
    const signatures = elementAt(signed.value, i);
    let place = paths.length;
    const bootstraps = byron.flatMap(({ address, path }) => {
      const some = signatures.slice(place, place += byronKeyPaths(path).length);
      const own = some.find(({ key, chainCode }) => isByronKey(address, key, chainCode));
      if (!own) forged.push(address);
      return own ? [{ address, ...own }] : [];
    });
    return { keys: signatures.slice(0, paths.length), bootstraps };
  });
  if (forged.length > 0) {
    const addresses = [...new Set(forged)];
    const recorded = await recordForged({ store: { sql }, vault }, row.id, addresses, passphrase);
    if (!recorded.ok) return recorded;
    return fail("key_not_found_for_address", `The wallet has no key of ${addresses.join(", ")}.`);
  }
  const counted = await countSpending(row.id, transactions.map(({ transaction }) => transaction));
  if (!counted.ok) return counted;
  return ok(transactions.map(({ transaction }, i) => {
    const { keys, bootstraps } = elementAt(witnesses, i);
    return addWitnesses(transaction, {
      keys,
      bootstraps: bootstraps.map(({ address, ...signature }) => ({
        ...signature,
        attributes: byronAttributes(address),
      })),
    });
  }));
}

/**
 * The transaction with all signatures that the wallet owes it; signatures that it has stay. What the wallet's keys have
 * to sign is read from the transaction by the wallet's actor. Fails as `signTransactions` and the build `decode` do.
 */
export async function signTransaction(
  services: BuiltSigningServices,
  row: WalletRow,
  transaction: Uint8Array,
  passphrase: string,
): Promise<Result<Uint8Array, Failure>> {
  const decoded = await services.builds.decode({ kind: "wallet", id: row.id }, transaction, SIGN_MS);
  if (!decoded.ok) return decoded;
  const { mint, burn, inputs, collateral } = decoded.value;
  const policies = [...mint, ...burn].flatMap(({ script }) => script?.kind === "native" ? [script.native] : []);
  const coins = coinsIn([...inputs, ...collateral]);
  return await signOne(services, row, { transaction, coins, policies }, passphrase);
}

/** As `signTransaction`, of a transaction that was built just now: its selection names the coins. */
export async function signBuilt(
  services: BuiltSigningServices,
  row: WalletRow,
  { transaction, selection: { inputs, collateral } }: Pick<
    Messaged<ConstructedTransaction>,
    "transaction" | "selection"
  >,
  passphrase: string,
): Promise<Result<Uint8Array, Failure>> {
  const bytes = fromHex(transaction);
  // the scripts that it mints with may stand in reference inputs, which the actor reads
  if (scanTransaction(bytes).mint.size > 0) return await signTransaction(services, row, bytes, passphrase);
  const coins = coinsIn([...inputs, ...collateral].map((own) => ({ ref: own.ref, own })));
  return await signOne(services, row, { transaction: bytes, coins, policies: [] }, passphrase);
}

async function signOne(
  services: BuiltSigningServices,
  row: WalletRow,
  transaction: UnsignedTransaction,
  passphrase: string,
): Promise<Result<Uint8Array, SignFailure>> {
  const signed = await signTransactions(services, row, [transaction], passphrase);
  return signed.ok ? ok(onlyOf(signed.value)) : signed;
}

/** The wallet's coins among inputs, with the paths of their keys. */
export function coinsIn(inputs: readonly Messaged<DecodedInput>[]): SpentCoin[] {
  return inputs.flatMap(({ ref: { txHash, index }, own }) =>
    own === undefined ? [] : [{
      utxo: { ref: { txHash, index: Number(index) }, output: { address: own.address } },
      path: own.path.map(Number),
    }]
  );
}

/** Builds and signs again while that finds forged addresses: the next build leaves their outputs out. */
export async function withoutForgedOutputs<T, F extends Failure>(
  buildAndSign: () => Promise<Result<T, F>>,
): Promise<Result<T, F>> {
  for (let attempt = 1;; attempt++) {
    const signed = await buildAndSign();
    if (signed.ok || signed.error.code !== "key_not_found_for_address" || attempt === MOST_ATTEMPTS) return signed;
  }
}

/** Records forged addresses, and checks others with unspent outputs of the wallet: who forges one forges more. */
async function recordForged(
  { store: { sql }, vault }: Pick<SigningServices, "store" | "vault">,
  wallet: string,
  forged: readonly string[],
  passphrase: string,
): Promise<Result<null, UnsealFailure>> {
  const known = new Set(forged);
  const others = new Map<string, Path>();
  for (const { utxo: { output }, path } of await readOwnUtxos(sql, wallet)) {
    if (!known.has(output.address) && others.size < MOST_CHECKED) others.set(output.address, path);
  }
  const candidates = [...others].flatMap(([address, path]) =>
    byronKeyPaths(path).map((one) => ({ address, path: one }))
  );
  const paths = candidates.map(({ path }) => path);
  const keys = await vault.publicKeys(wallet, { passphrase, paths }, { deadline: Date.now() + SIGN_MS });
  if (!keys.ok) return keys;
  const sound = new Set(candidates.flatMap(({ address }, i) => {
    const key = fromHex(elementAt(keys.value, i));
    return isByronKey(address, key.subarray(0, 32), key.subarray(32)) ? [address] : [];
  }));
  const more = [...others.keys()].filter((address) => !sound.has(address));
  await storeForged(sql, wallet, [...forged, ...more]);
  return ok(null);
}

/** Paths of the wallet's address keys that a transaction names as required signers, by key hash. */
async function requiredSignerPaths(
  sql: Queries,
  wallet: string,
  transaction: Uint8Array,
): Promise<ReadonlyMap<string, Path>> {
  const hashes = scanTransaction(transaction).requiredSigners;
  const owners = await ownersOf(sql, hashes.map((hash) => `key-${hash}`));
  return new Map(hashes.flatMap((hash) => {
    const own = owners.get(`key-${hash}`)?.find((owner) => owner.wallet === wallet);
    return own ? [[hash, own.path] as const] : [];
  }));
}

/** The keys that sign, and the hash that they sign. */
interface RequiredSignatures {
  /** Hash of the body, which is signed: 64 hexadecimal digits. */
  readonly hash: string;
  /** Paths of Shelley keys, each once. */
  readonly paths: readonly Path[];
  /** Byron addresses that are spent from, each once, with the paths of their keys: each needs a bootstrap witness. */
  readonly byron: readonly { readonly address: string; readonly path: Path }[];
}

/**
 * The signatures that a transaction needs from a wallet: for its inputs, its account, its representative and its votes,
 * and scripts and required signers that name its keys.
 */
export function signingOf(transaction: Uint8Array, own: OwnKeys): Result<RequiredSignatures, DecodeFailure> {
  return attempted(() => {
    const scanned = scanTransaction(transaction);
    const spent = new Set([...scanned.inputs, ...scanned.collateral].map(refKey));
    const paths = new Map<string, Path>();
    const byron = new Map<string, Path>();
    const byHash = new Map(own.keys);
    for (const { utxo: { ref, output: { address } }, path } of own.coins) {
      const key = paymentKeyHash(address);
      if (key) byHash.set(key, path);
      if (!spent.has(refKey(ref))) continue;
      if (key) paths.set(key, path);
      else if (address.startsWith("8")) byron.set(address, path);
    }
    const named = new Set(scanned.requiredSigners);
    const natives = witnessesOf(scanned.witnesses).scripts.flatMap(({ language, bytes }) =>
      language === 0 ? [bytes] : []
    );
    for (const script of [...natives, ...(own.policies ?? []).map(fromHex)]) {
      for (const key of keysOf(readNative(decode(script)))) named.add(key);
    }
    const { account, drep, policyKey } = own;
    if (account?.credential.kind === "key") {
      const { hash } = account.credential;
      byHash.set(hash, account.path);
      const accounts = ([0, 1] as const).map((network) => rewardAddress(network, account.credential).hex);
      const usesAccount = accounts.some((address) => scanned.withdrawals.has(address)) ||
        scanned.certificates.some((certificate) =>
          "credential" in certificate && certificate.credential.kind === "key" && certificate.credential.hash === hash
        );
      if (usesAccount) paths.set(hash, account.path);
    }
    if (drep) {
      byHash.set(drep.hash, drep.path);
      if (actsAsDrep(scanned, drep.hash)) paths.set(drep.hash, drep.path);
    }
    if (policyKey) byHash.set(policyKey.hash, policyKey.path);
    for (const key of named) {
      const path = byHash.get(key);
      if (path) paths.set(key, path);
    }
    return {
      hash: scanned.hash,
      paths: [...paths.values()],
      byron: [...byron].map(([address, path]) => ({ address, path })),
    };
  });
}
