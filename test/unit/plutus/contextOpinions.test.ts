/**
 * Independent implementations: scalus (and aiken, where scalus errs) passes the same contexts to scripts, and a script
 * that runs on our contexts uses the same units as in the run of a whole transaction.
 */
// scalus has no `case` on constants, which the current version of the contract uses
import "../../support/contract/version2.ts";
import { cases } from "../../support/base/longTests.ts";
import scalus from "scalus";
import { afterAll, describe, expect, it, vi } from "vitest";
import { concat, fromHex, toHex } from "#src/base/bytes.ts";
import { type Encodable, encode } from "#src/cardano/cbor.ts";
import { type Data, decodeData } from "#src/cardano/data.ts";
import { refKey, type Utxo } from "#src/cardano/output.ts";
import { encodeTransaction } from "#src/cardano/transaction.ts";
import { EMPTY_ROOT, tokenName } from "#src/contract/datum.ts";
import { mainnetParametersAt } from "#src/ledger/parameters.ts";
import { posixTime } from "#src/plutus/context/interval.ts";
import { translate } from "#src/plutus/context/translate.ts";
import { evaluateScripts } from "#src/plutus/evaluate.ts";
import { op, published, slots as contractSlots } from "../../support/contract/contractLedger.ts";
import { transitions } from "../../support/ledger/conformance.ts";
import { theBuild } from "../../support/contract/contractBuild.ts";
import { appliedTo, AROUND, firstDifference, type Probed, probed } from "../../support/plutus/contextProbe.ts";
import { read } from "../../support/plutus/draftContexts.ts";
import {
  ada,
  alice,
  asset,
  atScript,
  bob,
  datumHash,
  type Draft,
  nativeHash,
  output,
  signedBy,
  slots,
  World,
} from "../../support/ledger/draft.ts";
import { follow } from "../../support/ledger/replayTransition.ts";
import { agrees, agreesWithThree, agreesWithTwo, plutusHash } from "../../support/plutus/scripts.ts";
import { tracedBySecond } from "../../support/plutus/secondEvaluator.ts";
import { vectors } from "../../support/base/vectors.ts";
import { coin } from "../../support/wallets/person.ts";
import {
  alice as requester,
  changing,
  owner,
  partsOf,
  paying,
  policy,
  requestFields,
  stateOf,
  updating,
  type Whole,
} from "../../support/contract/wholeTransaction.ts";

// Unit tests share a process: modules that read the build are loaded again, before the imports and afterwards.
vi.hoisted(() => void vi.resetModules());
afterAll(() => void vi.resetModules());

/** The cost models that scalus includes. */
const parameters = mainnetParametersAt(10);
const resolvedOf = (utxos: readonly Utxo[]) => new Map(utxos.map(({ ref, output }) => [refKey(ref), output]));

/** The difference between our context of a script and that of scalus; undefined if they are equal. */
function difference({ language, pointer, transaction, utxos, shown }: Probed, major: number, config = slots) {
  const made = translate(language, {
    transaction,
    resolved: resolvedOf(utxos),
    time: posixTime(config),
    protocolMajor: major,
  });
  const redeemer = transaction.witnesses.redeemers.find(({ purpose, index }) =>
    purpose === pointer.purpose && index === pointer.index
  )!;
  const args = made.ok ? made.value(redeemer) : made;
  if (!args.ok) return args.error.reason;
  return shown instanceof Error ? shown.message : firstDifference(args.value, shown);
}

describe("in the transitions recorded from the Haskell ledger", () => {
  it("every script has the same context in scalus", async () => {
    const seen = new Map<string, number>();
    const different: string[] = [];
    for (const transition of transitions(vectors("ledger-conformance"), cases(3, 1))) {
      await follow(transition, ({ transaction, utxos, parameters }) => {
        for (const run of probed(transaction, utxos, slots)) {
          const kind = `V${run.language} ${run.pointer.purpose}`;
          seen.set(kind, (seen.get(kind) ?? 0) + 1);
          const found = difference(run, parameters.protocolVersion.major);
          if (found) different.push(`${transition.name} ${kind} ${found}`);
        }
      });
    }
    const runs = [...seen.values()].reduce((sum, count) => sum + count, 0);
    console.log(`script contexts of ${runs} runs compared:`, Object.fromEntries(seen));
    expect(different).toEqual([]);
    expect(runs).toBeGreaterThan(cases(15, 110));
  });
});

