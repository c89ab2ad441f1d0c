/** Reads the transactions of wallets. */
import { mustGet } from "#src/base/maps.ts";
import { created, type ScannedTransaction, withdrawn } from "#src/cardano/block.ts";
import { type OutRef, refKey } from "#src/cardano/output.ts";
import type { Queries } from "#src/store/store.ts";
import { ownedCredential } from "#src/wallets/index/credential.ts";
import { pathOf, readClaims, readFacts, type WalletFacts } from "#src/wallets/index/owners.ts";
import { readIncluded } from "#src/wallets/index/pending.ts";
import { storedOutput, type StoredTransaction, storedTransaction } from "#src/wallets/index/stored.ts";
import { addressesIn, walletEffect } from "#src/wallets/index/walletEffect.ts";
import type {
  HistoryCursor,
  HistoryQuery,
  KnownInput,
  PendingTransaction,
  WalletTransaction,
} from "#src/wallets/index/types.ts";

export interface HistoryPage {
  readonly transactions: readonly WalletTransaction[];
  /** `after` of the next page, where there is one. */
  readonly next?: HistoryCursor;
}

/** Stake key deposit of every public network, in lovelace, for certificates that do not state it. */
const KEY_DEPOSIT = 2_000_000n;
/** Index of pending transactions: the newest within a slot. */
const PENDING_INDEX = 2 ** 31 - 1;

/** A wallet's transactions in one order: in the ledger, pending and expired. */
export async function readHistory(
  sql: Queries,
  wallet: string,
  query: HistoryQuery,
  pending: readonly PendingTransaction[],
  keyDeposit: bigint = KEY_DEPOSIT,
): Promise<HistoryPage> {
  const limit = query.limit ?? Number.MAX_SAFE_INTEGER - 1;
  const [known, rows, waiting] = await Promise.all([
    readFacts(sql, [wallet]),
    // one more than requested shows whether there is a next page
    isWanted(query, "in_ledger") ? ledgerRows(sql, wallet, query, limit + 1) : [],
    outsideLedger(sql, wallet, pending),
  ]);
  const facts = known.get(wallet);
  if (!facts) return { transactions: [] };
  const open = (await resolvePending(sql, facts, waiting, keyDeposit)).filter((one) => matches(one, query));
  const places = [
    ...rows.map((row) => ({ place: placeOfRow(row), row })),
    ...open.map((one) => ({ place: { slot: one.slot, index: PENDING_INDEX, hash: one.hash }, one: one.transaction })),
  ].sort((a, b) => comparePlaces(a.place, b.place) * (query.order === "ascending" ? 1 : -1));
  const page = places.slice(0, limit);
  const ledger = await resolveRows(sql, facts, page.flatMap((entry) => "row" in entry ? [entry.row] : []));
  const pendingByHash = new Map(open.map(({ hash, transaction }) => [hash, transaction]));
  const transactions = page.map(({ place }) => ledger.get(place.hash) ?? mustGet(pendingByHash, place.hash));
  const last = page.at(-1);
  return { transactions, ...(places.length > limit && last ? { next: last.place } : {}) };
}

/** One transaction of a wallet; undefined where it has none with that hash. */
export async function readTransaction(
  sql: Queries,
  wallet: string,
  hash: string,
  pending: readonly PendingTransaction[],
  keyDeposit?: bigint,
): Promise<WalletTransaction | undefined> {
  return (await readTransactions(sql, wallet, [hash], pending, keyDeposit)).get(hash);
}

/** Transactions of a wallet by hash, as far as it has them; shared look-ups are made once. */
export async function readTransactions(
  sql: Queries,
  wallet: string,
  hashes: readonly string[],
  pending: readonly PendingTransaction[],
  keyDeposit: bigint = KEY_DEPOSIT,
): Promise<ReadonlyMap<string, WalletTransaction>> {
  const facts = (await readFacts(sql, [wallet])).get(wallet);
  if (!facts) return new Map();
  const rows = await sql<TransactionRow[]>`
    select ${columns(sql)} from wallet_transaction where wallet = ${wallet} and hash = any(${sql.array([...hashes])})`;
  const found = new Map(await resolveRows(sql, facts, rows));
  if (hashes.every((hash) => found.has(hash))) return found;
  const wanted = new Set(hashes);
  // one pending transaction may spend an output of another, so all are resolved together
  for (const { hash, transaction } of await resolvePending(sql, facts, pending, keyDeposit)) {
    if (wanted.has(hash) && !found.has(hash)) found.set(hash, transaction);
  }
  return found;
}

interface TransactionRow extends StoredTransaction {
  readonly height: bigint;
  readonly block_hash: string;
  readonly net: bigint;
  readonly fee: bigint | null;
  readonly deposit_taken: bigint;
  readonly deposit_returned: bigint;
  readonly from_slot: bigint;
}

/** Columns that are shown; not the addresses, of which each row has many. */
const columns = (sql: Queries) =>
  sql`hash, height, index, block_hash, era, valid, body, witnesses, auxiliary, net, fee, deposit_taken, deposit_returned, from_slot`;

