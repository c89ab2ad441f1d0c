/**
 * Attempts of a second reviewer beyond the known attacks: each is a real run of the script, most with a control that
 * differs in one thing.
 */
import { describe, expect, it } from "vitest";
import { concat, fromHex, toHex, utf8 } from "#src/base/bytes.ts";
import { encode } from "#src/cardano/cbor.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { Constr, constr, type Data, encodeData } from "#src/cardano/data.ts";
import { type OutRef, refKey, type Utxo } from "#src/cardano/output.ts";
import { encodeTransaction, type Redeemer, type TransactionParts } from "#src/cardano/transaction.ts";
import { lovelace } from "#src/cardano/value.ts";
import { EMPTY_ROOT, tokenName } from "#src/contract/datum.ts";
import { spendRedeemers } from "#src/tokens/index/redeemers.ts";
import { scriptHash } from "#src/contract/uplc/program.ts";
import { mainnetParameters as parameters } from "#src/ledger/parameters.ts";
import { evaluateScripts } from "#src/plutus/evaluate.ts";
import { proofData, type Step } from "#src/forestry/proof.ts";
import { Forestry, leafOf } from "#src/forestry/trie.ts";
import { op, published, slots } from "../../support/contract/contractLedger.ts";
import { scriptFollows } from "../../support/contract/scriptProof.ts";
import { coin, person, utxo } from "../../support/wallets/person.ts";
import {
  alice,
  bob,
  changing,
  owner,
  partsOf,
  paying,
  policy,
  requestFields,
  stateOf,
  updating,
  type Whole,
  yes,
} from "../../support/contract/wholeTransaction.ts";

const TOKEN = "5a".repeat(32);
const OTHER = "5b".repeat(32);
const FOREIGN = scriptHash(yes);
const UNITS = { memory: 1n, steps: 1n };
const empty = fromHex(EMPTY_ROOT);
const mallory = person("mallory");

interface More {
  /** Reference inputs. */
  readonly reads?: readonly Utxo[];
  readonly parts?: Partial<TransactionParts>;
  readonly redeemers?: readonly Redeemer[];
}

function bytesOf(whole: Whole, { reads = [], parts = {}, redeemers = [] }: More = {}): Uint8Array {
  const made = partsOf(whole, { fee: 1_000_000n });
  const references: OutRef[] = [...made.references, ...reads.map(({ ref }) => ref)];
  return encodeTransaction({ ...made, references, redeemers: [...made.redeemers, ...redeemers], ...parts });
}

/** Whether all scripts of a transaction accept. */
function agreed(whole: Whole, more: More = {}): boolean {
  const known = [...whole.spends.map(({ utxo }) => utxo), ...(more.reads ?? []), published];
  const run = evaluateScripts({ transaction: bytesOf(whole, more), utxos: known, parameters, slots });
  // a script that refuses says so; anything else would be no verdict
  if (!run.ok) expect(run.message).toMatch(/[Ee]rror|evaluat|fail/);
  return run.ok;
}

const requests = [
  requestFields(TOKEN, "a", op.insert("1")),
  requestFields(TOKEN, "b", op.insert("2"), { refund: { payment: bob.key } }),
];
const honest = updating(TOKEN, requests);
const contributing = { utxo: requests[0]!.utxo, redeemer: { type: "contribute" as const } };

describe("outputs that are only read", () => {
  it("are no update for a request", () => {
    const reads = [honest.state];
    const by: Whole = { spends: [paying], outputs: [changing], signers: [mallory.key] };
    expect(agreed({ ...by, spends: [paying, contributing] }, { reads })).toBe(false);
    expect(agreed({ ...by, spends: [paying, contributing], outputs: [stateOf(OTHER, empty)] }, { reads })).toBe(false);
    expect(agreed({ ...honest.whole, spends: [...honest.whole.spends] }, { reads: [utxo(stateOf(OTHER, empty))] }))
      .toBe(true);
  });
  it("are no seed of a boot", () => {
    const seed = coin(owner.enterprise, 60_000_000n);
    const named = tokenName(seed.ref);
    const birth: Whole = {
      spends: [{ utxo: seed }],
      outputs: [stateOf(named, empty), changing],
      mint: new Map([[policy + named, 1n]]),
      seed: seed.ref,
      signers: [owner.key],
    };
    expect(agreed(birth)).toBe(true);
    expect(agreed({ ...birth, spends: [paying] }, { reads: [seed] })).toBe(false);
  });
  it("are applied by no update", () => {
    const [read, spent] = requests as [typeof requests[0], typeof requests[0]];
    const plan = updating(TOKEN, [spent!]);
    expect(agreed(plan.whole, { reads: [read!.utxo] })).toBe(true);
    const spends = [honest.modified(honest.actions), ...plan.contributed, paying];
    expect(agreed({ ...honest.whole, spends }, { reads: [read!.utxo] })).toBe(false);
  });
});

