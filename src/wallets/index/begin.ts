/** Adds wallets to the index. `dismiss` of the chain index removes them: the indexer then erases their rows. */
import { toJson } from "#src/base/json.ts";
import { elementAt } from "#src/base/present.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { Point } from "#src/cardano/block.ts";
import type { Queries } from "#src/store/store.ts";
import { ownedCredential } from "#src/wallets/index/credential.ts";
import { addSlices, deleteSlices } from "#src/wallets/index/slices.ts";
import {
  type DeriveCredentials,
  type IndexedWallet,
  type NewWallet,
  POOL_ROLES,
  WALLET_PROJECTION,
} from "#src/wallets/index/types.ts";

/** Credentials that are derived beyond the end of a pool, so that few blocks wait for more. */
export const SPARE = 20;

/** `enrol` of the chain index. */
type Enrol = (sql: Queries, projection: string, members: readonly string[], start: Point) => Promise<string[]>;

/**
 * Derives the first pools of a wallet. It takes long for a large gap, so it runs before the transaction of
 * `beginWallet`.
 */
export async function prepareWallet(spec: IndexedWallet, start: Point, derive: DeriveCredentials): Promise<NewWallet> {
  if (spec.kind === "random") return { spec, start, stock: [] };
  const { wallet, kind, account, gap } = spec;
  const stock = await Promise.all(
    POOL_ROLES.map((role) => derive({ wallet, kind, account, role, from: 0, count: gap + SPARE })),
  );
  return { spec, start, stock };
}

/**
 * Writes the rows of a wallet's first pools and enrols it from its start point on; the indexer picks it up on its next look.
 * Idempotent. `being_erased`: rows of an earlier incarnation are still there; the caller must roll back the transaction and
 * try again soon.
 */
export async function beginWallet(
  sql: Queries,
  { spec, start, stock, incarnation }: NewWallet,
  enrol: Enrol,
): Promise<Result<null, Failure<"being_erased">>> {
  const { wallet } = spec;
  const gone = await enrol(sql, WALLET_PROJECTION, [wallet], start);
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
      ${incarnation ?? null})
    on conflict do nothing returning 1`;
  if (begun.length === 0 || spec.kind === "random") return ok(null);
  for (const role of POOL_ROLES) {
    if ("incarnation" in stock) await addSlices(sql, { wallet, incarnation: stock.incarnation }, role, spec.kind);
    else await addCredentials(sql, wallet, role, 0, elementAt(stock, role));
    await sql`insert into wallet_pool (wallet, role, size, used, from_slot) values (${wallet}, ${role}, ${spec.gap}, -1, -1)`;
  }
  if ("incarnation" in stock) await deleteSlices(sql, { wallet, incarnation: stock.incarnation });
  return ok(null);
}

/** Adds derived credentials of a role from an index on, unless they exist already or the wallet is erased. */
export async function addCredentials(
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
