/** An operator shows two readers two histories, with the help of witnesses that sign everything: who finds it, and who does not. */
import { describe, expect, it } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import { refKey } from "#src/cardano/output.ts";
import { offlineProof, verifyOffline } from "#src/client/offlineProof.ts";
import { leafBytes } from "#src/contract/logLeaf.ts";
import { cageScript } from "#src/contract/script.ts";
import { type Checkpoint, checkpointText, signCheckpoint } from "#src/tlog/checkpoint.ts";
import { leafHash } from "#src/tlog/hash.ts";
import {
  cosignText,
  LOG_KEY,
  type NoteSignature,
  noteSigner,
  noteText,
  signText,
  vkeyOf,
  WITNESS_KEY,
} from "#src/tlog/note.ts";
import { logProofText } from "#src/tlog/proofFile.ts";
import { addCheckpointText, decideCheckpoint } from "#src/tlog/witness.ts";
import { TokenWithFacts } from "../../support/tokens/factAnswers.ts";

const log = noteSigner("log.example/a", LOG_KEY, new Uint8Array(32).fill(1));
const names = ["w1", "w2", "w3", "w4"] as const;
const signers = names.map((name, i) => noteSigner(`${name}.example`, WITNESS_KEY, new Uint8Array(32).fill(2 + i)));

/** A history of one state, as the operator signs it for a reader. */
class Story {
  readonly #token: TokenWithFacts;
  readonly #leaf: Uint8Array;
  readonly checkpoint: Checkpoint;

