/**
 * This instance as a witness of the logs of others (tlog-witness), stricter than the specification requires: a checkpoint is
 * signed only if the log of this instance, which is made of its own index, has the same root at that size. So a signature
 * says that each entry is one that this instance found on the chain by itself.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { equalBytes, toHex, utf8 } from "#src/base/bytes.ts";
import { onlyRow } from "#src/store/rows.ts";
import type { Queries, Store } from "#src/store/store.ts";
import type { Checkpoint, NotedCheckpoint } from "#src/tlog/checkpoint.ts";
import { EMPTY_LOG_ROOT } from "#src/tlog/hash.ts";
import { cosignText, type NoteSigner, signatureLine } from "#src/tlog/note.ts";
import { decideCheckpoint, openAddCheckpoint, type WitnessDecision } from "#src/tlog/witness.ts";
import { readRoot, readSize } from "#src/tokens/log/rows.ts";
import type { LogSettings } from "#src/tokens/log/settings.ts";

/** The answer of the witness: a signature line, or why there is none. */
export type WitnessAnswer =
  | Exclude<WitnessDecision, { type: "sign" }>
  | { readonly type: "signed"; readonly line: string }
  /** This instance has not come that far yet. */
  | { readonly type: "behind"; readonly size: number };

/** Signs a checkpoint, or says why not. What is signed is stored before it is given. */
export async function witness(
  store: Store,
  signer: NoteSigner,
  { witnessFor, snapshots }: Pick<LogSettings, "witnessFor" | "snapshots">,
  text: string,
): Promise<WitnessAnswer> {
  const keys = (origin: string) => witnessFor.filter(({ name }) => name === origin);
  const opened = openAddCheckpoint(text, keys);
  if (opened.type !== "open") return notSigned(opened);
  const { origin } = opened.signed.checkpoint;
  return await store.sql.begin(async (sql): Promise<WitnessAnswer> => {
    const latest = await lockLatest(sql, origin);
    const decision = decideCheckpoint(text, { keys, latest: () => latest });
    if (decision.type !== "sign") return notSigned(decision);
    const { size, root } = decision.signed.checkpoint;
    const own = await readSize(sql);
    if (size > own) return { type: "behind", size: own };
    if (!equalBytes(await readRoot(sql, size), root)) {
      return {
        type: "refuse",
        status: 422,
        text: `The entries of the log are not those that this witness made from its own index of the chain${
          snapshots === undefined
            ? ", which has no roots of the unspent outputs: it signs no log with snapshots."
            : `, with a root of the unspent outputs every ${snapshots} blocks.`
        }`,
      };
    }
    return { type: "signed", line: await sign(sql, signer, decision.signed) };
  });
}

function notSigned(decision: WitnessDecision): Exclude<WitnessDecision, { type: "sign" }> {
  if (decision.type === "sign") throw new Error("a decision to sign is no refusal");
  return decision;
}

/** The newest checkpoint that was signed of a log, locked until the commit: requests for one log come one after another. */
async function lockLatest(sql: Queries, origin: string): Promise<Pick<Checkpoint, "size" | "root">> {
  await sql`insert into log_witnessed (origin, size, root, note, line) values (${origin}, 0, ${EMPTY_LOG_ROOT}, '', '')
    on conflict do nothing`;
  const row = await onlyRow(sql<{ size: bigint; root: Uint8Array }[]>`
    select size, root from log_witnessed where origin = ${origin} for update`);
  return { size: Number(row.size), root: Uint8Array.from(row.root) };
}

async function sign(sql: Queries, signer: NoteSigner, { checkpoint, note }: NotedCheckpoint): Promise<string> {
  const { seconds } = await onlyRow(sql<{ seconds: bigint }[]>`select extract(epoch from now())::bigint as seconds`);
  const line = signatureLine(cosignText(signer, note.text, Number(seconds)));
  const own = note.signatures.filter(({ name }) => name === checkpoint.origin).map(signatureLine).join("");
  await sql`update log_witnessed set size = ${checkpoint.size}, root = ${checkpoint.root},
    note = ${`${note.text}\n${own}`}, line = ${line} where origin = ${checkpoint.origin}`;
  return line;
}

/** The newest checkpoint that was signed of the log whose origin has that SHA-256, with the signature. */
export async function readWitnessed(
  sql: Queries,
  { witnessFor }: Pick<LogSettings, "witnessFor">,
  hash: string,
): Promise<string | undefined> {
  const origin = witnessFor.find(({ name }) => toHex(sha256(utf8(name))) === hash)?.name;
  if (origin === undefined) return undefined;
  const [row] = await sql<{ note: string; line: string }[]>`
    select note, line from log_witnessed where origin = ${origin} and note <> ''`;
  return row && row.note + row.line;
}
