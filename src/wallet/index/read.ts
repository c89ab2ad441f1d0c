/** What wallets hold and what they can spend, out of the rows that the follower wrote. */
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { parseRefKey, refKey } from "#src/cardano/output.ts";
import { type AssetId, lovelace, subtractValues, sumValues, type Value, ValueSum } from "#src/cardano/value.ts";
import type { Fragment, Queries } from "#src/store/store.ts";
import type { JsonRow } from "#src/store/readTogether.ts";
import { readForged, withoutForged } from "#src/wallet/index/forged.ts";
import { pathOf, readFacts, type WalletFacts } from "#src/wallet/index/owners.ts";
import { type Pending, readPending } from "#src/wallet/index/pending.ts";
import { readChange } from "#src/wallet/index/readChange.ts";
import { storedOutput } from "#src/wallet/index/stored.ts";
import type { Buildable, Holdings, OwnUtxo } from "#src/wallet/index/types.ts";

/** Open submissions of each wallet, as whoever submits keeps them; wallets without any may be missing. */
export type PendingOf = ReadonlyMap<string, readonly ScannedTransaction[]>;

/** Open submissions of others that spend some outputs (`refKey`): `readSpenders` of `chain/available.ts`. */
export type Spenders = (
  sql: Queries,
  refs: readonly string[],
  known: readonly ScannedTransaction[],
) => Promise<readonly ScannedTransaction[]>;

/** What some wallets hold, all in one read; wallets that the index does not know are missing. */
export async function readHoldings(
  sql: Queries,
  wallets: readonly string[],
  pending: PendingOf,
): Promise<ReadonlyMap<string, Holdings>> {
  const held = heldOf(await sql`${holdingsQuery(sql, wallets)}`);
  for (const [id, { value }] of await readForged(sql, [...held.keys()])) {
    const { lovelace, assets } = subtractValues(held.get(id)!, value);
    held.set(id, { lovelace, assets: new Map(assets) });
  }
  const found = settledHoldings(held);
  const busy = [...held.keys()].filter((id) => (pending.get(id) ?? []).length > 0);
  if (busy.length === 0) return found;
  const open = await readPending(sql, await readFacts(sql, busy), pending);
  const leaving = await readLeaving(sql, open);
  for (const [id, { coming }] of open) {
    const available = subtractValues(held.get(id)!, leaving.get(id) ?? lovelace(0n));
    const total = sumValues([available, ...coming.map(({ output }) => output.value)]);
    found.set(id, { available, total });
  }
  return found;
}

/** A row where some wallets are of the first era: not all that their rows say is so. To be read together with other things. */
export function randomQuery(sql: Queries, wallets: readonly string[]): Fragment {
  return sql`select 1 as random from unnest(${sql.array([...wallets])}::text[]) w(id)
    where (select kind from wallet_index where wallet = w.id) = 'random' limit 1`;
}

/** What wallets hold in the ledger, to be read together with other things; `holdingsOf` reads the rows. */
export function holdingsQuery(sql: Queries, wallets: readonly string[]): Fragment {
  return sql`select i.wallet, h.asset, h.quantity
    from unnest(${sql.array([...wallets])}::text[]) w(id) join wallet_index i on i.wallet = w.id
    left join lateral (
      select asset, quantity from wallet_holding where wallet = w.id and to_slot is null and quantity > 0 offset 0) h on true`;
}

/** Holdings of wallets that list nothing and are not of the first era, of rows of `holdingsQuery`. */
export const holdingsOf = (rows: readonly JsonRow[]): ReadonlyMap<string, Holdings> => settledHoldings(heldOf(rows));

type Held = Map<string, Value>;

function heldOf(rows: readonly JsonRow[]): Held {
  const held = new Map<string, { lovelace: bigint; assets: Map<AssetId, bigint> }>();
  for (const row of rows) {
    const { wallet, asset, quantity } = row as {
      wallet: string;
      asset: string | null;
      quantity: string | number | bigint;
    };
    let value = held.get(wallet);
    if (!value) held.set(wallet, value = { lovelace: 0n, assets: new Map() });
    if (asset === "") value.lovelace = BigInt(quantity);
    else if (asset !== null) value.assets.set(asset, BigInt(quantity));
  }
  return held;
}

function settledHoldings(held: Held): Map<string, Holdings> {
  return new Map([...held].map(([id, value]) => [id, { available: value, total: value }]));
}

/** Lovelace of each unspent output of a wallet in the ledger, to be read together with other things: rows with a `coin`. */
export function coinsQuery(sql: Queries, wallet: string): Fragment {
  return sql`select coin from wallet_utxo where wallet = ${wallet} and to_slot is null`;
}

