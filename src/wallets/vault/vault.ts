/**
 * The vault: encrypted root keys. No other module reads their table.
 *
 * A key is written before the wallet's create command, under the id of the attempt. The turn that creates the wallet
 * adopts it by a row in `vault_adoption`. Keys that are not adopted are deleted later. Secrets go from the edge to a
 * local thread, and nowhere else.
 */
import { randomUUID } from "node:crypto";
import { toHex } from "#src/base/bytes.ts";
import { onlyOf } from "#src/base/present.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { Builders } from "#src/wallets/builds/jobs.ts";
import type { ThreadFailure } from "#src/threads/jobs.ts";
import type { Queries, Store } from "#src/store/store.ts";
import {
  countRight,
  countWrong,
  deleteKey,
  deleteStray,
  insertKey,
  keyOf,
  type KeyRow,
  replaceSeal,
  sealsOf,
} from "#src/wallets/vault/rows.ts";
import type {
  KeySignature,
  Mnemonic,
  MnemonicKeysInput,
  MnemonicSignInput,
  OpenRootInput,
  Path,
  SealedKey,
  SealMethod,
  ToSign,
  UnsealInput,
  WalletStyle,
  Xpub,
} from "#src/cardano/keys/types.ts";

/**
 * `no_root_key`: the wallet has only public keys. `wrong_encryption_passphrase`: the passphrase is wrong.
 * `too_many_wrong_passphrases`: no passphrase is tried for `retry_after` seconds.
 */
export type UnsealFailure =
  | Failure<"no_root_key" | "wrong_encryption_passphrase" | "too_many_wrong_passphrases">
  | ThreadFailure;

/** Public state of a wallet's root key. */
export interface KeyState {
  readonly method: SealMethod;
  /** When the passphrase was set, in ms since 1970. */
  readonly updatedAt: number;
}

/** A seal that was replaced. */
export interface SealChange extends KeyState {
  /** The attempt that put the key into the vault. */
  readonly attempt: string;
}

/** Records a change for other modules, in its transaction: both are committed, or neither. */
export type RecordSealChange = (sql: Queries, change: SealChange) => Promise<void>;

/** A key in the vault that is not adopted yet. */
export interface PutKey {
  /** Goes into the create command, and from there into `vault_adoption`. */
  readonly attempt: string;
  readonly root: Xpub;
  /** Public keys in the order of the requested paths. */
  readonly keys: readonly Xpub[];
  /** Undefined where the passphrase is empty, as that of a key from an old wallet may be. */
  readonly state: KeyState | undefined;
}

/** The caller's deadline. */
export interface Deadline {
  /** Ms since 1970. */
  readonly deadline: number;
}

export interface Vault {
  /**
   * Derives the root key of a mnemonic, seals it and writes it. Where the wallet is then refused, the caller erases it.
   */
  put(input: OpenRootInput, until: Deadline): Promise<Result<PutKey, Failure<"bad_mnemonic"> | ThreadFailure>>;
  /** Writes a key that another wallet sealed: an encrypted XPrv, which nothing but its passphrase can open. */
  putSealed(
    input: { readonly style: WalletStyle; readonly sealed: SealedKey },
    until: Deadline,
  ): Promise<Result<PutKey, ThreadFailure>>;
  /** Signs a message with keys at paths of a wallet's root, one signature per path. */
  sign(
    wallet: string,
    input: { readonly passphrase: string } & ToSign,
    until: Deadline,
  ): Promise<Result<readonly KeySignature[], UnsealFailure>>;
  /** Signs several messages as `sign` does; the key is opened once per `SIGNATURES_PER_JOB` signatures. */
  signAll(
    wallet: string,
    input: { readonly passphrase: string; readonly wanted: readonly ToSign[] },
    until: Deadline,
  ): Promise<Result<readonly (readonly KeySignature[])[], UnsealFailure>>;
  /** Public keys at paths of a wallet's root. */
  publicKeys(
    wallet: string,
    input: { readonly passphrase: string; readonly paths: readonly Path[] },
    until: Deadline,
  ): Promise<Result<readonly Xpub[], UnsealFailure>>;
  /** Public keys at paths of a mnemonic that belongs to no wallet here; nothing of it is kept. */
  mnemonicKeys(
    input: MnemonicKeysInput,
    until: Deadline,
  ): Promise<Result<readonly Xpub[], Failure<"bad_mnemonic"> | ThreadFailure>>;
  /** Signs a message with keys of such a mnemonic, one signature per path. */
  signWithMnemonic(
    input: MnemonicSignInput,
    until: Deadline,
  ): Promise<Result<readonly KeySignature[], Failure<"bad_mnemonic"> | ThreadFailure>>;
  /** Whether this is the passphrase of the wallet. */
  verify(wallet: string, passphrase: string, until: Deadline): Promise<Result<null, UnsealFailure>>;
  /** Replaces the passphrase. Of two concurrent changes one fails with `wrong_encryption_passphrase`. */
  changePassphrase(
    wallet: string,
    input: { readonly old: string; readonly next: string; readonly record: RecordSealChange },
    until: Deadline,
  ): Promise<Result<SealChange, UnsealFailure>>;
  /** Sets a passphrase with the mnemonic of the wallet; `wrong_mnemonic` for another one. */
  resetPassphrase(
    wallet: string,
    input: { readonly mnemonic: Omit<Mnemonic, "style">; readonly next: string; readonly record: RecordSealChange },
    until: Deadline,
  ): Promise<Result<SealChange, Failure<"no_root_key" | "wrong_mnemonic" | "bad_mnemonic"> | ThreadFailure>>;
  /** State of wallets' root keys; wallets without one are missing. */
  states(wallets: readonly string[]): Promise<ReadonlyMap<string, KeyState>>;
  /** Erases the key of an attempt, after the deleting turn has removed its adoption. Idempotent. */
  erase(attempt: string): Promise<void>;
  /** Erases the keys that were not adopted within an hour; gives their number. */
  sweep(): Promise<number>;
}

