/** Reads what wallets hold and can spend, from the rows of the index. */
import { mustGet } from "#src/base/maps.ts";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { refKey } from "#src/cardano/output.ts";
import { type AssetId, lovelace, subtractValues, sumValues, type Value, ValueSum } from "#src/cardano/value.ts";
import { column, isInteger, isText, orNull } from "#src/store/column.ts";
import type { Fragment, Queries } from "#src/store/store.ts";
import type { JsonRow } from "#src/store/readTogether.ts";
import { readForged, withoutForged } from "#src/wallets/index/forged.ts";
import { readFacts, readPaid, type WalletFacts } from "#src/wallets/index/owners.ts";
import { type PendingEffects, readPending } from "#src/wallets/index/pending.ts";
import { readChange } from "#src/wallets/index/readChange.ts";
import { storedOutput } from "#src/wallets/index/stored.ts";
import { readStoredCoins, type StoredCoin } from "#src/wallets/index/storedCoins.ts";
import { type Buildable, hasByronAddresses, type Holdings, type OwnUtxo } from "#src/wallets/index/types.ts";

/** Open submissions by wallet; wallets without any may be missing. */
type PendingOf = ReadonlyMap<string, readonly ScannedTransaction[]>;

/**
 * All pending transactions that concern a wallet: `readOverlay` of the chain index. `own` are those that it submitted,
 * `paid` gives its own among the addresses of SQL with one column.
 */
export type Overlay = (
  sql: Queries,
  query: {
    readonly refs: readonly string[];
    readonly own: readonly ScannedTransaction[];
    readonly paid: (sql: Queries, addresses: Fragment) => Promise<readonly string[]>;
  },
) => Promise<readonly ScannedTransaction[]>;

/** Holdings of wallets; wallets that are not in the index are missing. */
export async function readHoldings(
  sql: Queries,
  wallets: readonly string[],
  pending: PendingOf,
): Promise<ReadonlyMap<string, Holdings>> {
  const held = heldOf(await sql`${holdingsQuery(sql, wallets)}`);
  const forged = await readForged(sql, [...held.keys()]);
  for (const [id, { value }] of forged) {
    const { lovelace, assets } = subtractValues(mustGet(held, id), value);
    held.set(id, { lovelace, assets: new Map(assets) });
  }
  const found = settledHoldings(held);
  const complete = () => {
    for (const [id, { value: unspendable }] of forged) {
      const { available, total } = mustGet(found, id);
      found.set(id, { available, total: sumValues([total, unspendable]), unspendable });
    }
    return found;
  };
  const busy = [...held.keys()].filter((id) => (pending.get(id) ?? []).length > 0);
  if (busy.length === 0) return complete();
  const open = await readPending(sql, await readFacts(sql, busy), pending);
  const leaving = await readLeaving(sql, open);
  for (const [id, { outputs }] of open) {
    const available = subtractValues(mustGet(held, id), leaving.get(id) ?? lovelace(0n));
    const total = sumValues([available, ...outputs.map(({ output }) => output.value)]);
    found.set(id, { available, total });
  }
  return complete();
}

/** SQL for the holdings of wallets in the ledger; `holdingsOf` reads its rows. */
export function holdingsQuery(sql: Queries, wallets: readonly string[]): Fragment {
  return sql`select i.wallet, h.asset, h.quantity
    from unnest(${sql.array([...wallets])}::text[]) w(id) join wallet_index i on i.wallet = w.id
    left join lateral (
      select asset, quantity from wallet_holding where wallet = w.id and to_slot is null and quantity > 0 offset 0) h on true`;
}

/** Holdings from rows of `holdingsQuery`, for wallets without pending transactions and forged addresses. */
export const holdingsOf = (rows: readonly JsonRow[]): ReadonlyMap<string, Holdings> => settledHoldings(heldOf(rows));

type Held = Map<string, Value>;

