/** A devnet for tests, transactions of people on it, and the invariants of its rows. */
import { expect } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { created, type ScannedBlock, spent, type Tip } from "#src/cardano/block.ts";
import { decode, type Encodable, encode, Encoded, Tagged } from "#src/cardano/cbor.ts";
import { blake2b256, hash256 } from "#src/cardano/hash.ts";
import { publicKey, sign, type SigningKey } from "#src/cardano/keys/signingKey.ts";
import { type OutRef, readOutput, refKey, type Utxo } from "#src/cardano/output.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import { readBlocks } from "#src/devnet/blocks/rows.ts";
import { epochOf } from "#src/devnet/ledger/epoch.ts";
import { genesisOutputs, readGenesis } from "#src/devnet/genesis/genesis.ts";
import { migrationsOf } from "../infra/migrationsOf.ts";
import { readLedger } from "./devnetLedger.ts";
import { checkTree } from "./utxoRoot.ts";
import { toPlain } from "#src/devnet/ledger/plainJson.ts";
import { SIDE_INDEX } from "#src/devnet/snapshots/sideIndex.ts";
import type { LedgerState } from "#src/ledger/state.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import type { Person } from "../wallets/person.ts";

/** A store with the tables of a devnet. */
export async function devnetStore(databaseUrl: string): Promise<Store> {
  const store = openStore(databaseUrl, { max: 4 });
  await migrate(store, migrationsOf("runtime", "devnet"));
  return store;
}

/** Content of a person's transaction. */
export interface Spending {
  readonly from: Person;
  readonly inputs: readonly Utxo[];
  /** Lovelace by address (bytes in hexadecimal); the remainder is the fee. */
  readonly outputs: readonly (readonly [address: string, lovelace: bigint])[];
  readonly validFrom?: number;
  readonly validTo?: number;
  /** Deposits paid for registrations, less refunds; negative if refunds are larger. */
  readonly deposit?: bigint;
  readonly certificates?: readonly Encodable[];
  /** Lovelace by reward account (bytes in hexadecimal). */
  readonly withdrawals?: readonly (readonly [account: string, lovelace: bigint])[];
  /** Further fields of the body. */
  readonly fields?: readonly (readonly [number, Encodable])[];
  /** Additional signing keys. */
  readonly signers?: readonly SigningKey[];
}

export interface Made {
  readonly cbor: Uint8Array;
  readonly hash: string;
  /** Its outputs, before it is in a block. */
  readonly created: readonly Utxo[];
}

/** Signs a payment, with optional certificates and withdrawals. */
export function spend(spending: Spending): Made {
  const { from, inputs, outputs, validFrom, validTo, deposit = 0n, certificates, withdrawals } = spending;
  const total = inputs.reduce((sum, { output }) => sum + output.value.lovelace, 0n) - deposit +
    (withdrawals ?? []).reduce((sum, [, lovelace]) => sum + lovelace, 0n);
  const fee = total - outputs.reduce((sum, [, lovelace]) => sum + lovelace, 0n);
  const made = outputs.map(([address, lovelace]) =>
    encode(new Map<number, Encodable>([[0, fromHex(address)], [1, lovelace]]))
  );
  const fields: [number, Encodable][] = [
    [0, new Tagged(258, inputs.map(({ ref }) => [fromHex(ref.txHash), ref.index]))],
    [1, made.map((output) => new Encoded(output))],
    [2, fee],
  ];
  if (validTo !== undefined) fields.push([3, validTo]);
  if (certificates) fields.push([4, new Tagged(258, certificates)]);
  if (withdrawals) fields.push([5, new Map(withdrawals.map(([account, lovelace]) => [fromHex(account), lovelace]))]);
  if (validFrom !== undefined) fields.push([8, validFrom]);
  fields.push(...(spending.fields ?? []).map(([field, value]): [number, Encodable] => [field, value]));
  const body = encode(new Map(fields.sort(([a], [b]) => a - b)));
  const hash = hash256(body);
  const witnesses = [from.seed, ...spending.signers ?? []].map((key) => [publicKey(key), sign(key, blake2b256(body))]);
  return {
    cbor: encode([new Encoded(body), new Map([[0, new Tagged(258, witnesses)]]), true, null]),
    hash,
    created: made.map((output, index) => ({ ref: { txHash: hash, index }, output: readOutput(decode(output)) })),
  };
}

/** A document that nobody reads. */
export const ANCHOR: Encodable = ["https://example.com/document", new Uint8Array(32).fill(7)];
/** Lovelace that a proposal deposits. */
export const PROPOSAL_DEPOSIT = 100_000_000_000n;

