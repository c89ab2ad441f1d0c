/** A log whose key a test has: its operator can sign any entries. */
import { utf8 } from "#src/base/bytes.ts";
import { signCheckpoint } from "#src/tlog/checkpoint.ts";
import type { NoteSigner } from "#src/tlog/note.ts";
import { logProofText } from "#src/tlog/proofFile.ts";
import { consistencyProof, inclusionProof } from "#src/tlog/tree.ts";
import { addCheckpointText } from "#src/tlog/witness.ts";
import { plainRoot, subtreesOf } from "./plainTree.ts";

export class OwnedLog {
  readonly #entries: readonly Uint8Array[];

  /** `texts` are its entries. */
  constructor(readonly signer: NoteSigner, texts: readonly string[]) {
    this.#entries = texts.map(utf8);
  }

  get size(): number {
    return this.#entries.length;
  }

  /** The checkpoint of all entries, signed by the log. */
  get checkpoint(): string {
    return signCheckpoint(this.signer, {
      origin: this.signer.name,
      size: this.size,
      root: plainRoot(this.#entries),
    });
  }

  /** What a witness is requested to sign, after it signed the first entries. */
  addCheckpoint(before: number): string {
    const proof = consistencyProof(before, this.size, subtreesOf(this.#entries));
    return addCheckpointText({ before, proof, checkpoint: this.checkpoint });
  }

  /** The tlog-proof of an entry, with the signature lines of witnesses. */
  proof(index: number, cosignatures = ""): string {
    return logProofText({
      extra: this.#entries[index]!,
      index,
      hashes: inclusionProof(index, this.size, subtreesOf(this.#entries)),
      checkpoint: this.checkpoint + cosignatures,
    });
  }
}