  constructor(planet: string) {
    this.#token = new TokenWithFacts(new Map([["planet", planet]]));
    this.#leaf = leafBytes({
      v: 1,
      net: 42,
      kind: "boot",
      policy: cageScript.hash,
      token: this.#token.token,
      seq: 0,
      slot: 7,
      ref: refKey(this.#token.state.ref),
      root: toHex(this.#token.trie.root),
    });
    this.checkpoint = { origin: log.name, size: 1, root: leafHash(this.#leaf) };
  }

  /** The file that a reader without a network gets. */
  file(cosignatures: readonly NoteSignature[]) {
    const text = checkpointText(this.checkpoint);
    const checkpoint = noteText({ text, signatures: [signText(log, text), ...cosignatures] });
    return offlineProof(
      [this.#token.answer("planet")],
      logProofText({ extra: this.#leaf, index: 0, hashes: [], checkpoint }),
    );
  }
}

/** A witness; `own` is the history that it made from its own index of the chain, where it has one. */
class Witness {
  #latest: Checkpoint | undefined;
  constructor(readonly signer: (typeof signers)[number], readonly kind: "careless" | "generic" | { own: Story }) {}

  /** Its signature; none: it refuses. */
  sign({ checkpoint }: Story): NoteSignature[] {
    const request = addCheckpointText({
      before: this.#latest?.size ?? 0,
      proof: [],
      checkpoint: signCheckpoint(log, checkpoint),
    });
    const decision = decideCheckpoint(request, { keys: () => [log], latest: () => this.#latest });
    const { kind } = this;
    const isOwn = typeof kind === "string" || toHex(kind.own.checkpoint.root) === toHex(checkpoint.root);
    if (kind !== "careless" && (decision.type !== "sign" || !isOwn)) return [];
    this.#latest = checkpoint;
    return [cosignText(this.signer, checkpointText(checkpoint), 1_700_000_000)];
  }
}

const honest = new Story("Earth");
const lie = new Story("Mars");
const policy = (count: number, quorum: number | "none") =>
  [
    `log ${vkeyOf(log)}`,
    ...signers.slice(0, count).map((signer, i) => `witness w${i + 1} ${vkeyOf(signer)}`),
    ...(quorum === "none" ? [] : [`group g ${quorum} ${names.slice(0, count).join(" ")}`]),
    `quorum ${quorum === "none" ? "none" : "g"}`,
  ].join("\n");

/** Witnesses of these kinds, the first ones of the policy. */
const witnesses = (...kinds: readonly Witness["kind"][]) => kinds.map((kind, i) => new Witness(signers[i]!, kind));
const few = (count: number) => ({
  error: {
    code: "not_logged",
    message: `Too few of the policy's witnesses signed the checkpoint: ${count}.`,
    details: { reason: "no_quorum" },
  },
});

describe("two histories of one log", () => {
  it("are both accepted where no witness is required, and the result says so", () => {
    for (const [story, value] of [[honest, "Earth"], [lie, "Mars"]] as const) {
      const verified = verifyOffline(story.file([]), policy(0, "none"));
      expect(verified).toMatchObject({ ok: true, value: { facts: [{ value }] } });
      expect(verified.ok && verified.value.notChecked).toContain(
        "Whether the state is on the ledger, and whether others are shown the same log: no witness of the policy signed, so that this rests on the log alone.",
      );
    }
  });

  it("have one signature of a witness together, whichever it saw first", () => {
    for (const [first, second] of [[honest, lie], [lie, honest]] as const) {
      const [witness] = witnesses("generic");
      expect(verifyOffline(first.file(witness!.sign(first)), policy(1, 1)).ok).toBe(true);
      expect(witness!.sign(second)).toEqual([]);
      expect(verifyOffline(second.file([]), policy(1, 1))).toMatchObject(few(0));
    }
  });

  it("are not helped by a forged signature, or one of the other history", () => {
    const [witness] = witnesses("generic");
    const [true_] = witness!.sign(honest);
    const forged = { ...true_!, signature: new Uint8Array(true_!.signature.length) };
    for (const signature of [forged, true_!]) {
      expect(verifyOffline(lie.file([signature]), policy(1, 1))).toMatchObject({
        error: {
          code: "not_logged",
          message: "The signature of w1.example is wrong.",
          details: { reason: "bad_signature" },
        },
      });
    }
    const stranger = new Witness(noteSigner("x.example", WITNESS_KEY, new Uint8Array(32).fill(99)), "careless");
    expect(verifyOffline(lie.file(stranger.sign(lie)), policy(1, 1))).toMatchObject(few(0));
  });

  it("are both accepted where the quorum is one witness that signs everything", () => {
    const [careless] = witnesses("careless");
    for (const story of [honest, lie]) {
      expect(verifyOffline(story.file(careless!.sign(story)), policy(1, 1)).ok).toBe(true);
    }
  });

  it("are both accepted by two of three with one that signs everything, if the others see one history each", () => {
    const [careless, b, c] = witnesses("careless", "generic", "generic");
    const one = honest.file([...careless!.sign(honest), ...b!.sign(honest)]);
    const two = lie.file([...careless!.sign(lie), ...c!.sign(lie)]);
    for (const file of [one, two]) expect(verifyOffline(file, policy(3, 2)).ok).toBe(true);
  });

  it("have one quorum of three of four together with one that signs everything", () => {
    const [careless, b, c, d] = witnesses("careless", "generic", "generic", "generic");
    const one = honest.file([careless!, b!, c!].flatMap((witness) => witness.sign(honest)));
    expect(verifyOffline(one, policy(4, 3)).ok).toBe(true);
    const two = lie.file([careless!, b!, c!, d!].flatMap((witness) => witness.sign(lie)));
    expect(verifyOffline(two, policy(4, 3))).toMatchObject(few(2));
  });

  it("have a quorum of two of three for the ledger's one only, with witnesses that have an index of their own", () => {
    const all = witnesses("careless", { own: honest }, { own: honest });
    expect(verifyOffline(lie.file(all.flatMap((witness) => witness.sign(lie))), policy(3, 2))).toMatchObject(few(1));
    const [, b, c] = all;
    expect(verifyOffline(honest.file([...b!.sign(honest), ...c!.sign(honest)]), policy(3, 2)).ok).toBe(true);
  });
});
