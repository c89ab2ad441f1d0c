import { existsSync, readFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { fromHex, toHex, utf8 } from "#src/base/bytes.ts";
import { decode } from "#src/cardano/cbor.ts";
import { blake2b256 } from "#src/cardano/hash.ts";
import { type OutRef, readOutput } from "#src/cardano/output.ts";
import { foldCompleteness, foldExclusion, foldInclusion } from "#src/csmt/fold.ts";
import { addressPrefix, outputKey } from "#src/csmt/key.ts";
import { type Node, rootOf } from "#src/csmt/node.ts";
import { canonicalOutput } from "#src/csmt/output.ts";
import {
  decodeCompleteness,
  decodeExclusion,
  decodeInclusion,
  encodeCompleteness,
  encodeExclusion,
  encodeInclusion,
} from "#src/csmt/proof.ts";
import { proveCompleteness, proveExclusion, proveInclusion } from "#src/csmt/prove.ts";
import { insert } from "#src/csmt/tree.ts";
import { type ShownOutput, verifyAddress, verifyNoOutput, verifyOutput } from "#src/csmt/verify.ts";
import { vectors } from "../../support/base/vectors.ts";

interface VectorOutput {
  readonly tx_id: string;
  readonly tx_ix: number;
  readonly txout_cbor: string;
}
interface Synthetic {
  readonly utxos: readonly VectorOutput[];
  readonly roots_of_first_n: readonly { readonly n: number; readonly root: string | null }[];
  readonly root: string;
  readonly inclusion: readonly { readonly tx_id: string; readonly tx_ix: number; readonly proof: string }[];
  readonly completeness: readonly {
    readonly name: string;
    readonly address: string;
    readonly prefix: string;
    readonly entries: readonly VectorOutput[];
    readonly proof: string;
    readonly accept: boolean;
  }[];
}

const json = <T>(file: string): T => JSON.parse(readFileSync(file, "utf8")) as T;
const refOf = ({ tx_id, tx_ix }: Pick<VectorOutput, "tx_id" | "tx_ix">): OutRef => ({ txHash: tx_id, index: tx_ix });
const shown = (one: VectorOutput): ShownOutput => ({ ref: refOf(one), cbor: fromHex(one.txout_cbor) });
const addressOf = ({ cbor }: ShownOutput) => readOutput(decode(cbor)).address;
const treeOf = (utxos: readonly VectorOutput[]): Node | undefined =>
  utxos.map(shown).reduce<Node | undefined>(
    (top, one) => insert(top, { key: outputKey(addressOf(one), one.ref), value: blake2b256(one.cbor) }),
    undefined,
  );

describe("a set of outputs", () => {
  const all = json<Synthetic>(vectors("csmt/synthetic.json"));
  const top = treeOf(all.utxos);
  const root = fromHex(all.root);

  it("has the roots of another implementation", () => {
    for (const { n, root } of all.roots_of_first_n) {
      const found = rootOf(treeOf(all.utxos.slice(0, n)));
      expect(found ? toHex(found) : null, String(n)).toBe(root);
    }
    expect(toHex(rootOf(top)!)).toBe(all.root);
  });

  it("has outputs in the ledger's own encoding", () => {
    for (const { txout_cbor } of all.utxos) {
      expect(toHex(canonicalOutput(readOutput(decode(fromHex(txout_cbor)))))).toBe(txout_cbor);
    }
  });

  it("gives the same inclusion proofs, which are verified", () => {
    expect(all.inclusion).toHaveLength(all.utxos.length);
    for (const { tx_id, tx_ix, proof } of all.inclusion) {
      const one = shown(all.utxos.find((utxo) => utxo.tx_id === tx_id && utxo.tx_ix === tx_ix)!);
      const made = proveInclusion(top, outputKey(addressOf(one), one.ref));
      expect(toHex(encodeInclusion(made!))).toBe(proof);
      expect(verifyOutput(root, one, fromHex(proof))).toMatchObject({ ok: true });
    }
  });

  it("decides on completeness proofs as a sound verifier does", () => {
    expect(all.completeness.map(({ name }) => name)).toContain("padding");
    for (const { name, address, prefix, entries, proof, accept } of all.completeness) {
      expect(toHex(addressPrefix(address)), name).toBe(prefix);
      const verified = verifyAddress(root, { address, outputs: entries.map(shown) }, fromHex(proof));
      expect(verified.ok, name).toBe(accept);
      if (accept) expect(toHex(encodeCompleteness(proveCompleteness(top, fromHex(prefix)).proof)), name).toBe(proof);
    }
  });

  it("of one output has the root of its leaf", () => {
    const one = json<{ utxos: VectorOutput[]; root: string; inclusion_proof: string; completeness_proof: string }>(
      vectors("csmt/synthetic-single.json"),
    );
    const [only] = one.utxos.map(shown);
    const top = treeOf(one.utxos);
    expect(toHex(rootOf(top)!)).toBe(one.root);
    expect(toHex(encodeInclusion(proveInclusion(top, outputKey(addressOf(only!), only!.ref))!))).toBe(
      one.inclusion_proof,
    );
    const { proof } = proveCompleteness(top, addressPrefix(addressOf(only!)));
    expect(toHex(encodeCompleteness(proof))).toBe(one.completeness_proof);
  });

  it("that is empty has no root, and only then is it proved by its emptiness", () => {
    const address = all.completeness[0]!.address;
    const ref = refOf(all.utxos[0]!);
    const nothing = encodeExclusion(proveExclusion(undefined, outputKey(address, ref))!);
    expect(toHex(nothing)).toBe("8100");
    expect(verifyNoOutput(null, { address, ref }, nothing)).toMatchObject({ ok: true });
    expect(verifyNoOutput(root, { address, ref }, nothing)).toMatchObject({ error: { code: "wrong_root" } });
    expect(verifyAddress(null, { address, outputs: [] }, fromHex("82018100"))).toMatchObject({ ok: true });
  });
});

describe("a tree of any keys", () => {
  const { rootHash, proofs, exclusionProofs } = json<{
    rootHash: string;
    proofs: { key: string; value: string; cbor: string }[];
    exclusionProofs: { targetKey: string; cbor: string }[];
  }>(vectors("csmt/haskell-mts-fixtures.json"));
  const top = proofs.reduce<Node | undefined>(
    (top, { key, value }) => insert(top, { key: utf8(key), value: blake2b256(utf8(value)) }),
    undefined,
  );

  it("has the root and the proofs of the reference", () => {
    expect(toHex(rootOf(top)!)).toBe(rootHash);
    for (const { key, cbor } of proofs) {
      expect(toHex(encodeInclusion(proveInclusion(top, utf8(key))!))).toBe(cbor);
      const decoded = decodeInclusion(fromHex(cbor));
      expect(decoded.ok && toHex(foldInclusion(decoded.value)!)).toBe(rootHash);
    }
    for (const { targetKey, cbor } of exclusionProofs) {
      expect(toHex(encodeExclusion(proveExclusion(top, utf8(targetKey))!))).toBe(cbor);
      const decoded = decodeExclusion(fromHex(cbor));
      expect(decoded.ok && decoded.value && toHex(foldExclusion(decoded.value)!)).toBe(rootHash);
    }
  });
});

// answers of a public service without a licence: they are not part of the repository
const captured = process.env.ARBOR_UMPFS_ANSWERS ?? fileURLToPath(
  new URL("../../../../shared/vectors/mpfs-v2/umpfs/", import.meta.url),
);

describe.skipIf(!existsSync(captured))("answers of a public service", () => {
  interface Entry {
    readonly ref: { readonly tx_id: string; readonly tx_ix: number };
    readonly txout_cbor: string;
  }
  interface Answer {
    readonly snapshot: { readonly utxo_root: string };
    readonly request_set?: { readonly entries: readonly Entry[]; readonly completeness_proof: string };
    readonly tokens?: { readonly entries: readonly Entry[]; readonly completeness_proof: string };
    readonly requests?: readonly { readonly utxo: CapturedOutput }[];
    readonly state?: { readonly utxo: CapturedOutput };
    readonly fact?: { readonly state: { readonly utxo: CapturedOutput } };
  }
  interface CapturedOutput {
    readonly tx_in: { readonly tx_id: string; readonly tx_ix: number };
    readonly tx_out: string;
    readonly utxo_proof: string;
  }

  it.each(["csmt-utxo-verify", "csmt-utxo-verdict-real-mpfs-token"])("%s is verified", (name) => {
    const { txId, txIx, txOut, proof, merkleRoot } = json<Record<string, string>>(`${captured}${name}.json`);
    const one = { ref: { txHash: txId!, index: Number(txIx) }, cbor: fromHex(txOut!) };
    expect(verifyOutput(fromHex(merkleRoot!), one, fromHex(proof!))).toMatchObject({ ok: true });
    expect(toHex(canonicalOutput(readOutput(decode(one.cbor))))).toBe(txOut);
  });

  it.each(["requests", "tokens", "token-state", "facts", "fact-inclusion"])("%s is verified", (name) => {
    const { snapshot, request_set, tokens, requests = [], state, fact } = json<Answer>(
      `${captured}real-umpfs-${name}.json`,
    );
    const root = fromHex(snapshot.utxo_root);
    const set = request_set ?? tokens;
    if (set) {
      const outputs = set.entries.map(({ ref, txout_cbor }) => shown({ ...ref, txout_cbor }));
      const address = addressOf(outputs[0]!);
      const proof = fromHex(set.completeness_proof);
      expect(verifyAddress(root, { address, outputs }, proof)).toMatchObject({ ok: true });
      expect(verifyAddress(root, { address, outputs: outputs.slice(1) }, proof).ok).toBe(false);
      const decoded = decodeCompleteness(proof);
      expect(decoded.ok && toHex(encodeCompleteness(decoded.value))).toBe(set.completeness_proof);
      const elements = outputs.map(({ ref, cbor }) => ({ key: outputKey(address, ref), value: blake2b256(cbor) }));
      const sorted = elements.sort((a, b) => toHex(a.key) < toHex(b.key) ? -1 : 1);
      expect(
        decoded.ok && !("empty" in decoded.value) &&
          foldCompleteness(addressPrefix(address), sorted.slice(1), decoded.value),
      ).toBeUndefined();
    }
    const proved = [...requests, state, fact?.state].flatMap((one) => one ? [one.utxo] : []);
    for (const { tx_in, tx_out, utxo_proof } of proved) {
      const one = shown({ ...tx_in, txout_cbor: tx_out });
      expect(verifyOutput(root, one, fromHex(utxo_proof))).toMatchObject({ ok: true });
      expect(toHex(canonicalOutput(readOutput(decode(one.cbor))))).toBe(tx_out);
    }
    expect(proved.length + (set ? 1 : 0)).toBeGreaterThan(0);
  });
});
