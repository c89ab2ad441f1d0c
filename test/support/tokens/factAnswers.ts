/** Answers about facts in the token service's form, for a token that was never on a ledger. */
import { toHex } from "#src/base/bytes.ts";
import { encodeState } from "#src/contract/datum.ts";
import { cageScript } from "#src/contract/script.ts";
import { scriptAddress } from "#src/cardano/address.ts";
import type { Utxo } from "#src/cardano/output.ts";
import { madeOutput } from "#src/cardano/transaction.ts";
import type { FactProof, TrustedState } from "#src/client/proofs.ts";
import { keyBytes } from "#src/client/factKey.ts";
import { proofView } from "#src/tokens/http/proofView.ts";
import { encodeProof, type Proof } from "#src/forestry/proof.ts";
import { Forestry, leafOf } from "#src/forestry/trie.ts";

export const TOKEN = "ab".repeat(32);
const OWNER = "cd".repeat(28);

/** A token with some facts, independent of the service that answers for it, and another provider's answers about it. */
export class TokenWithFacts {
  readonly trie: Forestry;
  readonly state: Utxo;

  constructor(readonly facts: ReadonlyMap<string, string>, readonly owner = OWNER, readonly token = TOKEN) {
    this.trie = Forestry.from([...facts].map(([key, value]) => leafOf(keyBytes(key), keyBytes(value))));
    this.state = {
      ref: { txHash: token, index: 0 },
      output: madeOutput({
        address: scriptAddress(0, cageScript.hash).hex,
        value: { lovelace: 2_000_000n, assets: new Map([[cageScript.hash + token, 1n]]) },
        datum: encodeState({ owner, root: toHex(this.trie.root) }),
      }),
    };
  }

  /** The service's answer; with another token's proof if one is given. */
  answer(key: string, given?: Proof): FactProof {
    const value = this.facts.get(key);
    const bytes = keyBytes(key);
    const { path } = leafOf(bytes, bytes);
    const made = value === undefined ? this.trie.proveAbsent(path) : this.trie.prove(path);
    if (!made.ok) throw new Error(made.error.message);
    const proof = given ?? made.value;
    const view = proofView(
      {
        state: { token: this.token, owner: this.owner, root: toHex(this.trie.root), utxo: this.state },
        ...(value === undefined ? {} : { fact: { key: bytes, value: keyBytes(value) } }),
      },
      { path, key: bytes },
      { proof, cbor: encodeProof(proof) },
      { slot: 7, hash: "0f".repeat(32), height: 3 },
    );
    return JSON.parse(JSON.stringify(view)) as FactProof;
  }

  /** The state in each of the forms that a client may trust. */
  get trusted(): { readonly root: TrustedState; readonly datum: TrustedState; readonly output: TrustedState } {
    const { output } = this.state;
    const policyId = cageScript.hash;
    return {
      root: { root: toHex(this.trie.root) },
      datum: { policyId, assetName: this.token, datum: toHex(output.datum!) },
      output: { policyId, output: toHex(output.raw) },
    };
  }
}