describe("other purposes", () => {
  const account = (hash: string) => `f0${hash}`;
  const withdrawing = (hash: string): More => ({
    parts: { withdrawals: [{ account: account(hash), amount: 0n }], ...(hash === FOREIGN ? { scripts: [yes] } : {}) },
    redeemers: [{ for: { purpose: "reward", account: account(hash) }, data: encodeData(constr(1)), units: UNITS }],
  });
  const back: Whole = {
    spends: [{ utxo: requests[0]!.utxo, redeemer: { type: "retract" } }, paying],
    outputs: [changing],
    signers: [alice.key],
  };
  it("are not the contract's: it withdraws nothing", () => {
    expect(agreed(back)).toBe(true);
    expect(agreed(back, withdrawing(policy))).toBe(false);
    expect(agreed(honest.whole, withdrawing(policy))).toBe(false);
  });
  it("do not count refunds: another script's withdrawal of zero may run with a retraction, not with an update", () => {
    expect(agreed(back, withdrawing(FOREIGN))).toBe(true);
    expect(agreed(honest.whole)).toBe(true);
    expect(agreed(honest.whole, withdrawing(FOREIGN))).toBe(false);
  });
  it("are no certificates of its own stake key, except the registration that needs no script", () => {
    const credential = [1, fromHex(policy)];
    const certificate = (...fields: Parameters<typeof encode>[0][]): More => ({
      parts: { certificates: [encode(fields)] },
      redeemers: [{ for: { purpose: "cert", index: 0 }, data: encodeData(constr(1)), units: UNITS }],
    });
    expect(agreed(honest.whole, { parts: { certificates: [encode([0, credential])] } })).toBe(true);
    const foreign = certificate(7, [1, fromHex(FOREIGN)], 2_000_000);
    expect(agreed(back, { ...foreign, parts: { ...foreign.parts, scripts: [yes] } })).toBe(true);
    expect(agreed(back, certificate(7, credential, 2_000_000))).toBe(false);
    expect(agreed(back, certificate(1, credential))).toBe(false);
    expect(agreed(back, certificate(9, credential, [2]))).toBe(false);
  });
});

describe("a request at an unusual address of the contract", () => {
  const stakes = {
    "a key's stake part": `10${policy}${owner.key}`,
    "a script's stake part": `30${policy}${policy}`,
    "a pointer": `50${policy}010203`,
    "a pointer far away": `50${policy}8fffffff7fffffff7f7f`,
  };
  it.each(Object.entries(stakes))("with %s is applied like any other, and blocks no update", (_, address) => {
    const plan = updating(TOKEN, [requestFields(TOKEN, "a", op.insert("1"), { address }), requests[1]!]);
    expect(agreed(plan.whole)).toBe(true);
    expect(agreed({ ...plan.whole, outputs: [plan.next, plan.refunds[0]!, changing] })).toBe(false);
  });
});

describe("time", () => {
  it("is ignored by the contract: an update has any validity interval", () => {
    for (const parts of [{ validFrom: 1 }, { validFrom: 900, validTo: 901 }, { validTo: undefined }]) {
      expect(agreed(honest.whole, { parts })).toBe(true);
    }
  });
});

describe("redeemers with additional fields", () => {
  it("have the same effect as without, and are decoded alike", () => {
    const data = encodedModify(
      honest.actions.map((action) => constr(0, action.type === "apply" ? proofData(action.proof) : [], 7n)),
    );
    const plan = { ...honest.whole, spends: [{ utxo: honest.state, redeemer: data }, ...honest.contributed, paying] };
    expect(agreed(plan)).toBe(true);
    const kinds = spendRedeemers(scanTransaction(bytesOf(plan)));
    expect(kinds.get(refKey(honest.state.ref))).toBe("modify");
    expect([...kinds.values()].filter((kind) => kind === "contribute").length).toBe(2);
  });
  it("are no contribution and no retraction", () => {
    const odd = (tag: number) => honest.contributed.map(({ utxo }) => ({ utxo, redeemer: constr(tag, 0n) }));
    const spends = (tag: number) => [honest.modified(honest.actions), ...odd(tag), paying];
    for (const tag of [0, 1, 2, 3, 4]) {
      expect(agreed({ ...honest.whole, spends: spends(tag), signers: [owner.key, alice.key, bob.key] })).toBe(false);
    }
  });
});

function encodedModify(list: Data[]): Constr {
  return constr(2, list, constr(9));
}