describe("in drafted transactions", () => {
  const hashes = { 1: plutusHash(1, agreesWithThree), 2: plutusHash(2, agreesWithThree), 3: plutusHash(3, agrees) };
  const minted = { 1: plutusHash(1, agreesWithTwo), 2: plutusHash(2, agreesWithTwo), 3: hashes[3] };
  /** Everything that all languages can represent, with scripts of one. */
  const rich = (language: 1 | 2 | 3, world: World): Draft => {
    const mint = minted[language];
    const spent = atScript(hashes[language]);
    const assets = new Map([[asset(mint), 5n], ["52".repeat(28) + "ff", 1n], ["52".repeat(28), 2n]]);
    return {
      inputs: [
        world.fund(spent, 5n * ada, { datumHash: datumHash([1n, 2n]), assets }),
        world.fund(alice.address),
        world.fund(spent, 6n * ada, { datumHash: datumHash(7n) }),
      ],
      outputs: [
        output(bob.address, 2n * ada, { datumHash: datumHash(7n) }),
        ...(language > 1
          ? [output(bob.address, 2n * ada, { datum: new Map([[1n, [2n]]]), script: [1, agreesWithTwo] })]
          : []),
      ],
      mint: new Map([[asset(mint), -2n], [nativeHash(signedBy(alice)) + "aa", 3n]]),
      certificates: [[0, [0, fromHex(alice.stakeHash)]], [2, [1, fromHex(mint)], new Uint8Array(28).fill(9)]],
      // only one: scalus 0.17 orders keys and scripts by their hashes
      withdrawals: [[Uint8Array.of(0xf0, ...fromHex(mint)), 3n]],
      datums: [7n, [1n, 2n]],
      fields: { 3: 2_000, 8: 5, 14: [new Uint8Array(28).fill(8), fromHex(alice.hash)] },
      native: [signedBy(alice)],
      plutus: { [language]: language === 3 ? [agrees] : [agreesWithThree, agreesWithTwo] },
      redeemers: [[0, 0], [0, 2], [1, 1], [2, 1], [3, 0]],
    };
  };
  it.each([1, 2, 3] as const)("scripts of Plutus V%s have the same context", (language) => {
    const world = new World();
    const bytes = world.write(rich(language, world));
    const utxos = read(bytes).body.inputs.map((ref) => ({ ref, output: world.outputs.get(refKey(ref))! }));
    const runs = probed(bytes, utxos, slots);
    expect(runs.map(({ pointer }) => pointer.purpose).sort()).toEqual(["cert", "mint", "reward", "spend", "spend"]);
    expect(runs.map((run) => difference(run, 10))).toEqual(new Array(5).fill(undefined));
  });

  it("votes, certificates of Conway and the treasury are the same", () => {
    const world = new World();
    const script = fromHex(hashes[3]);
    const anchor: Encodable = ["https://example.org", new Uint8Array(32)];
    const votes = new Map<Encodable, Encodable>([[
      [3, script],
      new Map<Encodable, Encodable>([[[new Uint8Array(32).fill(3), 1], [2, anchor]], [[new Uint8Array(32), 1], [
        0,
        null,
      ]]]),
    ]]);
    const certificates: Encodable[] = [
      [7, [1, script], 2],
      [8, [1, script], 2],
      [13, [1, script], new Uint8Array(28), [2], 3],
      [16, [1, script], 4, anchor],
      [18, [1, script], null],
      [17, [1, script], 4],
      [14, [1, script], [0, new Uint8Array(28)]],
    ];
    const bytes = world.write({
      certificates,
      fields: { 19: votes, 21: 7, 22: 8 },
      plutus: { 3: [agrees] },
      redeemers: [[2, 0], [2, 1], [2, 2], [2, 3], [2, 4], [2, 5], [2, 6], [4, 0]],
    });
    const utxos = read(bytes).body.inputs.map((ref) => ({ ref, output: world.outputs.get(refKey(ref))! }));
    const runs = probed(bytes, utxos, slots);
    expect(runs.map((run) => difference(run, 10))).toEqual(new Array(8).fill(undefined));
  });

  it("pointers of addresses, and withdrawals of keys and scripts together, are the same in aiken; scalus 0.17 omits pointers", () => {
    const world = new World();
    const pointing = toHex(concat(Uint8Array.of(0x40), fromHex(bob.hash), Uint8Array.of(1, 2, 3)));
    const inputs = [world.fund(atScript(hashes[3])), world.fund(pointing, 100n * ada)];
    const pointer = ".0.0.0.1.1.0.1: d8799f" + "d87a9f010203ff" + "ff and d87a80";
    const both = [Uint8Array.of(0xf0, ...fromHex(hashes[3])), alice.reward] as const;
    const draft: Draft = { inputs, plutus: { 3: [agrees] }, redeemers: [[0, 0]] };
    const [alone] = probed(world.write(draft), inputs, slots);
    expect(difference(alone!, 10)).toBe(pointer);
    const withdrawing = {
      ...draft,
      withdrawals: [[both[0], 3n], [both[1], 4n]] as const,
      redeemers: [[0, 0], [3, 0]] as const,
    };
    const runs = [alone!, ...probed(world.write(withdrawing), inputs, slots)];
    expect(runs).toHaveLength(3);
    for (const run of runs) {
      const traced = tracedBySecond(run.transaction.bytes, run.utxos, slots)!;
      expect(difference({ ...run, shown: decodeData(fromHex(traced)) as readonly Data[] }, 10)).toBeUndefined();
    }
  });
});

