/**
 * A small projection whose entities are restored from the chain: a pocket has a row of addresses, of which it watches
 * those up to `GAP` beyond the last used one, and it holds the outputs at them.
 */
import { toHex, utf8 } from "#src/base/bytes.ts";
import { created, type Point, type ScannedBlock, spent } from "#src/cardano/block.ts";
import { sha256 } from "@noble/hashes/sha2.js";
import { refKey } from "#src/cardano/output.ts";
import { type Projection, type Row, type RowQuery, type RowWrite, unanswered } from "#src/chain/index/projection.ts";
import { enrol } from "#src/chain/index/groups.ts";
import type { Queries } from "#src/store/store.ts";

export const GAP = 2;

export const pocketTables = `
  create table pocket_address (
    pocket text not null, address text not null, place int not null, from_slot bigint not null, to_slot bigint,
    primary key (pocket, address));
  create index on pocket_address (address);
  create index on pocket_address (from_slot);
  create table pocket_output (
    pocket text not null, ref text not null, address text not null, lovelace bigint not null, from_slot bigint not null,
    to_slot bigint, primary key (pocket, ref));
  create index on pocket_output (ref);
  create index on pocket_output (from_slot);`;

/**
 * Address (bytes in hexadecimal) of a pocket at an index. Pockets whose names have the same prefix before a colon share
 * addresses.
 */
export function pocketAddress(pocket: string, place: number): string {
  return `60${toHex(sha256(utf8(`${pocket.split(":")[0]} ${place}`)).slice(0, 28))}`;
}

const addressRow = (pocket: string, place: number) => ({ pocket, address: pocketAddress(pocket, place), place });

/** Requests that a pocket is read from its start block. */
export async function beginPocket(sql: Queries, pocket: string, birth: Point): Promise<void> {
  const [gone] = await enrol(sql, "pockets", [pocket], birth);
  if (gone) throw new Error(`${gone} is still being erased`);
  for (let place = 0; place < GAP; place++) {
    const { address } = addressRow(pocket, place);
    await sql`insert into pocket_address values (${pocket}, ${address}, ${place}, -1, null)`;
  }
}

const outputsOf = (block: ScannedBlock) => block.transactions.flatMap(created);
const byAddress = (block: ScannedBlock): RowQuery => ({
  table: "pocket_address",
  column: "address",
  in: [...new Set(outputsOf(block).map(({ output }) => output.address))],
});

export const pocketProjection: Projection = {
  name: "pockets",
  tables: ["pocket_address", "pocket_output"],
  members: {
    column: "pocket",
    tables: ["pocket_address", "pocket_output"],
    joined: (members, at) =>
      members.map((id) => ({ entity: { kind: "pocket", id }, event: { type: "JOINED", slot: at.slot } })),
  },
  keys: (block) => [
    byAddress(block),
    { table: "pocket_output", column: "ref", in: block.transactions.flatMap((one) => spent(one).map(refKey)) },
  ],
  fold(block, rows) {
    const touched = (rows.get("pocket_address") ?? []).map((row) => row.pocket as string);
    const whole: RowQuery = { table: "pocket_address", column: "pocket", in: [...new Set(touched)].sort() };
    if (whole.in.length > 0 && unanswered(rows, [whole]).length > 0) return { type: "more", queries: [whole] };
    const paid = new Set(outputsOf(block).map(({ output }) => output.address));
    const writes: RowWrite[] = [];
    const owners = new Map<string, string[]>();
    const size = new Map<string, number>();
    const watch = ({ pocket, address }: Row) =>
      owners.set(address as string, [...(owners.get(address as string) ?? []), pocket as string]);
    for (const row of rows.get("pocket_address") ?? []) {
      watch(row);
      size.set(row.pocket as string, (size.get(row.pocket as string) ?? 0) + 1);
    }
    for (const pocket of new Set(touched)) {
      // this very block may pay to an address found now
      for (let place = 0; place < size.get(pocket)!; place++) {
        if (!paid.has(pocketAddress(pocket, place))) continue;
        for (let next = size.get(pocket)!; next <= place + GAP; next++) {
          const row = addressRow(pocket, next);
          watch(row);
          size.set(pocket, next + 1);
          writes.push({ type: "insert", table: "pocket_address", row });
        }
      }
    }
    const live = new Map<string, string[]>();
    for (const { ref, pocket } of rows.get("pocket_output") ?? []) {
      live.set(ref as string, [...(live.get(ref as string) ?? []), pocket as string]);
    }
    const fresh = new Map<string, Record<string, unknown>[]>();
    for (const transaction of block.transactions) {
      for (const ref of spent(transaction).map(refKey)) {
        for (const row of fresh.get(ref) ?? []) row.to_slot = block.slot;
        for (const pocket of live.get(ref) ?? []) {
          writes.push({ type: "close", table: "pocket_output", key: { pocket, ref } });
        }
      }
      for (const { ref, output } of created(transaction)) {
        const { address, value: { lovelace } } = output;
        fresh.set(
          refKey(ref),
          (owners.get(address) ?? []).map((pocket) => ({ pocket, ref: refKey(ref), address, lovelace, to_slot: null })),
        );
      }
    }
    for (const row of [...fresh.values()].flat()) writes.push({ type: "insert", table: "pocket_output", row });
    return {
      type: "done",
      writes,
      touched: [...new Set(touched)].map((id) => ({
        entity: { kind: "pocket", id },
        event: { type: "MOVED", slot: block.slot },
      })),
    };
  },
  undo: () => [],
};

/** Unspent outputs of a pocket, according to the index. */
export async function readPocket(sql: Queries, pocket: string): Promise<string[]> {
  const rows = await sql<{ ref: string }[]>`
    select ref from pocket_output where pocket = ${pocket} and to_slot is null order by ref`;
  return rows.map(({ ref }) => ref);
}

const placesOf = new Map<string, ReadonlyMap<string, number>>();

/** Indices of a pocket's addresses, far more than are used. */
function places(pocket: string): ReadonlyMap<string, number> {
  const name = pocket.split(":")[0]!;
  let found = placesOf.get(name);
  if (!found) {
    found = new Map(Array.from({ length: 1_000 }, (_, place) => [pocketAddress(name, place), place]));
    placesOf.set(name, found);
  }
  return found;
}

/** Unspent outputs of a pocket, according to the blocks, and how many of its addresses they use. */
export function replayPocket(pocket: string, blocks: readonly ScannedBlock[]): { refs: string[]; used: number } {
  const own = places(pocket);
  const live = new Set<string>();
  let used = 0;
  for (const transaction of blocks.flatMap(({ transactions }) => transactions)) {
    for (const ref of spent(transaction)) live.delete(refKey(ref));
    for (const { ref, output } of created(transaction)) {
      const place = own.get(output.address);
      if (place === undefined) continue;
      live.add(refKey(ref));
      used = Math.max(used, place + 1);
    }
  }
  return { refs: [...live].sort(), used };
}
