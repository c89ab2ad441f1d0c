/** Effects of wallet actors: adding a wallet of any kind to the index, and removing it. */
import { z } from "zod";
import type { Json } from "#src/base/json.ts";
import { SerialWork } from "#src/base/serialWork.ts";
import type { Point } from "#src/cardano/block.ts";
import { dismiss, enrol, isEnrolled } from "#src/chain/index/groups.ts";
import { deleteListed } from "#src/chain/pending/submissions.ts";
import { type Event, Unfinished } from "#src/runtime/types.ts";
import type { Store } from "#src/store/store.ts";
import type { Vault } from "#src/wallets/vault/vault.ts";
import { beginWallet, prepareWallet, SPARE } from "#src/wallets/index/begin.ts";
import { deleteSlices, deriveSlices } from "#src/wallets/index/slices.ts";
import {
  type DeriveCredentials,
  type DeriveHashes,
  type IndexedWallet,
  type NewWallet,
  WALLET_PROJECTION,
} from "#src/wallets/index/types.ts";
import { lockWallet } from "#src/wallets/rows.ts";
import { clearLimit } from "#src/wallets/spending.ts";

export interface WalletLifecycleOptions {
  readonly store: Store;
  readonly derive: DeriveCredentials;
  readonly deriveSlice: DeriveHashes;
  readonly vault: Pick<Vault, "erase">;
  /** Wakes the indexer: a wallet was added or removed. */
  readonly wake: () => void;
}

/** A wallet's entry for the index, from its rows. */
export interface Begun {
  /** How often it was created. */
  readonly incarnation: number;
  /** The block after which the chain is read for it. */
  readonly start: Point;
  readonly spec: IndexedWallet;
}

/** Reads a wallet's entry; `undefined` when there is no such wallet. */
export type SpecOf = (wallet: string) => Promise<Begun | undefined>;

/** Effect `begin` of a wallet. */
export type Beginning = (input: Json, specOf: SpecOf) => Promise<Event | Unfinished>;

/** Input of the effect `begin`. */
const beginInput = z.object({ wallet: z.string(), life: z.number() });
/** Input of the effect `end`; `attempt` is the id of the wallet's key in the vault. */
const endInput = z.object({ wallet: z.string(), life: z.number(), attempt: z.string().nullable() });

/** A wallet with a greater gap is derived in slices. */
const GREAT_GAP = 500;
/** How long an attempt waits for the derivation of slices, in milliseconds: less than the timeout of an attempt. */
const ATTEMPT_MS = 10_000;
/** Time between two attempts, in milliseconds. */
const AGAIN_MS = 500;

/**
 * Effect `begin`: derives the first address pools, and adds the wallet to the index unless it was deleted meanwhile;
 * does nothing for a wallet that is in the index. Large pools take longer than an attempt may last and are derived in
 * slices, for one wallet of the process after the other, so that the first wallet is ready long before the last.
 */
export function beginner({ store, derive, deriveSlice, wake }: WalletLifecycleOptions): Beginning {
  const great = new SerialWork();

  const enter = async (wallet: string, incarnation: number, prepared: NewWallet) => {
    await store.sql.begin(async (sql) => {
      // a concurrent DELETE waits for this lock, and removes the wallet afterwards
      if (!(await lockWallet(sql, wallet, incarnation))) return;
      const begun = await beginWallet(sql, { ...prepared, incarnation }, enrol);
      if (!begun.ok) throw new Error(begun.error.message);
    });
    wake();
  };

  return async (input, specOf) => {
    const { wallet, life: incarnation } = beginInput.parse(input);
    const begun = { type: "BEGUN", life: incarnation };
    const known = await specOf(wallet);
    // its rows in the index are written in the transaction that enrols it
    if (known?.incarnation !== incarnation || await isEnrolled(store.sql, WALLET_PROJECTION, wallet)) return begun;
    const { spec, start } = known;
    if (spec.kind === "random" || spec.gap <= GREAT_GAP) {
      await enter(wallet, incarnation, await prepareWallet(spec, start, derive));
      return begun;
    }
    const done = await great.advance(`${wallet} ${incarnation}`, async (forgotten, pass) => {
      const there = await deriveSlices(store.sql, spec, incarnation, spec.gap + SPARE, deriveSlice, forgotten);
      // Its rows are written while the next wallet is derived.
      pass();
      if (there) await enter(wallet, incarnation, { spec, start, stock: { incarnation } });
    }, ATTEMPT_MS);
    return done ? begun : new Unfinished(AGAIN_MS);
  };
}

/** Effect `end`: removes the wallet from the index, its submissions from its list, its spending limit, and its keys from the vault. */
export async function ending({ store, vault, wake }: WalletLifecycleOptions, input: Json): Promise<Event> {
  const { wallet, life: incarnation, attempt } = endInput.parse(input);
  await store.sql.begin(async (sql) => {
    await dismiss(sql, WALLET_PROJECTION, [wallet]);
    await deleteSlices(sql, { wallet, incarnation });
    await deleteListed(sql, wallet);
    await clearLimit(sql, wallet);
  });
  if (attempt !== null) await vault.erase(attempt);
  wake();
  return { type: "ENDED", life: incarnation };
}
