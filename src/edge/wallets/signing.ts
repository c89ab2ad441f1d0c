/** A wallet's signatures on transactions. The passphrase goes to the vault, and nowhere else. */
import { fromHex } from "#src/base/bytes.ts";
import { byronAttributes, isByronKey } from "#src/cardano/byron.ts";
import { addWitnesses } from "#src/cardano/transaction.ts";
import type { Messaged } from "#src/base/json.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { HttpFailure } from "#src/edge/errors.ts";
import { type Desk, entityOf, LONGEST_MS, until } from "#src/edge/wallets/context.ts";
import { policyHash } from "#src/edge/wallets/keys.ts";
import { answered, refusal } from "#src/edge/wallets/status.ts";
import { type OwnKeys, signingOf, type SpentCoin } from "#src/wallet/build/sign.ts";
import type { ConstructedTransaction, DecodedInput } from "#src/wallet/build/types.ts";
import { readAccount } from "#src/wallet/delegation/read.ts";
import { storeForged } from "#src/wallet/index/forged.ts";
import { readOwnUtxos } from "#src/wallet/index/read.ts";
import { ownersOf } from "#src/wallet/index/readAddresses.ts";
import { accountPath, policyPath } from "#src/wallet/keys/paths.ts";
import type { Path } from "#src/wallet/keys/types.ts";
import type { WalletRow } from "#src/wallet/rows.ts";

/** Path of the key of the wallet's stake. */
export const STAKE_PATH: Path = [...accountPath("shelley"), 2, 0];

/** A transaction to be signed, and what it asks the wallet's keys for. */
export interface Unsigned extends Required<Pick<OwnKeys, "coins" | "policies">> {
  readonly transaction: Uint8Array;
}

/** The transaction with all signatures that the wallet owes it; those it has stay. */
export async function signTransaction(
  desk: Desk,
  row: WalletRow,
  transaction: Uint8Array,
  passphrase: string,
): Promise<Uint8Array> {
  const decoded = answered(await desk.builds.decode(entityOf(row.id), transaction, LONGEST_MS));
  const policies = [...decoded.mint, ...decoded.burn].flatMap(({ script }) =>
    script?.kind === "native" ? [script.native] : []
  );
  const coins = coinsIn([...decoded.inputs, ...decoded.collateral]);
  const [signed] = await signTransactions(desk, row, [{ transaction, coins, policies }], passphrase);
  return signed!;
}

/** As `signTransaction`, for what was built just now: there is little to find out. */
export async function signBuilt(
  desk: Desk,
  row: WalletRow,
  { transaction, selection: { inputs, collateral } }: Pick<
    Messaged<ConstructedTransaction>,
    "transaction" | "selection"
  >,
  passphrase: string,
): Promise<Uint8Array> {
  const bytes = fromHex(transaction);
  // scripts that mint may stand in outputs that are referred to
  if (scanTransaction(bytes).mint.size > 0) return await signTransaction(desk, row, bytes, passphrase);
  const coins = coinsIn([...inputs, ...collateral].map((own) => ({ ref: own.ref, own })));
  const [signed] = await signTransactions(desk, row, [{ transaction: bytes, coins, policies: [] }], passphrase);
  return signed!;
}