/** Fields of a body that propose actions (in the form of the grammar); the deposit returns to a person. */
export const proposing = ({ stake }: Person, actions: readonly Encodable[]): [number, Encodable] => [
  20,
  new Tagged(258, actions.map((action) => [PROPOSAL_DEPOSIT, fromHex("e0" + stake), action, ANCHOR])),
];

/** The field of a body with the votes of a person as a representative: 0 no, 1 yes, 2 abstain. */
export const voting = (
  { stake }: Person,
  votes: readonly (readonly [action: OutRef, vote: 0 | 1 | 2])[],
): [number, Encodable] => [
  19,
  new Map([[
    [2, fromHex(stake)],
    new Map(votes.map(([{ txHash, index }, vote]) => [[fromHex(txHash), index] as Encodable, [vote, null]])),
  ]]),
];

/** Content of the rows of a devnet. */
export interface DevnetRows {
  readonly blocks: readonly ScannedBlock[];
  readonly tip: Tip;
  /** CBOR in hexadecimal by reference. */
  readonly unspent: ReadonlyMap<string, string>;
  readonly mempool: readonly string[];
}

/** Reads the rows and checks the invariants that hold after every commit. */
export async function checkRows(store: Store): Promise<DevnetRows> {
  const { sql } = store;
  await checkTree(store);
  const genesis = await readGenesis(sql);
  const { blocks: kept, tip } = await readBlocks(sql, 0, 100_000);
  const blocks = kept.map(({ bytes }) => scanBlock(bytes));
  const replayed = new Map<string, string>();
  const put = ({ ref, output }: { ref: OutRef; output: { raw: Uint8Array } }) =>
    replayed.set(refKey(ref), toHex(output.raw));
  if (genesis) genesisOutputs(genesis).forEach(put);
  blocks.forEach((block, height) => {
    expect(block.height).toBe(height);
    expect(block.hash).toBe(kept[height]!.hash);
    expect(block.previous).toBe(blocks[height - 1]?.hash);
    expect(block.slot).toBeGreaterThan(blocks[height - 1]?.slot ?? -1);
    for (const transaction of block.transactions) {
      for (const ref of spent(transaction)) expect(replayed.delete(refKey(ref))).toBe(true);
      created(transaction).forEach(put);
    }
  });
  const last = blocks.at(-1);
  expect(tip).toEqual(
    last ? { height: last.height, slot: last.slot, hash: last.hash } : { height: -1, slot: -1, hash: "" },
  );
  const rows = await sql<{ tx_hash: string; index: number; cbor: Uint8Array }[]>`
    select tx_hash, index, cbor from devnet_utxo where spent_height is null`;
  const unspent = new Map(rows.map((row) => [`${row.tx_hash}#${row.index}`, toHex(new Uint8Array(row.cbor))]));
  expect(new Map([...unspent].sort())).toEqual(new Map([...replayed].sort()));
  const hashes = await sql<{ hash: string }[]>`select hash from devnet_transaction order by hash`;
  expect(hashes.map(({ hash }) => hash)).toEqual(
    blocks.flatMap(({ transactions }) => transactions).map(({ hash }) => hash).sort(),
  );
  const mempool = (await sql<{ hash: string }[]>`select hash from devnet_mempool order by position`).map(({ hash }) =>
    hash
  );
  for (const hash of mempool) expect(hashes.some((row) => row.hash === hash)).toBe(false);
  const ledger = await readLedger(store);
  if (ledger) {
    expect(allLovelace(ledger.value)).toBe(ledger.genesis.terms.maxSupply);
    expect(ledger.value.epoch).toBe(epochOf(Math.max(0, tip.slot), ledger.genesis.terms.epochLength));
  }
  return { blocks, tip, unspent, mempool };
}

/** The snapshots in the rows by name: hash of the block, and hashes of the mempool. */
export type SnapshotRows = ReadonlyMap<string, { readonly hash: string; readonly mempool: readonly string[] }>;