describe("in the contract's transactions", () => {
  const TOKEN = "5a".repeat(32);
  const requests = [requestFields(TOKEN, "a", op.insert("1")), requestFields(TOKEN, "b", op.insert("2"))];
  const honest = updating(TOKEN, requests);
  const seed = coin(owner.enterprise, 60_000_000n);
  const token = tokenName(seed.ref);
  const birth: Whole = {
    spends: [{ utxo: seed }],
    outputs: [stateOf(token, fromHex(EMPTY_ROOT)), changing],
    mint: new Map([[policy + token, 1n]]),
    seed: seed.ref,
    signers: [owner.key],
  };
  const back: Whole = {
    spends: [{ utxo: requests[0]!.utxo, redeemer: { type: "retract" } }, paying],
    outputs: [changing],
    signers: [requester.key],
  };
  it.each<[string, Whole, boolean]>([
    ["a boot", birth, true],
    ["another person's boot", { ...birth, signers: [requester.key] }, false],
    ["one that mints more", { ...birth, mint: new Map([[policy + token, 2n]]) }, false],
    ["an update", honest.whole, true],
    ["an update by another", { ...honest.whole, signers: [requester.key] }, false],
    ["an update without refunds", { ...honest.whole, outputs: honest.whole.outputs.slice(0, 1) }, false],
    ["a retracted request", back, true],
    ["one retracted by another person", { ...back, signers: [owner.key] }, false],
  ])("%s: contexts, verdict and units are the same", (_, whole, agreed) => {
    const bytes = encodeTransaction(partsOf(whole, { fee: 1_000_000n }));
    const utxos = [...whole.spends.map(({ utxo }) => utxo), published];
    for (const run of probed(bytes, utxos, contractSlots)) expect(difference(run, 10, contractSlots)).toBeUndefined();

    const evaluation = evaluateScripts({ transaction: bytes, utxos, parameters, slots: contractSlots });
    const transaction = read(bytes);
    const made = translate(3, {
      transaction,
      resolved: resolvedOf(utxos),
      time: posixTime(contractSlots),
      protocolMajor: 10,
    });
    if (!made.ok) throw new Error(made.error.reason);
    const runs = transaction.witnesses.redeemers.map((redeemer) => {
      const args = made.value(redeemer);
      if (!args.ok) throw new Error(args.error.reason);
      const program = appliedTo(theBuild().script.compiledCode, args.value);
      const { isSuccess, budget } = scalus.Scalus.evaluateScript(toHex(encode(program)));
      const units = {
        memory: BigInt(budget.memory) - AROUND.memory,
        steps: BigInt(budget.steps) - AROUND.steps,
      };
      return { isSuccess, purpose: redeemer.purpose, index: redeemer.index, units };
    });
    expect(runs.every(({ isSuccess }) => isSuccess)).toBe(agreed);
    expect(evaluation.ok).toBe(agreed);
    if (evaluation.ok) {
      const text = ({ purpose, index, units }: { purpose: string; index: number; units: (typeof runs)[0]["units"] }) =>
        `${purpose} ${index}: ${units.memory}/${units.steps}`;
      expect(runs.map(text).sort()).toEqual(evaluation.redeemers.map(text).sort());
    }
  });
});
