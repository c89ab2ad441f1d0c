/** How a wallet comes into the index. It leaves by `dismiss` of `chain/groups.ts`: the follower erases its rows then. */
import { toJson } from "#src/base/json.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { Point } from "#src/cardano/block.ts";
import type { Queries } from "#src/store/store.ts";
import { ownedCredential } from "#src/wallet/index/credential.ts";
import { forgetSlices, stockSlices } from "#src/wallet/index/slices.ts";
import {
  type DeriveStock,
  type IndexedWallet,
  type NewWallet,
  POOL_ROLES,
  WALLET_PROJECTION,
} from "#src/wallet/index/types.ts";

/** Credentials that are derived beyond what a pool reaches over, so that few blocks have to wait for more. */
export const SPARE = 20;

/** `enrol` of `chain/groups.ts`. */
export type Enrol = (sql: Queries, projection: string, members: readonly string[], birth: Point) => Promise<string[]>;

/** Derives the first pools of a wallet; before the transaction that begins it, for with a great gap this takes a while. */
export async function prepareWallet(spec: IndexedWallet, birth: Point, derive: DeriveStock): Promise<NewWallet> {
  if (spec.kind === "random") return { spec, birth, stock: [] };
  const { wallet, kind, account, gap } = spec;
  const stock = await Promise.all(
    POOL_ROLES.map((role) => derive({ wallet, kind, account, role, from: 0, count: gap + SPARE })),
  );
  return { spec, birth, stock };
}

/**
 * Writes the rows of a wallet's first pools and has it read from its birth on; the follower takes it on its next look, at once when it
 * is woken. Done twice it changes nothing. `being_erased`: rows of an earlier life are still there, to be tried again soon; the
 * transaction is to be rolled back.
 */
export async function beginWallet(
  sql: Queries,
  { spec, birth, stock, life }: NewWallet,
  enrol: Enrol,
): Promise<Result<null, Failure<"being_erased">>> {
  const { wallet } = spec;
  const gone = await enrol(sql, WALLET_PROJECTION, [wallet], birth);
  if (gone.length > 0) return fail("being_erased", "The rows of this wallet's earlier life are still being erased.");
  const rows = spec.kind === "random" ? { gap: 0, prefix: "m", account: "null", stake: null, pathKey: spec.pathKey } : {
    gap: spec.gap,
    prefix: spec.prefix,
    account: toJson(spec.account),
    stake: spec.stake ? ownedCredential(spec.stake) : null,
    pathKey: null,
  };
  const begun =
    await sql`insert into wallet_index (wallet, kind, network, gap, prefix, account, stake, path_key, life) values
    (${wallet}, ${spec.kind}, ${spec.network}, ${rows.gap}, ${rows.prefix}, ${rows.account}, ${rows.stake}, ${rows.pathKey},
      ${life ?? null})
    on conflict do nothing returning 1`;
  if (begun.length === 0 || spec.kind === "random") return ok(null);
  for (const role of POOL_ROLES) {
    if ("life" in stock) await stockSlices(sql, { wallet, life: stock.life }, role, spec.kind);
    else await keepStock(sql, wallet, role, 0, stock[role]!);
    await sql`insert into wallet_pool (wallet, role, size, used, from_slot) values (${wallet}, ${role}, ${spec.gap}, -1, -1)`;
  }
  if ("life" in stock) await forgetSlices(sql, { wallet, life: stock.life });
  return ok(null);
}

/** Adds credentials of a role from an index on, unless the stock reaches beyond it already or the wallet is no more. */
export async function keepStock(
  sql: Queries,
  wallet: string,
  role: number,
  from: number,
  credentials: readonly string[],
): Promise<void> {
  const end = from + credentials.length;
  const grown = from === 0
    ? await sql`insert into wallet_stock (wallet, role, count) values (${wallet}, ${role}, ${end}) on conflict do nothing
        returning 1`
    : await sql`update wallet_stock set count = ${end} where wallet = ${wallet} and role = ${role} and count = ${from}
        returning 1`;
  if (grown.length === 0) return;
  await sql`insert into wallet_address (wallet, role, index, credential)
    select ${wallet}, ${role}, ${from} + n - 1, credential
    from unnest(${sql.array([...credentials])}::text[]) with ordinality as t (credential, n)`;
}
