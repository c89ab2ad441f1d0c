/** How wallets of any kind come into the index and leave it: the effects of their actors. */
import type { Json } from "#src/base/json.ts";
import { SerialWork } from "#src/base/serialWork.ts";
import type { Point } from "#src/cardano/block.ts";
import { dismiss, enrol } from "#src/chain/index/groups.ts";
import { unlistAll } from "#src/chain/pending/submissions.ts";
import { type Event, Unfinished } from "#src/runtime/types.ts";
import type { Store } from "#src/store/store.ts";
import type { Vault } from "#src/vault/vault.ts";
import { beginWallet, isEnrolled, prepareWallet, SPARE } from "#src/wallet/index/begin.ts";
import { deleteSlices, deriveSlices } from "#src/wallet/index/slices.ts";
import {
  type DeriveCredentials,
  type DeriveHashes,
  type IndexedWallet,
  type NewWallet,
  WALLET_PROJECTION,
} from "#src/wallet/index/types.ts";

export interface WalletLifeOptions {
  readonly store: Store;
  readonly derive: DeriveCredentials;
  readonly deriveSlice: DeriveHashes;
  readonly vault: Pick<Vault, "erase">;
  /** The follower's doorbell: a wallet wants to be read, or no more. */
  readonly wake: () => void;
}

/** What a wallet's rows say for its beginning. */
export interface Begun {
  /** How often it was created. */
  readonly life: number;
  readonly birth: Point;
  readonly spec: IndexedWallet;
}

/** How an effect `begin` learns what the rows say of its wallet. */
export type SpecOf = (wallet: string) => Promise<Begun | undefined>;

/** Effect `begin` of a wallet. */
export type Beginning = (input: Json, specOf: SpecOf) => Promise<Event | Unfinished>;

/** A wallet with a greater gap is begun in slices. */
const GREAT_GAP = 500;
/** How long an attempt waits for a great wallet whose turn it is, in milliseconds: less than an attempt may last. */
const ATTEMPT_MS = 10_000;
/** Time between two attempts, in milliseconds. */
const AGAIN_MS = 500;

/**
 * Effect `begin`: derives the first pools, and enrols the wallet unless it was deleted meanwhile; does nothing for one that has come into the
 * index. Great pools take longer than an attempt may and are derived in slices, one wallet of a process after the other, so that the first one
 * is ready long before the last one.
 */
export function beginner({ store, derive, deriveSlice, wake }: WalletLifeOptions): Beginning {
  const great = new SerialWork();

  const enter = async (wallet: string, life: number, prepared: NewWallet) => {
    await store.sql.begin(async (sql) => {
      // a delete that comes now waits for this, and takes the wallet off again
      const [there] = await sql`select 1 from wallet where id = ${wallet} and life = ${life} for key share`;
      if (!there) return;
      const begun = await beginWallet(sql, { ...prepared, life }, enrol);
      if (!begun.ok) throw new Error(begun.error.message);
    });
    wake();
  };

  return async (input, specOf) => {
    const { wallet, life } = input as { wallet: string; life: number };
    const begun = { type: "BEGUN", life };
    const known = await specOf(wallet);
    if (known?.life !== life || await isEnrolled(store.sql, wallet)) return begun;
    const { spec, birth } = known;
    if (spec.kind === "random" || spec.gap <= GREAT_GAP) {
      await enter(wallet, life, await prepareWallet(spec, birth, derive));
      return begun;
    }
    const done = await great.advance(`${wallet} ${life}`, async (forgotten, pass) => {
      const there = await deriveSlices(store.sql, spec, life, spec.gap + SPARE, deriveSlice, forgotten);
      // The rows are written while the next wallet is derived.
      pass();
      if (there) await enter(wallet, life, { spec, birth, stock: { life } });
    }, ATTEMPT_MS);
    return done ? begun : new Unfinished(AGAIN_MS);
  };
}

/** Effect `end`: takes the wallet off the index, forgets what it submitted, and erases its keys. */
export async function ending({ store, vault, wake }: WalletLifeOptions, input: Json): Promise<Event> {
  const { wallet, life, attempt } = input as { wallet: string; life: number; attempt: string | null };
  await store.sql.begin(async (sql) => {
    await dismiss(sql, WALLET_PROJECTION, [wallet]);
    await deleteSlices(sql, { wallet, life });
    await unlistAll(sql, wallet);
  });
  if (attempt !== null) await vault.erase(attempt);
  wake();
  return { type: "ENDED", life };
}
