/** The root of a devnet's unspent outputs by its definition, and the tree in its rows. */
import { expect } from "vitest";
import { blake2b } from "@noble/hashes/blake2.js";
import { concat, fromHex, toHex } from "#src/base/bytes.ts";
import { decode } from "#src/cardano/cbor.ts";
import { readOutput } from "#src/cardano/output.ts";
import { canonicalOutput } from "#src/csmt/output.ts";
import { LoadedTree } from "#src/csmt/loading.ts";
import { elements } from "#src/csmt/tree.ts";
import type { Store } from "#src/store/store.ts";
import { bitText, modelRoot } from "../csmt/model.ts";

const hash = (bytes: Uint8Array) => blake2b(bytes, { dkLen: 32 });

/** Unspent outputs whose root is computed by its definition, at most: it takes a while. */
const MOST = 3_000;

/** Bytes of a reference to an output. */
function refBytes(txHash: string, index: number): Uint8Array {
  const number = index < 24 ? [index] : index < 256 ? [0x18, index] : [0x19, index >> 8, index & 255];
  return concat(Uint8Array.of(0x82, 0x58, 0x20), fromHex(txHash), Uint8Array.from(number));
}

/** The root of all unspent outputs, and their keys; null for none. */
export async function modelOf({ sql }: Store): Promise<{ root: string | null; keys: string[] }> {
  const rows = await sql<{ tx_hash: string; index: number; address: string; cbor: Uint8Array }[]>`
    select tx_hash, index, address, cbor from devnet_utxo where spent_height is null`;
  const all = rows.map(({ tx_hash, index, address, cbor }) =>
    [
      concat(hash(fromHex(address)), refBytes(tx_hash, index)),
      hash(canonicalOutput(readOutput(decode(new Uint8Array(cbor))))),
    ] as const
  );
  const root = modelRoot(all.map(([key, value]) => [bitText(key), value]));
  return { root: root && toHex(root), keys: all.map(([key]) => toHex(key)).sort() };
}

/** Expects the tree of a devnet, where it has one, to be that of its unspent outputs; gives its root. */
export async function checkTree(store: Store): Promise<string | null | undefined> {
  const { sql } = store;
  const [place] = await sql<{ height: bigint; hash: string; top: Uint8Array; root: Uint8Array | null }[]>`
    select height, hash, top, root from devnet_utxo_tree_place`;
  if (!place) return undefined;
  const [tip] = await sql<{ height: bigint; hash: string }[]>`
    select height, hash from devnet_block order by height desc limit 1`;
  expect([Number(place.height), place.hash]).toEqual(tip ? [Number(tip.height), tip.hash] : [-1, ""]);
  const root = place.root && toHex(place.root);
  const [stored] = await sql<
    { root: Uint8Array | null }[]
  >`select root from devnet_utxo_root where hash = ${place.hash}`;
  expect(stored!.root && toHex(stored!.root)).toBe(root);
  const [{ unspent }] = await sql<[{ unspent: number }]>`
    select count(*)::int as unspent from devnet_utxo where spent_height is null`;
  if (unspent > MOST) return root;
  const model = await modelOf(store);
  expect(root).toBe(model.root);
  const rows = await sql<{ name: string; nodes: Uint8Array }[]>`select name, nodes from devnet_utxo_tree`;
  const all = new Map(rows.map(({ name, nodes }) => [name, nodes]));
  const reached = new Set<string>();
  const tree = new LoadedTree(place.top, async (names) => {
    for (const name of names) reached.add(name);
    return new Map(names.flatMap((name) => all.has(name) ? [[name, all.get(name)!] as const] : []));
  });
  const found = await tree.run((top) => [...elements(top)]);
  expect(found.map(({ path }) => toHex(path))).toEqual(model.keys);
  expect([...reached].sort()).toEqual([...all.keys()].sort());
  return root;
}
