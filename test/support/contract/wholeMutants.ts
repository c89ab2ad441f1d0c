/**
 * Complete signed updates with one harmful change, which the ledger's rules must refuse because of the scripts alone.
 */
import { fromHex, toHex, utf8 } from "#src/base/bytes.ts";
import { baseAddress, scriptAddress } from "#src/cardano/address.ts";
import type { NewOutput } from "#src/cardano/transaction.ts";
import { lovelace } from "#src/cardano/value.ts";
import type { Action } from "#src/contract/redeemer.ts";
import { Forestry, leafOf } from "#src/forestry/trie.ts";
import { rootWith, rootWithout } from "#src/forestry/verify.ts";
import { op } from "./contractLedger.ts";
import { theBuild } from "./contractBuild.ts";
import { judged } from "./judgedTransaction.ts";
import { bend, crowds, dice, flip, type Roll } from "./proofFuzz.ts";
import {
  alice,
  bob,
  owner,
  policy,
  type RequestFields,
  requestFields,
  stateOf,
  updating,
  type Whole,
} from "./wholeTransaction.ts";

const TOKEN = "5a".repeat(32);

/** Result of a run. */
export interface WholeMutantCounts {
  refused: number;
  /** Changed proofs that prove the same. */
  equivalent: number;
  readonly violations: string[];
}

type Honest = ReturnType<typeof updating> & { readonly requests: readonly RequestFields[]; readonly facts: Forestry };

let groups: string[][] | undefined;

function honest(roll: Roll): Honest {
  groups ??= crowds();
  const keys = [...groups[roll(groups.length)]!.slice(0, 4), ...groups[roll(groups.length)]!.slice(0, 1 + roll(5))];
  const facts = Forestry.from([...new Set(keys)].map((key) => leafOf(utf8(key), utf8("v"))));
  const [a, b] = keys as [string, string];
  const requests = [
    requestFields(TOKEN, a, roll(2) === 0 ? op.remove("v") : op.update("v", "w"), { refund: { payment: alice.key } }),
    ...(roll(2) === 0 ? [] : [requestFields(TOKEN, b, op.remove("v"), { refund: { payment: bob.key } })]),
    ...(roll(2) === 0 ? [] : [requestFields(TOKEN, `new ${roll(1_000_000)}`, op.insert("v"))]),
    ...(theBuild().name !== "3.0.0" || roll(2) === 0
      ? []
      : [{ ...requestFields(TOKEN, b, op.insert("junk")), refused: true }]),
  ].sort((x, y) => x.utxo.ref.txHash < y.utxo.ref.txHash ? -1 : 1);
  return { ...updating(TOKEN, requests, facts), requests, facts };
}

/** A transaction with a harmful change; undefined if the change has no effect. */
function worse(plan: Honest, roll: Roll): Whole | undefined {
  const { whole, next, refunds, after } = plan;
  const outputs = (...changed: NewOutput[]): Whole => ({
    ...whole,
    outputs: [...changed, ...whole.outputs.slice(changed.length)],
  });
  const staked = baseAddress(0, { kind: "script", hash: policy }, { kind: "key", hash: owner.key }).hex;
  const [refund] = refunds as [NewOutput];
  switch (roll(10)) {
    case 0:
      return outputs(stateOf(TOKEN, flip(after, roll)));
    case 1:
      return outputs(
        stateOf(TOKEN, after, owner.key, [staked, owner.enterprise, scriptAddress(0, "08".repeat(28)).hex][roll(3)]),
      );
    case 2:
      return outputs(stateOf(TOKEN, after, toHex(flip(fromHex(owner.key), roll))));
    case 3:
      return outputs(next, { ...refund, value: lovelace(refund.value.lovelace - 1n - BigInt(roll(400_000))) });
    case 4:
      return outputs(next, { ...refund, address: [owner.enterprise, alice.base, bob.base][roll(3)]! });
    case 5:
      return { ...whole, signers: [alice.key] };
    default:
      return bentProof(plan, roll);
  }
}

function bentProof({ whole, actions, modified, requests, facts }: Honest, roll: Roll): Whole | undefined {
  const at = roll(actions.length);
  const action = actions[at]!;
  if (action.type !== "apply" || action.proof.length === 0) return undefined;
  const proof = bend(action.proof, roll);
  const before = facts.copy();
  for (const { key, operation, refused } of requests.slice(0, at)) {
    if (refused) continue;
    const { path, value } = leafOf(utf8(key), operation.value);
    if (operation.type === "insert") before.insert(path, value);
    else if (operation.type === "delete") before.delete(path, value);
    else before.update(path, leafOf(utf8(key), operation.old).value, value);
  }
  const { key, operation } = requests[at]!;
  const { path, value } = leafOf(utf8(key), operation.type === "update" ? operation.old : operation.value);
  const found = operation.type === "insert" ? rootWithout(path, proof) : rootWith(path, value, proof);
  if (found && toHex(found) === toHex(before.root)) return undefined;
  const changed = actions.map((one, i): Action => i === at ? { type: "apply", proof } : one);
  return { ...whole, spends: [modified(changed), ...whole.spends.slice(1)] };
}

/** Has the ledger judge such transactions until `until` returns true. */
export async function worsen(seed: number, until: (harvest: WholeMutantCounts) => boolean): Promise<WholeMutantCounts> {
  const roll = dice(seed);
  const harvest: WholeMutantCounts = { refused: 0, equivalent: 0, violations: [] };
  for (let made = 0, plan = honest(roll); !until(harvest); made++) {
    if (made % 16 === 0) {
      plan = honest(roll);
      const said = await judged(plan.whole);
      if (said.length > 0) harvest.violations.push(`an honest transaction is refused: ${JSON.stringify(said[0])}`);
    }
    const whole = worse(plan, roll);
    if (!whole) {
      harvest.equivalent++;
      continue;
    }
    const [failure, ...others] = await judged(whole);
    const byScripts = failure?.name === "ValidationTagMismatch" && others.length === 0;
    if (byScripts) harvest.refused++;
    else harvest.violations.push(`${failure?.name ?? "accepted"} (seed ${seed}, after ${harvest.refused})`);
    if (harvest.violations.length > 20) break;
  }
  return harvest;
}