function placeOfRow({ from_slot, index, hash }: TransactionRow): HistoryCursor {
  return { slot: Number(from_slot), index, hash };
}

function comparePlaces(a: HistoryCursor, b: HistoryCursor): number {
  return a.slot - b.slot || a.index - b.index || (a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : 0);
}

async function ledgerRows(sql: Queries, wallet: string, query: HistoryQuery, limit: number): Promise<TransactionRow[]> {
  const { from, to, minWithdrawal, address, direction, after } = query;
  const up = query.order === "ascending";
  const place = after && sql`(${after.slot}::bigint, ${after.index}::int, ${after.hash}::text)`;
  return await sql<TransactionRow[]>`select ${columns(sql)} from wallet_transaction where wallet = ${wallet}
    ${from === undefined ? sql`` : sql`and from_slot >= ${from}`}
    ${to === undefined ? sql`` : sql`and from_slot <= ${to}`}
    ${minWithdrawal === undefined ? sql`` : sql`and withdrawal >= ${minWithdrawal}`}
    ${address === undefined ? sql`` : sql`and addresses @> ${sql.array([address])}`}
    ${direction === undefined ? sql`` : direction === "outgoing" ? sql`and net < 0` : sql`and net >= 0`}
    ${
    place === undefined
      ? sql``
      : up
      ? sql`and (from_slot, index, hash) > ${place}`
      : sql`and (from_slot, index, hash) < ${place}`
  }
    ${up ? sql`order by from_slot, index, hash` : sql`order by from_slot desc, index desc, hash desc`} limit ${limit}`;
}

function refsOf(transaction: ScannedTransaction): OutRef[] {
  return [...transaction.inputs, ...transaction.collateral, ...transaction.references];
}

async function resolveRows(
  sql: Queries,
  facts: WalletFacts,
  rows: readonly TransactionRow[],
): Promise<ReadonlyMap<string, WalletTransaction>> {
  const stored = rows.map((row) => ({ row, transaction: storedTransaction(row) }));
  const transactions = stored.map(({ transaction }) => transaction);
  const [known, own] = await Promise.all([readKnown(sql, facts, transactions), readOwn(sql, facts, transactions)]);
  return new Map(stored.map(({ row, transaction }) => [row.hash, {
    hash: row.hash,
    status: "in_ledger",
    transaction,
    slot: Number(row.from_slot),
    height: Number(row.height),
    block: row.block_hash,
    era: row.era,
    ...side(row.net),
    ...(row.fee === null ? {} : { fee: row.fee }),
    depositTaken: row.deposit_taken,
    depositReturned: row.deposit_returned,
    known: inputsOf(transaction, known),
    own: own.get(row.hash) ?? new Map(),
  }]));
}

function side(net: bigint): Pick<WalletTransaction, "direction" | "amount"> {
  return net < 0n ? { direction: "outgoing", amount: -net } : { direction: "incoming", amount: net };
}

function inputsOf(transaction: ScannedTransaction, known: ReadonlyMap<string, KnownInput>): Map<string, KnownInput> {
  return new Map(
    refsOf(transaction).flatMap((ref) => {
      const input = known.get(refKey(ref));
      return input ? [[refKey(ref), input] as const] : [];
    }),
  );
}

/** Outputs behind the inputs of transactions: the wallet's own, and others that its own transactions made. */
async function readKnown(
  sql: Queries,
  facts: WalletFacts,
  transactions: readonly ScannedTransaction[],
): Promise<Map<string, KnownInput>> {
  const refs = new Set(transactions.flatMap(refsOf).map(refKey));
  const found = new Map<string, KnownInput>();
  if (refs.size === 0) return found;
  const rows = await sql<{ ref: string; role: bigint; index: bigint; output: Uint8Array }[]>`
    select ref, role, index, output from wallet_utxo
    where wallet = ${facts.wallet} and ref = any(${sql.array([...refs])})`;
  for (const { ref, role, index, output } of rows) {
    found.set(ref, { output: storedOutput(output), path: pathOf(facts, role, index) });
  }
  const missing = [...refs].filter((ref) => !found.has(ref));
  if (missing.length === 0) return found;
  const makers = await sql<TransactionRow[]>`
    select t.* from unnest(${sql.array([...new Set(missing.map((ref) => ref.slice(0, 64)))])}::text[]) h(made)
    cross join lateral (
      select ${columns(sql)} from wallet_transaction where wallet = ${facts.wallet} and hash = h.made) t`;
  const wanted = new Set(missing);
  for (const { ref, output } of makers.map(storedTransaction).flatMap(created)) {
    if (wanted.has(refKey(ref))) found.set(refKey(ref), { output });
  }
  return found;
}