/** `numeric` is a text in a row of its own, and a number in JSON. */
const isNumeric = (value: unknown): value is string | number | bigint => isText(value) || isInteger(value);

function heldOf(rows: readonly JsonRow[]): Held {
  const held = new Map<string, { lovelace: bigint; assets: Map<AssetId, bigint> }>();
  for (const row of rows) {
    const wallet = column(row, "wallet", isText);
    const asset = column(row, "asset", orNull(isText));
    let value = held.get(wallet);
    if (!value) held.set(wallet, value = { lovelace: 0n, assets: new Map() });
    if (asset === null) continue;
    const quantity = BigInt(column(row, "quantity", isNumeric));
    if (asset === "") value.lovelace = quantity;
    else value.assets.set(asset, quantity);
  }
  return held;
}

function settledHoldings(held: Held): Map<string, Holdings> {
  return new Map([...held].map(([id, value]) => [id, { available: value, total: value }]));
}

/** SQL for the lovelace of each unspent output of a wallet in the ledger: rows with a `coin`. */
export function coinsQuery(sql: Queries, wallet: string): Fragment {
  return sql`select coin from wallet_utxo where wallet = ${wallet} and to_slot is null`;
}

/**
 * SQL for the outputs of wallets in the ledger among some (SQL with one column of `refKey`s): rows with `wallet` and
 * `ref`.
 */
export function heldAmongQuery(sql: Queries, wallets: readonly string[], refs: Fragment): Fragment {
  return sql`select u.wallet, u.ref from (${refs}) r(ref)
    cross join lateral (select wallet, ref from wallet_utxo where ref = r.ref and to_slot is null offset 0) u
    where u.wallet = any(${sql.array([...wallets])}::text[])`;
}

/** Value of the wallets' outputs in the ledger that pending transactions spend. */
async function readLeaving(
  sql: Queries,
  open: ReadonlyMap<string, PendingEffects>,
): Promise<ReadonlyMap<string, Value>> {
  const refs = [...new Set([...open.values()].flatMap(({ spends }) => [...spends]))];
  const rows = await sql<{ wallet: string; ref: string; output: Uint8Array }[]>`
    select u.wallet, u.ref, u.output from unnest(${sql.array(refs)}::text[]) r(ref)
    cross join lateral (select wallet, ref, output from wallet_utxo where ref = r.ref and to_slot is null offset 0) u
    where u.wallet = any(${sql.array([...open.keys()])})`;
  const leaving = new Map<string, ValueSum>();
  for (const { wallet, ref, output } of rows) {
    if (!mustGet(open, wallet).spends.has(ref)) continue;
    const sum = leaving.get(wallet) ?? new ValueSum();
    leaving.set(wallet, sum.add(storedOutput(output).value));
  }
  return leaving;
}

/** All assets that a wallet ever held, ascending. */
export async function readAssets(sql: Queries, wallet: string): Promise<readonly AssetId[]> {
  const rows = await sql<{ asset: string }[]>`
    select asset from wallet_holding where wallet = ${wallet} and to_slot is null and asset <> ''`;
  return rows.map(({ asset }) => asset).sort();
}

/** Outputs of a wallet that are unspent, also by pending transactions: those that it submitted and the `overlay`'s. */
export async function readOwnUtxos(
  sql: Queries,
  wallet: string,
  pending: readonly ScannedTransaction[] = [],
  overlay?: Overlay,
): Promise<readonly OwnUtxo[]> {
  const facts = await readFacts(sql, [wallet]);
  const own = facts.get(wallet);
  return own ? (await unspent(sql, own, pending, overlay)).utxos : [];
}