describe("one key in a batch", () => {
  it("is changed by each request in order, and not twice by one proof", () => {
    const chain = [op.insert("1"), op.update("1", "2"), op.remove("2"), op.insert("3")].map((operation, i) =>
      requestFields(TOKEN, "same", operation, { ref: { txHash: `${i + 1}`.repeat(64), index: 0 } })
    );
    const plan = updating(TOKEN, chain);
    expect(agreed(plan.whole)).toBe(true);
    expect(toHex(plan.after)).toBe(toHex(Forestry.from([leafOf(utf8("same"), utf8("3"))]).root));
    const twice = [requestFields(TOKEN, "same", op.insert("1")), requestFields(TOKEN, "same", op.insert("1"))];
    const single = updating(TOKEN, [twice[0]!]);
    const spends = [
      single.modified([...single.actions, ...single.actions]),
      ...twice.map(({ utxo }) => ({ utxo, redeemer: { type: "contribute" as const } })),
      paying,
    ];
    const outputs = [single.next, single.refunds[0]!, single.refunds[0]!, changing];
    expect(agreed({ ...single.whole, spends, outputs })).toBe(false);
  });
});

describe("an owner", () => {
  it("may take lovelace out of the state, and none of the token", () => {
    const rich = utxo({
      ...stateOf(TOKEN, empty),
      value: { lovelace: 45_000_000_000_000_000n, assets: new Map([[policy + TOKEN, 1n]]) },
    });
    const plan = updating(TOKEN, []);
    const spends = [{ utxo: rich, redeemer: { type: "modify" as const, actions: [] } }, paying];
    expect(agreed({ ...plan.whole, spends })).toBe(true);
    expect(agreed({ ...plan.whole, spends, outputs: [{ ...plan.next, value: lovelace(2_000_000n) }, changing] })).toBe(
      false,
    );
  });
});

describe("proofs with numbers and bytes beyond all limits", () => {
  const leaves = Array.from({ length: 400 }, (_, i) => leafOf(utf8(`k${i}`), utf8("v")));
  const trie = Forestry.from(leaves);
  const with_ = (type: Step["type"]) => {
    for (const [i, { path, value }] of leaves.entries()) {
      const proof = trie.prove(path);
      const at = proof.ok ? proof.value.findIndex((step) => step.type === type) : -1;
      if (!proof.ok || at < 0) continue;
      const after = trie.copy();
      after.delete(path, value);
      const steps = proofData(proof.value) as readonly Constr[];
      const says = (change: (fields: readonly Data[]) => Data[]) => {
        const changed = steps.map((step, j) => j === at ? new Constr(step.tag, change(step.fields)) : step);
        return scriptFollows(trie.root, utf8(`k${i}`), constr(1, utf8("v")), changed, after.root);
      };
      expect(says((fields) => [...fields]).ok).toBe(true);
      return says;
    }
    throw new Error(`no ${type}`);
  };
  const GREAT = [1n << 31n, 1n << 32n, 1n << 53n, (1n << 63n) - 1n, 1n << 63n, 1n << 64n, 1n << 4096n];
  it.each(["branch", "fork", "leaf"] as const)("skips of a %s", (type) => {
    const says = with_(type);
    for (const great of [...GREAT, ...GREAT.map((n) => -n)]) {
      expect(says(([skip, ...rest]) => [(skip as bigint) + great, ...rest]).ok).toBe(false);
    }
  });
  it("slots of a fork", () => {
    const says = with_("fork");
    for (const great of [...GREAT, ...GREAT.map((n) => -n), 16n, 32n, 256n, -16n, -256n]) {
      const other = (neighbor: Constr) =>
        constr(0, (neighbor.fields[0] as bigint) + great, ...neighbor.fields.slice(1));
      expect(says(([skip, neighbor]) => [skip!, other(neighbor as Constr)]).ok).toBe(false);
    }
  });
  it("a fork's prefix of more bytes than a path has nibbles, of which the contract reads the first 65", () => {
    const says = with_("fork");
    for (const [length, byte] of [[64, 0], [65, 0], [66, 255], [100, 255], [1_000, 16], [8_000, 255]] as const) {
      const longer = (neighbor: Constr) => {
        const [nibble, prefix, root] = neighbor.fields as [bigint, Uint8Array, Uint8Array];
        const tail = new Uint8Array(length - prefix.length).fill(byte, Math.max(0, 66 - prefix.length));
        return constr(0, nibble, concat(prefix, tail), root);
      };
      expect(says(([skip, neighbor]) => [skip!, longer(neighbor as Constr)]).ok).toBe(false);
    }
  });
  it("more steps than a path has nibbles", () => {
    const { path, value } = leaves[0]!;
    const proof = trie.prove(path);
    if (!proof.ok) throw new Error(proof.error.message);
    const steps = proofData(proof.value) as readonly Data[];
    const after = trie.copy();
    after.delete(path, value);
    for (const times of [2, 30, 65]) {
      const many = Array.from({ length: times }, () => steps).flat();
      expect(scriptFollows(trie.root, utf8("k0"), constr(1, utf8("v")), many, after.root).ok).toBe(false);
    }
  });
});