/** Paths of the wallet's own outputs of transactions, by hash and index. */
async function readOwn(sql: Queries, facts: WalletFacts, transactions: readonly ScannedTransaction[]) {
  const own = new Map<string, Map<number, readonly number[]>>();
  const refs = transactions.flatMap(created).map(({ ref }) => refKey(ref));
  if (refs.length === 0) return own;
  const rows = await sql<{ ref: string; role: bigint; index: bigint }[]>`
    select u.* from unnest(${sql.array(refs)}::text[]) r(ref) cross join lateral (
      select ref, role, index from wallet_utxo where wallet = ${facts.wallet} and ref = r.ref limit 1) u`;
  for (const { ref, role, index } of rows) {
    const hash = ref.slice(0, 64);
    let paths = own.get(hash);
    if (!paths) own.set(hash, paths = new Map());
    paths.set(Number(ref.slice(65)), pathOf(facts, role, index));
  }
  return own;
}

/** Submissions that the index does not have in the ledger: it may be ahead of the submission service. */
async function outsideLedger(sql: Queries, wallet: string, pending: readonly PendingTransaction[]) {
  const done = await readIncluded(sql, [wallet], pending.map(({ transaction }) => transaction.hash));
  return pending.filter(({ transaction }) => !done.has(`${wallet} ${transaction.hash}`));
}

interface OpenTransaction {
  readonly hash: string;
  readonly slot: number;
  readonly withdrawal: bigint | undefined;
  readonly addresses: readonly string[];
  readonly transaction: WalletTransaction;
}

async function resolvePending(
  sql: Queries,
  facts: WalletFacts,
  pending: readonly PendingTransaction[],
  keyDeposit: bigint,
): Promise<OpenTransaction[]> {
  const transactions = pending.map(({ transaction }) => transaction);
  if (transactions.length === 0) return [];
  const made = transactions.flatMap(created);
  const [known, claims] = await Promise.all([
    readKnown(sql, facts, transactions),
    readClaims(sql, new Map([[facts.wallet, facts]]), made.map(({ output }) => output.address), "stock"),
  ]);
  const paths = mustGet(claims, facts.wallet);
  // one of them may spend an output of another
  for (const { ref, output } of made) {
    const path = paths.get(output.address);
    known.set(refKey(ref), path === undefined ? { output } : { output, path });
  }
  return pending.map(({ transaction, ...view }) =>
    openTransaction(transaction, { ...view, known, paths, facts, keyDeposit })
  );
}

function openTransaction(
  transaction: ScannedTransaction,
  view: Omit<PendingTransaction, "transaction"> & {
    readonly known: ReadonlyMap<string, KnownInput>;
    readonly paths: ReadonlyMap<string, readonly number[]>;
    readonly facts: WalletFacts;
    readonly keyDeposit: bigint;
  },
): OpenTransaction {
  const { status, failures, since, paths, facts, keyDeposit } = view;
  const known = inputsOf(transaction, view.known);
  const own = {
    inputs: new Map(
      [...known].flatMap(([ref, { output, path }]) => path === undefined ? [] : [[ref, output] as const]),
    ),
    outputs: new Map(
      created(transaction).flatMap(({ ref, output }) =>
        paths.has(output.address) ? [[ref.index, output] as const] : []
      ),
    ),
    stake: facts.stake && ownedCredential(facts.stake),
  };
  // collateral and references are known too, but are not spent
  const spends = new Set(transaction.inputs.map(refKey));
  const inputs = new Map([...own.inputs].filter(([ref]) => spends.has(ref)));
  const effect = walletEffect(transaction, { ...own, inputs }, keyDeposit);
  const amounts = [...withdrawn(transaction).values()];
  return {
    hash: transaction.hash,
    slot: since.slot,
    withdrawal: amounts.length === 0 ? undefined : amounts.reduce((a, b) => a > b ? a : b),
    addresses: addressesIn(transaction, { ...own, inputs }),
    transaction: {
      hash: transaction.hash,
      status,
      ...(failures === undefined ? {} : { failures }),
      transaction,
      slot: since.slot,
      height: since.height,
      ...side(effect.net),
      ...(effect.fee === undefined ? {} : { fee: effect.fee }),
      depositTaken: effect.depositTaken,
      depositReturned: effect.depositReturned,
      known,
      own: new Map([...own.outputs].map(([index, { address }]) => [index, mustGet(paths, address)])),
    },
  };
}

const isWanted = ({ status }: HistoryQuery, found: WalletTransaction["status"]): boolean =>
  status === undefined || status === found;

function matches(
  { hash, slot, withdrawal, addresses, transaction }: OpenTransaction,
  query: HistoryQuery,
): boolean {
  const { from, to, minWithdrawal, address, direction, after } = query;
  if (!isWanted(query, transaction.status)) return false;
  if (direction !== undefined && transaction.direction !== direction) return false;
  if (from !== undefined && slot < from) return false;
  if (to !== undefined && slot > to) return false;
  if (minWithdrawal !== undefined && (withdrawal === undefined || withdrawal < minWithdrawal)) return false;
  if (address !== undefined && !addresses.includes(address)) return false;
  if (!after) return true;
  const order = comparePlaces({ slot, index: PENDING_INDEX, hash }, after);
  return query.order === "ascending" ? order > 0 : order < 0;
}
