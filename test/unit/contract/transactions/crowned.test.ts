/** Updates are built with a crown if that makes them smaller. */
import { beforeAll, describe, expect, it } from "vitest";
import { toHex, utf8 } from "#src/base/bytes.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { compareRefs, refKey, type Utxo } from "#src/cardano/output.ts";
import { as, asInt, decode, encode, entry } from "#src/cardano/cbor.ts";
import { scriptAddress } from "#src/cardano/address.ts";
import { decodeDatum, encodeState } from "#src/contract/datum.ts";
import { isRootProven } from "#src/contract/summary/rootProof.ts";
import type { ContractInput } from "#src/contract/summary/contractInputs.ts";
import { spendRedeemers } from "#src/tokens/index/redeemers.ts";
import { readSpend, type SpendRedeemer } from "#src/contract/redeemer.ts";
import { cageScripts, supportsTopBranch } from "#src/contract/script.ts";
import { buildUpdate } from "#src/contract/transactions/update.ts";
import { topBranchOf, withSlot } from "#src/forestry/topBranch.ts";
import { initHash } from "#src/forestry/hash.ts";
import { Forestry, leafOf } from "#src/forestry/trie.ts";
import { readData } from "#src/cardano/data.ts";
import { factsOf, measure, must, op, Outputs, published } from "../../../support/contract/contractLedger.ts";
import { alice, asked, askedNew, NAME, OwnedToken } from "../../../support/contract/ownedToken.ts";
import { coin, utxo } from "../../../support/wallets/person.ts";
import { cage, requestFields } from "../../../support/contract/wholeTransaction.ts";

beforeAll(initHash);

describe("a built update", () => {
  const payer = coin(alice.enterprise, 100_000_000n);
  const update = (trie: Forestry, requests: readonly Utxo[]) => {
    const token = new OwnedToken(trie, requests, [payer]);
    const built = must(buildUpdate(token.input(requests, {}, alice.enterprise), trie, measure));
    return { token, state: token.state, built };
  };
  const redeemerOf = (transaction: Uint8Array, state: Utxo): SpendRedeemer | undefined => {
    const scanned = scanTransaction(transaction);
    const index = scanned.inputs.findIndex((ref) => refKey(ref) === refKey(state.ref));
    const redeemers = as(entry(as(decode(transaction), "array").value[1]!, 5), "map").value;
    const found = redeemers.find(([key]) => {
      const [tag, at] = as(key, "array").value;
      return asInt(tag) === 0n && Number(asInt(at)) === index;
    });
    return found && readSpend(readData(as(found[1], "array").value[0]!));
  };

  it("shares a crown if that is smaller", () => {
    const trie = factsOf(1_000);
    const all = askedNew(12);
    const { token, state, built } = update(trie, all);
    const redeemer = redeemerOf(built.transaction, state);
    expect(redeemer).toMatchObject({ type: "modify", crown: topBranchOf(trie) });
    expect(spendRedeemers(scanTransaction(built.transaction)).get(refKey(state.ref))).toBe("modify");
    // the transaction alone suffices to check the new root
    const isAccepted = (root: string, top = topBranchOf(trie)!) => {
      const read = redeemerOf(built.transaction, state)!;
      const before: ContractInput = {
        ref: state.ref,
        output: state.output,
        state: {
          ...decodeDatum(state.output.datum!) as object,
          type: "state",
          root: toHex(trie.root),
        } as ContractInput["state"],
        request: undefined,
        redeemer: read.type === "modify" ? { ...read, crown: top } : read,
      };
      const spent = [...all].sort((a, b) => compareRefs(a.ref, b.ref)).map(({ ref, output }): ContractInput => {
        const datum = decodeDatum(output.datum!);
        const request = datum?.type === "request" ? datum.request : undefined;
        return { ref, output, state: undefined, request, redeemer: { type: "contribute" } };
      });
      return isRootProven(false, false, before, { ...before.state!, root }, spent, true);
    };
    expect(isAccepted(built.root)).toBe(true);
    expect(isAccepted(toHex(trie.root))).toBe(false);
    expect(isAccepted(built.root, withSlot(topBranchOf(trie)!, new Uint8Array(32), trie.root))).toBe(false);
    expect(token.apply(built, all).created.length).toBeGreaterThan(12);
    const single = update(factsOf(1_000), askedNew(1));
    expect(redeemerOf(single.built.transaction, single.state)).not.toHaveProperty("crown");
  });
  it("shares none if the facts have none during the update", () => {
    // two slots at the top, of which one is emptied and filled again
    const keys = Array.from({ length: 400 }, (_, i) => `k${i}`);
    const slotOf = (key: string) => leafOf(utf8(key), utf8("v")).path[0]! >> 4;
    const [lone, ...many] = [keys.find((key) => slotOf(key) === 3)!, ...keys.filter((key) => slotOf(key) === 9)];
    const trie = Forestry.from([lone, ...many].map((key) => leafOf(utf8(key), utf8("v"))));
    expect(topBranchOf(trie)).toBeDefined();
    const ref = (i: number) => ({ txHash: i.toString(16).padStart(64, "0"), index: 0 });
    const all = [
      asked(lone, op.remove("v"), { ref: ref(1) }),
      ...many.slice(0, 12).map((key, i) => asked(key, op.update("v", "w"), { ref: ref(2 + i) })),
      asked(lone, op.insert("v"), { ref: ref(99) }),
    ];
    const { token, state, built } = update(trie, all);
    expect(redeemerOf(built.transaction, state)).not.toHaveProperty("crown");
    token.apply(built, all);
  });
  it("of a token of the first version has none, and its script accepts it", () => {
    const [first] = cageScripts;
    expect(supportsTopBranch(first!)).toBe(false);
    expect(supportsTopBranch(cageScripts.at(-1)!)).toBe(true);
    const trie = factsOf(1_000);
    const address = scriptAddress(0, first!.hash).hex;
    const state = utxo({
      address,
      value: { lovelace: 2_000_000n, assets: new Map([[first!.hash + NAME, 1n]]) },
      datum: encodeState({ owner: alice.key, root: toHex(trie.root) }),
    });
    const all = Array.from(
      { length: 8 },
      (_, i) => requestFields(NAME, `new ${i}`, op.insert("v"), { policy: first!.hash, address }).utxo,
    );
    const outputs = new Outputs(payer, state, ...all);
    const script = utxo({ ...published.output, script: encode([3, first!.compiledCode]) });
    const input = outputs.input(alice.enterprise, { script: first!, reference: script });
    const built = must(buildUpdate({ ...input, state, requests: all }, trie, measure));
    expect(redeemerOf(built.transaction, state)).not.toHaveProperty("crown");
    expect(address).not.toBe(cage);
  });
});
