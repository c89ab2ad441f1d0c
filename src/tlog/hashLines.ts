/** Hashes as lines of base64, as proofs have them. */
import { base64 } from "@scure/base";
import { HASH_BYTES } from "#src/tlog/hash.ts";
import { decodeBase64 } from "#src/tlog/note.ts";
import { MAX_PROOF_HASHES } from "#src/tlog/tree.ts";

/** One line for each hash, each with its newline. */
export function hashLines(hashes: readonly Uint8Array[]): string {
  return hashes.map((hash) => `${base64.encode(hash)}\n`).join("");
}

/** The hashes of lines; undefined where one is no hash or there are more than a proof can have. */
export function parseHashLines(lines: readonly string[]): Uint8Array[] | undefined {
  if (lines.length > MAX_PROOF_HASHES) return undefined;
  const hashes = lines.map(decodeBase64);
  return hashes.every((hash): hash is Uint8Array => hash?.length === HASH_BYTES) ? hashes : undefined;
}
