/** The keys of the log and of the witness: made at first use, kept in the database, given to nothing but a signature. */
import { toHex } from "#src/base/bytes.ts";
import type { Queries } from "#src/store/store.ts";
import { LOG_KEY, type NoteSigner, noteSigner, WITNESS_KEY } from "#src/tlog/note.ts";
import type { LogSettings } from "#src/tokens/log/settings.ts";

/** The key that signs checkpoints of this instance's log. */
export async function logSigner(
  sql: Queries,
  networkMagic: number,
  { origin }: Pick<LogSettings, "origin">,
): Promise<NoteSigner> {
  const seed = await seedOf(sql, "log");
  return named(origin, LOG_KEY, seed, `arbor/${networkMagic}`);
}

/** The key with which this instance signs checkpoints of others. */
export async function witnessSigner(
  sql: Queries,
  networkMagic: number,
  { witnessName }: Pick<LogSettings, "witnessName">,
): Promise<NoteSigner> {
  const seed = await seedOf(sql, "witness");
  return named(witnessName, WITNESS_KEY, seed, `arbor-witness/${networkMagic}`);
}

/** A signer by its name, or by one that is made of its key, so that no two instances have the same. */
function named(name: string | undefined, type: NoteSigner["type"], seed: Uint8Array, prefix: string): NoteSigner {
  const signer = noteSigner("unnamed", type, seed);
  return { ...signer, name: name ?? `${prefix}/${toHex(signer.publicKey.subarray(0, 8))}` };
}

async function seedOf(sql: Queries, purpose: "log" | "witness"): Promise<Uint8Array> {
  const read = () => sql<{ seed: Uint8Array }[]>`select seed from log_key where purpose = ${purpose}`;
  const [known] = await read();
  if (known) return Uint8Array.from(known.seed);
  const seed = crypto.getRandomValues(new Uint8Array(32));
  await sql`insert into log_key (purpose, seed) values (${purpose}, ${seed}) on conflict do nothing`;
  // another process may have been first
  const [made] = await read();
  return Uint8Array.from(made?.seed ?? seed);
}