/** Transactions with all signatures that the wallet owes them, in their order: its key is opened once for many. */
export async function signTransactions(
  desk: Desk,
  row: WalletRow,
  transactions: readonly Unsigned[],
  passphrase: string,
): Promise<Uint8Array[]> {
  const account = await readAccount(desk.store.sql, row.id);
  const policy = policyHash(row);
  const all = await Promise.all(transactions.map(async ({ transaction, ...own }) => ({
    transaction,
    signing: answered(signingOf(transaction, {
      ...own,
      account: account && { credential: account.credential, path: STAKE_PATH },
      policyKey: policy === undefined ? undefined : { hash: policy, path: policyPath() },
      keys: await keysNamed(desk, row.id, transaction),
    })),
  })));
  const wanted = all.map(({ signing: { hash, paths, byron } }) => ({
    message: fromHex(hash),
    paths: [...paths, ...byron.map(({ path }) => path)],
  }));
  const until = { deadline: Date.now() + LONGEST_MS * wanted.length };
  const signatures = answered(await desk.vault.signAll(row.id, { passphrase, wanted }, until));
  const witnesses = all.map(({ signing: { paths, byron } }, i) => ({
    keys: signatures[i]!.slice(0, paths.length),
    bootstraps: byron.map(({ address }, place) => ({ address, ...signatures[i]![paths.length + place]! })),
  }));
  // anybody can put a path of the wallet's into an address of their own
  const forged = witnesses.flatMap(({ bootstraps }) =>
    bootstraps.flatMap(({ address, key, chainCode }) => isByronKey(address, key, chainCode) ? [] : [address])
  );
  if (forged.length > 0) {
    const addresses = [...new Set(forged)];
    await disown(desk, row.id, addresses, passphrase);
    const message = `The wallet has no key of ${addresses.join(", ")}.`;
    throw refusal({ code: FORGED, message });
  }
  return all.map(({ transaction }, i) => {
    const { keys, bootstraps } = witnesses[i]!;
    return addWitnesses(transaction, {
      keys,
      bootstraps: bootstraps.map(({ address, ...signature }) => ({
        ...signature,
        attributes: byronAttributes(address),
      })),
    });
  });
}

const FORGED = "key_not_found_for_address";
/** Addresses whose keys are derived at once to find out whose they are. */
const LOOKED_AT = 500;
/** Times that something is built and signed anew without what is found to be another's. */
const TIMES = 8;

/** Builds and signs, and once more where that found out that outputs are not the wallet's: they are left out then. */
export async function signedWithout<T>(work: () => Promise<T>): Promise<T> {
  for (let time = 1;; time++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof HttpFailure) || error.code !== FORGED || time === TIMES) throw error;
    }
  }
}

/** Keeps that addresses are not the wallet's, and looks at others of its unspent outputs: who made one made more. */
async function disown(
  { store, vault }: Desk,
  id: string,
  forged: readonly string[],
  passphrase: string,
): Promise<void> {
  const known = new Set(forged);
  const others = new Map<string, Path>();
  for (const { utxo: { output }, path } of await readOwnUtxos(store.sql, id)) {
    if (!known.has(output.address) && others.size < LOOKED_AT) others.set(output.address, path);
  }
  const keys = answered(await vault.publicKeys(id, { passphrase, paths: [...others.values()] }, until()));
  const more = [...others.keys()].filter((address, i) => {
    const key = fromHex(keys[i]!);
    return !isByronKey(address, key.subarray(0, 32), key.subarray(32));
  });
  await storeForged(store.sql, id, [...forged, ...more]);
}

/** Own ones among inputs, as far as signing asks. */
function coinsIn(inputs: readonly Messaged<DecodedInput>[]): SpentCoin[] {
  return inputs.flatMap(({ ref: { txHash, index }, own }) =>
    own === undefined ? [] : [{
      utxo: { ref: { txHash, index: Number(index) }, output: { address: own.address } },
      path: own.path.map(Number),
    }]
  );
}

/** Paths of keys of the wallet's addresses that the body asks to sign. */
async function keysNamed({ store }: Desk, id: string, transaction: Uint8Array): Promise<ReadonlyMap<string, Path>> {
  const hashes = scanTransaction(transaction).requiredSigners;
  const owners = await ownersOf(store.sql, hashes.map((hash) => `key-${hash}`));
  return new Map(hashes.flatMap((hash) => {
    const own = owners.get(`key-${hash}`)?.find(({ wallet }) => wallet === id);
    return own ? [[hash, own.path] as const] : [];
  }));
}
