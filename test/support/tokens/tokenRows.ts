/** Writes a token's rows as the follower does. */
import { toHex } from "#src/base/bytes.ts";
import { refKey } from "#src/cardano/output.ts";
import { keyBytes } from "#src/client/factKey.ts";
import { cutOf } from "#src/forestry/cut.ts";
import { leafOf } from "#src/forestry/trie.ts";
import type { Store } from "#src/store/store.ts";
import type { TokenWithFacts } from "./factAnswers.ts";

const AT_ONCE = 1_000;

/**
 * Writes a token and its facts to the rows of the index, as of a slot; `cut` selects whether the hashes of sub-trees
 * are written too.
 */
export async function storeToken({ sql }: Store, stored: TokenWithFacts, slot: number, cut: boolean): Promise<void> {
  const { token, owner, trie, state, facts } = stored;
  await sql`insert into token_state (ref, token, owner, root, output, facts, cut, from_slot) values (
    ${refKey(state.ref)}, ${token}, ${owner}, ${
    toHex(trie.root)
  }, ${state.output.raw}, ${facts.size}, ${cut}, ${slot})`;
  const rows = [...facts].map(([keyText, valueText]) => {
    const [key, value] = [keyBytes(keyText), keyBytes(valueText)];
    const leaf = leafOf(key, value);
    const path = toHex(leaf.path);
    const [entry, bucket] = [`${token}:${path}`, `${token}:${path.slice(0, 3)}`];
    return { entry, token, bucket, path, key, value, digest: leaf.value, from_slot: slot };
  });
  for (let i = 0; i < rows.length; i += AT_ONCE) {
    await sql`insert into fact ${sql(rows.slice(i, i + AT_ONCE) as never)}`;
  }
  if (!cut) return;
  const hashes = cutOf(trie);
  const buckets = Array.from({ length: hashes.length / 32 }, (_, bucket) => bucket)
    .map((bucket) => ({ token, bucket, hash: hashes.slice(32 * bucket, 32 * bucket + 32), from_slot: slot }))
    .filter(({ hash }) => hash.some((byte) => byte !== 0));
  for (let i = 0; i < buckets.length; i += AT_ONCE) {
    await sql`insert into token_bucket ${sql(buckets.slice(i, i + AT_ONCE) as never)}`;
  }
}