/** Outputs of a wallet in the ledger that no pending transaction spends, and the pending effects. */
async function unspent(
  sql: Queries,
  own: WalletFacts,
  pending: readonly ScannedTransaction[],
  overlay: Overlay | undefined,
): Promise<{ readonly utxos: StoredCoin[]; readonly open: PendingEffects | undefined }> {
  const here = await inLedger(sql, own);
  const paid = (sql: Queries, addresses: Fragment) => readPaid(sql, own, addresses);
  const concerned = await overlay?.(sql, { refs: here.map(({ key }) => key), own: pending, paid }) ?? pending;
  const all = new Map([[own.wallet, concerned]]);
  const open = (await readPending(sql, new Map([[own.wallet, own]]), all)).get(own.wallet);
  return { utxos: open ? here.filter(({ key }) => !open.spends.has(key)) : here, open };
}

async function inLedger(sql: Queries, facts: WalletFacts): Promise<StoredCoin[]> {
  const found = await readStoredCoins(sql, facts);
  return hasByronAddresses(facts.kind) ? await withoutForged(sql, facts.wallet, found) : found;
}

/** Further inputs of a build. */
interface BuildView {
  /** Open submissions of the wallet. */
  readonly pending: readonly ScannedTransaction[];
  /** Adds the pending transactions that others submitted, and removes those that no block can hold. */
  readonly overlay?: Overlay;
  /** Ends of reservations of outputs, of `refKey`s or of SQL that selects them: `readReserved` of the chain index. */
  readonly reserved: (sql: Queries, refs: readonly string[] | Fragment) => Promise<ReadonlyMap<string, number>>;
  /** Number of change addresses; `first`: the one at index 0, used or not. */
  readonly change: number | "first";
  /** Whether it is an estimate that is never signed: then a random wallet may use any change address. */
  readonly estimate?: boolean;
}

/** Spend priorities (`Coin`), beside 0 of what is in the ledger: pending, reserved by another build. */
const PENDING = 1;
const RESERVED = 2;

/** Outputs and change addresses for a build; to be read at one point of the chain (`atPoint`). */
export async function readBuildable(sql: Queries, wallet: string, view: BuildView): Promise<Buildable> {
  const facts = await readFacts(sql, [wallet]);
  const own = facts.get(wallet);
  if (!own) return { utxos: [], pending: [], change: [] };
  const [{ utxos: here, open }, reserved] = await Promise.all([
    unspent(sql, own, view.pending, view.overlay),
    view.reserved(sql, sql`select ref from wallet_utxo where wallet = ${wallet} and to_slot is null`),
  ]);
  const made = open?.outputs ?? [];
  const [reservedMade, change] = await Promise.all([
    made.length === 0 ? new Map<string, number>() : view.reserved(sql, made.map(({ ref }) => refKey(ref))),
    readChange(sql, own, open?.addresses ?? new Set(), view),
  ]);
  return {
    utxos: [
      ...reserved.size === 0 ? here : here.map((coin) => {
        const until = reserved.get(coin.key);
        return until === undefined ? coin : coin.withPreference(RESERVED + until);
      }),
      ...made.map(({ ref, output, path }) => {
        const until = reservedMade.get(refKey(ref));
        return { utxo: { ref, output }, path, preference: until === undefined ? PENDING : RESERVED + until };
      }),
    ],
    pending: open?.transactions ?? [],
    change,
  };
}

/** The wallets that some transactions concern, with the transactions; at most `most`. */
export async function readWalletsOf(
  sql: Queries,
  hashes: readonly string[],
  most: number,
): Promise<readonly { readonly wallet: string; readonly hash: string }[]> {
  return await sql<{ wallet: string; hash: string }[]>`
    select wallet, hash from wallet_transaction where hash = any(${sql.array([...hashes])}::text[]) and to_slot is null
    limit ${most}`;
}

/** The wallets that a stake credential (`ownedCredential`) belongs to; at most `most`. */
export async function readWalletsOfStake(sql: Queries, stake: string, most: number): Promise<readonly string[]> {
  const rows = await sql<{ wallet: string }[]>`
    select wallet from wallet_index where stake = ${stake} limit ${most}`;
  return rows.map(({ wallet }) => wallet);
}