/** Reads the snapshots, and checks that what each needs is there, and nothing else. */
export async function checkSnapshots({ sql }: Store): Promise<SnapshotRows> {
  const rows = await sql<{ name: string; hash: string; height: bigint; mempool: string[] | null }[]>`
    select name, s.hash, s.height, array_agg(m.hash order by position) filter (where m.hash is not null) as mempool
    from devnet_snapshot s left join devnet_snapshot_mempool m using (name) group by name, s.hash, s.height`;
  const chain = await sql<{ hash: string; height: bigint; changes: unknown; transactions: number }[]>`
    select hash, height, changes, transactions from devnet_block order by height`;
  const beside = new Map(
    (await sql<{ hash: string; previous: string | null }[]>`select hash, previous from devnet_side_block`)
      .map(({ hash, previous }) => [hash, previous ?? ""]),
  );
  const heights = new Map([["", -1], ...chain.map(({ hash, height }) => [hash, Number(height)] as const)]);
  const needed = new Set<string>();
  let lowest = Infinity;
  for (const { hash, height } of rows) {
    let at = hash;
    for (; beside.has(at); at = beside.get(at)!) needed.add(at);
    const fork = heights.get(at);
    expect(fork).toBeDefined();
    if (at === hash) expect(fork).toBe(Number(height));
    lowest = Math.min(lowest, fork!);
  }
  expect([...beside.keys()].sort()).toEqual([...needed].sort());
  for (const hash of beside.keys()) expect(heights.has(hash)).toBe(false);
  for (const table of ["devnet_side_transaction", "devnet_side_output", "devnet_side_spend", ...SIDE_INDEX]) {
    const blocks = await sql<{ block: string }[]>`select distinct block from ${sql(table)}`;
    for (const { block } of blocks) expect(beside.has(block)).toBe(true);
  }
  const indexed = await sql<{ block: string }[]>`select block from devnet_side_index where relation = 'block'`;
  expect(indexed.map(({ block }) => block).sort()).toEqual([...beside.keys()].sort());
  // what the undo of blocks after the lowest fork needs is there
  for (const { height, changes, transactions } of chain) {
    if (Number(height) > lowest && transactions > 0) expect(changes).not.toBeNull();
  }
  const [meta] = await sql<{ floor: bigint }[]>`select floor_height as floor from devnet_meta`;
  if (meta) expect(Number(meta.floor)).toBeLessThanOrEqual(lowest);
  return new Map(rows.map(({ name, hash, mempool }) => [name, { hash, mempool: mempool ?? [] }]));
}

/** The ledger state without outputs, as plain data that can be compared. */
export function ledgerOf(state: LedgerState): Record<string, unknown> {
  const { accounts, pools, dreps, committee, proposals, votes, governance, pots, epoch } = state;
  const { snapshots, blocks, ranking } = state;
  const tables = { accounts, pools, dreps, committee, proposals, votes, governance, snapshots, blocks, ranking };
  const sorted = Object.entries(tables).map(([kind, table]) => [
    kind,
    Object.fromEntries([...table.entries()].map(([key, value]) => [key, toPlain(value)] as const).sort()),
  ]);
  return { ...Object.fromEntries(sorted), pots: toPlain(pots), epoch };
}

/** The same from the rows of a devnet. */
export async function ledgerInRows(store: Store): Promise<Record<string, unknown>> {
  const read = await readLedger(store);
  return ledgerOf(read!.value);
}

/** Lovelace in all outputs, accounts and pots: the maximum supply, always. */
export function allLovelace({ utxo, accounts, pots }: LedgerState): bigint {
  let sum = pots.treasury + pots.reserves + pots.fees + pots.deposits + pots.donations;
  for (const output of utxo.outputs()) sum += output.value.lovelace;
  for (const [, { balance }] of accounts.entries()) sum += balance;
  return sum;
}

/** Certificates of a person, of Conway's kinds. */
export const certificates = {
  register: ({ stake }: Person) => [7, [0, fromHex(stake)], 2_000_000],
  unregister: ({ stake }: Person) => [8, [0, fromHex(stake)], 2_000_000],
  delegate: ({ stake }: Person, pool: string) => [2, [0, fromHex(stake)], fromHex(pool)],
  abstain: ({ stake }: Person) => [9, [0, fromHex(stake)], [2]],
  /** The person is the owner and receives the rewards. */
  pool: ({ stake }: Person, pool: string, pledge: bigint) => [
    3,
    fromHex(pool),
    blake2b256(fromHex(pool)),
    pledge,
    170_000_000,
    new Tagged(30, [1, 50]),
    fromHex("e0" + stake),
    new Tagged(258, [fromHex(stake)]),
    [],
    null,
  ],
  retire: (pool: string, epoch: number) => [4, fromHex(pool), epoch],
  /** The person's stake key becomes a representative. */
  registerDrep: ({ stake }: Person) => [16, [0, fromHex(stake)], 500_000_000, ANCHOR],
  unregisterDrep: ({ stake }: Person) => [17, [0, fromHex(stake)], 500_000_000],
  updateDrep: ({ stake }: Person) => [18, [0, fromHex(stake)], null],
  delegateVote: ({ stake }: Person, drep: Person) => [9, [0, fromHex(stake)], [0, fromHex(drep.stake)]],
} satisfies Record<string, (...of: never[]) => Encodable>;