/** No command takes so long. */
const STRAY_MS = 3_600_000;
/**
 * Signatures of one job: about 200 ms, so that other jobs get their turn and opening the key costs little in
 * comparison.
 */
const SIGNATURES_PER_JOB = 128;

/** Creates the vault. `strayMs`: ms that a key may wait for its adoption, an hour by default. */
export function createVault(
  { store, builders, strayMs = STRAY_MS }: { store: Store; builders: Pick<Builders, "run">; strayMs?: number },
): Vault {
  const { sql } = store;

  const signAll: Vault["signAll"] = (wallet, { passphrase, wanted }, until) =>
    withRootKey(sql, wallet, passphrase, async (opens) => {
      const signatures: (readonly KeySignature[])[] = [];
      for (const some of jobsOf(wanted)) {
        const signed = await builders.run("signMessages", { ...opens, wanted: some }, until);
        if (!signed.ok) return signed;
        signatures.push(...signed.value);
      }
      return ok(signatures);
    });

  const publicKeys: Vault["publicKeys"] = (wallet, { passphrase, paths }, until) =>
    withRootKey(sql, wallet, passphrase, (opens) => builders.run("publicKeys", { ...opens, paths }, until));

  return {
    async put(input, until) {
      const made = await builders.run("openRoot", input, until);
      if (!made.ok) return made;
      const { sealed, root, keys } = made.value;
      const attempt = randomUUID();
      const updatedAt = await insertKey(sql, { attempt, style: input.mnemonic.style, root, sealed });
      return ok({ attempt, root, keys, state: { method: sealed.method, updatedAt } });
    },
    async putSealed({ style, sealed }, until) {
      const opened = await builders.run("publicKeys", { style, sealed, passphrase: "", paths: [] }, until);
      if (!opened.ok && opened.error.code !== "wrong_encryption_passphrase") {
        return { ok: false, error: opened.error };
      }
      const [attempt, root] = [randomUUID(), toHex(sealed.key.subarray(64))];
      const updatedAt = await insertKey(sql, { attempt, style, root, sealed });
      return ok({ attempt, root, keys: [], state: opened.ok ? undefined : { method: sealed.method, updatedAt } });
    },
    async sign(wallet, { passphrase, ...one }, until) {
      const signed = await signAll(wallet, { passphrase, wanted: [one] }, until);
      return signed.ok ? ok(onlyOf(signed.value)) : signed;
    },
    signAll,
    publicKeys,
    mnemonicKeys: (input, until) => builders.run("mnemonicKeys", input, until),
    signWithMnemonic: (input, until) => builders.run("signWithMnemonic", input, until),
    async verify(wallet, passphrase, until) {
      const known = await publicKeys(wallet, { passphrase, paths: [] }, until);
      return known.ok ? ok(null) : known;
    },
    async changePassphrase(wallet, { old, next, record }, until) {
      const resealed = await withRootKey(sql, wallet, old, async (opens, row) => {
        const made = await builders.run("reseal", { ...opens, next }, until);
        return made.ok ? ok({ row, sealed: made.value }) : made;
      });
      if (!resealed.ok) return resealed;
      const { row, sealed } = resealed.value;
      const changed = await replaceRecorded(store, wallet, row, { next: sealed, old: row.sealed, record });
      if (changed !== undefined) return ok(changed);
      return await keyOf(sql, wallet) === undefined ? noRootKey(wallet) : wrongPassphrase(wallet);
    },
    async resetPassphrase(wallet, { mnemonic, next, record }, until) {
      const row = await keyOf(sql, wallet);
      if (!row) return noRootKey(wallet);
      const input = { mnemonic: { ...mnemonic, style: row.style }, passphrase: next, paths: [] };
      const made = await builders.run("openRoot", input, until);
      if (!made.ok) return made;
      if (made.value.root !== row.root) {
        return fail(
          "wrong_mnemonic",
          `The given mnemonic doesn't match the one this wallet was created with : ${wallet}`,
          { wallet_id: wallet },
        );
      }
      const changed = await replaceRecorded(store, wallet, row, { next: made.value.sealed, record });
      return changed === undefined ? noRootKey(wallet) : ok(changed);
    },
    async states(wallets) {
      const rows = await sealsOf(sql, wallets);
      return new Map(rows.map(({ wallet, method, at }) => [wallet, { method, updatedAt: at.getTime() }]));
    },
    erase: (attempt) => deleteKey(sql, attempt),
    sweep: () => deleteStray(sql, strayMs),
  };
}

