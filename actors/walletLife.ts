/** How wallets of any kind come into the index and leave it: the effects of their actors. */
import type { Json } from "#src/base/json.ts";
import type { Point } from "#src/cardano/block.ts";
import { dismiss, enrol } from "#src/chain/groups.ts";
import { unlistAll } from "#src/chain/submissions.ts";
import type { Event } from "#src/runtime/types.ts";
import type { Store } from "#src/store/store.ts";
import type { Vault } from "#src/vault/vault.ts";
import { beginWallet, hasBegun, prepareWallet } from "#src/wallet/index/begin.ts";
import { type DeriveStock, type IndexedWallet, WALLET_PROJECTION } from "#src/wallet/index/types.ts";

export interface WalletLifeOptions {
  readonly store: Store;
  readonly derive: DeriveStock;
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

/**
 * Effect `begin`: derives the first pools, and enrols the wallet unless it was deleted meanwhile. Great pools can take longer than an
 * attempt may: the next one waits for what the last one began, and does nothing for a wallet that has come into the index.
 */
export function beginner({ store, derive, wake }: WalletLifeOptions): (input: Json, specOf: SpecOf) => Promise<Event> {
  const running = new Map<string, Promise<void>>();

  const begin = async (wallet: string, life: number, specOf: SpecOf) => {
    const known = await specOf(wallet);
    if (known?.life !== life || await hasBegun(store.sql, wallet)) return;
    const prepared = await prepareWallet(known.spec, known.birth, derive);
    await store.sql.begin(async (sql) => {
      // a delete that comes now waits for this, and takes the wallet off again
      const [there] = await sql`select 1 from wallet where id = ${wallet} and life = ${life} for key share`;
      if (!there) return;
      const begun = await beginWallet(sql, prepared, enrol);
      if (!begun.ok) throw new Error(begun.error.message);
    });
    wake();
  };

  return async (input, specOf) => {
    const { wallet, life } = input as { wallet: string; life: number };
    const key = `${wallet} ${life}`;
    const known = running.get(key);
    const one = known ?? begin(wallet, life, specOf).finally(() => running.delete(key));
    if (!known) running.set(key, one);
    await one;
    return { type: "BEGUN", life };
  };
}

/** Effect `end`: takes the wallet off the index, forgets what it submitted, and erases its keys. */
export async function ending({ store, vault, wake }: WalletLifeOptions, input: Json): Promise<Event> {
  const { wallet, life, attempt } = input as { wallet: string; life: number; attempt: string | null };
  await store.sql.begin(async (sql) => {
    await dismiss(sql, WALLET_PROJECTION, [wallet]);
    await unlistAll(sql, wallet);
  });
  if (attempt !== null) await vault.erase(attempt);
  wake();
  return { type: "ENDED", life };
}