/** What of the wallets' outputs in the ledger pending transactions spend. */
async function readLeaving(sql: Queries, open: ReadonlyMap<string, Pending>): Promise<ReadonlyMap<string, Value>> {
  const refs = [...new Set([...open.values()].flatMap(({ gone }) => [...gone]))];
  const rows = await sql<{ wallet: string; ref: string; output: Uint8Array }[]>`
    select u.wallet, u.ref, u.output from unnest(${sql.array(refs)}::text[]) r(ref)
    cross join lateral (select wallet, ref, output from wallet_utxo where ref = r.ref and to_slot is null offset 0) u
    where u.wallet = any(${sql.array([...open.keys()])})`;
  const leaving = new Map<string, ValueSum>();
  for (const { wallet, ref, output } of rows) {
    if (!open.get(wallet)!.gone.has(ref)) continue;
    const sum = leaving.get(wallet) ?? new ValueSum();
    leaving.set(wallet, sum.add(storedOutput(output).value));
  }
  return leaving;
}

/** All assets that a wallet ever held, in their order as texts. */
export async function readAssets(sql: Queries, wallet: string): Promise<readonly AssetId[]> {
  const rows = await sql<{ asset: string }[]>`
    select asset from wallet_holding where wallet = ${wallet} and to_slot is null and asset <> ''`;
  return rows.map(({ asset }) => asset).sort();
}

/** Outputs of a wallet that neither a transaction in the ledger nor a pending one, its own or one of the `spenders`, has spent. */
export async function readOwnUtxos(
  sql: Queries,
  wallet: string,
  pending: readonly ScannedTransaction[] = [],
  spenders?: Spenders,
): Promise<readonly OwnUtxo[]> {
  const facts = await readFacts(sql, [wallet]);
  const own = facts.get(wallet);
  return own ? (await unspent(sql, own, pending, spenders)).utxos : [];
}

/** Outputs of a wallet in the ledger that nothing pending spends, and what is pending. */
async function unspent(
  sql: Queries,
  own: WalletFacts,
  pending: readonly ScannedTransaction[],
  spenders: Spenders | undefined,
): Promise<{ readonly utxos: OwnUtxo[]; readonly open: Pending | undefined }> {
  const here = await inLedger(sql, own);
  const others = await spenders?.(sql, here.map(({ utxo }) => refKey(utxo.ref)), pending) ?? [];
  const all = new Map([[own.wallet, [...pending, ...others]]]);
  const open = (await readPending(sql, new Map([[own.wallet, own]]), all)).get(own.wallet);
  return { utxos: here.filter(({ utxo }) => !open?.gone.has(refKey(utxo.ref))), open };
}

async function inLedger(sql: Queries, facts: WalletFacts): Promise<OwnUtxo[]> {
  const rows = await sql<{ ref: string; role: bigint; index: bigint; output: Uint8Array }[]>`
    select ref, role, index, output from wallet_utxo where wallet = ${facts.wallet} and to_slot is null`;
  const found = rows.map(({ ref, role, index, output }) => ({
    utxo: { ref: parseRefKey(ref), output: storedOutput(output) },
    path: pathOf(facts, role, index),
  }));
  return facts.kind === "random" ? await withoutForged(sql, facts.wallet, found) : found;
}

/** What else a build looks at. */
export interface BuildView {
  /** Open submissions of the wallet. */
  readonly pending: readonly ScannedTransaction[];
  /** Those of others that spend what is the wallet's. */
  readonly spenders?: Spenders;
  /** Up to when some outputs (`refKey`) are reserved: `readReserved` of `chain/available.ts`. */
  readonly reserved: (sql: Queries, refs: readonly string[]) => Promise<ReadonlyMap<string, number>>;
  /** Change addresses that are wanted; `first`: the one at index 0, used or not. */
  readonly change: number | "first";
  /** Whether nothing of what is built will be signed: then change may go where a random wallet cannot be sure of. */
  readonly estimate?: boolean;
}

/** Preferences of `chain/available.ts`: an output in the ledger, one of a pending transaction, one that was offered to somebody. */
const FREE = 0;
const COMING = 1;
const OFFERED = 2;

/** What a transaction of a wallet is built from; to be read at one point (`atPoint` of `chain/available.ts`). */
export async function readBuildable(sql: Queries, wallet: string, view: BuildView): Promise<Buildable> {
  const facts = await readFacts(sql, [wallet]);
  const own = facts.get(wallet);
  if (!own) return { utxos: [], change: [] };
  const { utxos: here, open } = await unspent(sql, own, view.pending, view.spenders);
  const utxos = [
    ...here.map((one) => ({ ...one, preference: FREE })),
    ...(open?.coming ?? []).map(({ ref, output, path }) => ({ utxo: { ref, output }, path, preference: COMING })),
  ];
  const reserved = await view.reserved(sql, utxos.map(({ utxo }) => refKey(utxo.ref)));
  return {
    utxos: utxos.map((one) => {
      const until = reserved.get(refKey(one.utxo.ref));
      return until === undefined ? one : { ...one, preference: OFFERED + until };
    }),
    change: await readChange(sql, own, open?.addresses ?? new Set(), view),
  };
}