/**
 * Runs a job that opens a wallet's key. A passphrase is counted after it was tried: of many concurrent attempts,
 * those after the last free one fail with `too_many_wrong_passphrases` whether they were right or wrong.
 */
async function withRootKey<T>(
  sql: Queries,
  wallet: string,
  passphrase: string,
  job: (
    opens: UnsealInput,
    row: KeyRow,
  ) => Promise<Result<T, Failure<"wrong_encryption_passphrase"> | ThreadFailure>>,
): Promise<Result<T, UnsealFailure>> {
  const row = await keyOf(sql, wallet);
  if (!row) return noRootKey(wallet);
  if (row.closed > 0) return tooManyWrong(wallet, row.closed);
  const done = await job({ style: row.style, sealed: row.sealed, passphrase }, row);
  if (!done.ok && done.error.code !== "wrong_encryption_passphrase") return done;
  const closed = await (done.ok ? countRight : countWrong)(sql, row.attempt);
  if (closed > 0) return tooManyWrong(wallet, closed);
  return done.ok ? done : wrongPassphrase(wallet);
}

/**
 * Replaces a seal and records the change, in one transaction; `undefined` where the wallet's key has changed meanwhile.
 */
async function replaceRecorded(
  store: Store,
  wallet: string,
  { attempt }: KeyRow,
  { next, old, record }: { readonly next: SealedKey; readonly old?: SealedKey; readonly record: RecordSealChange },
): Promise<SealChange | undefined> {
  return await store.sql.begin(async (sql) => {
    const updatedAt = await replaceSeal(sql, { wallet, attempt }, next, old);
    if (updatedAt === undefined) return undefined;
    const change = { attempt, method: next.method, updatedAt };
    await record(sql, change);
    return change;
  });
}

/** Messages in order, grouped into jobs of at most `SIGNATURES_PER_JOB` signatures; a larger message is alone. */
function jobsOf(wanted: readonly ToSign[]): ToSign[][] {
  const all: ToSign[][] = [];
  let job: ToSign[] = [];
  let left = 0;
  for (const one of wanted) {
    if (all.length === 0 || one.paths.length > left) {
      all.push(job = []);
      left = SIGNATURES_PER_JOB;
    }
    job.push(one);
    left -= one.paths.length;
  }
  return all;
}

function noRootKey(wallet: string) {
  return fail(
    "no_root_key",
    `I couldn't find a root private key for the given wallet: ${wallet}. However, this operation requires that I do have such a key. ` +
      "Either there's no such wallet, or I don't fully own it.",
    { wallet_id: wallet },
  );
}

function tooManyWrong(wallet: string, seconds: number) {
  return fail(
    "too_many_wrong_passphrases",
    `Too many wrong passphrases for the wallet ${wallet}; try again in ${seconds} s.`,
    { wallet_id: wallet, retry_after: seconds },
  );
}

function wrongPassphrase(wallet: string) {
  const message =
    `The given encryption passphrase doesn't match the one I use to encrypt the root private key of the given wallet: ${wallet}`;
  return fail("wrong_encryption_passphrase", message, { wallet_id: wallet });
}
