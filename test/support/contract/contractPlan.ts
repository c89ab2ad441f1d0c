/**
 * Plans of transactions around one token, and the contract's verdict on a whole plan: every script in it must accept.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { Constr, constr, type Data } from "#src/cardano/data.ts";
import { validator } from "#src/contract/validator/validator.ts";
import { changeOf, type Operation } from "#src/contract/datum.ts";
import { type Action, spendData } from "#src/contract/redeemer.ts";
import { Forestry } from "#src/forestry/trie.ts";
import { compareBytes, concat, utf8 } from "#src/base/bytes.ts";
import {
  fill,
  input,
  keyAt,
  minting,
  mintingOf,
  output,
  reference,
  REFUSE,
  run,
  scriptAt,
  spending,
  spendingOf,
  value,
} from "./scriptContext.ts";
import { sameData } from "../plutus/uplcJavascript.ts";

export const POLICY = fill(1);
export const OWNER = fill(2);
export const ALICE = fill(3);
export const BOB = fill(4);
export const MALLORY = fill(5);
export const SEED = reference(50, 1);
export const NAME = sha256(concat(fill(50, 32), Uint8Array.of(0, 1)));
export const OTHER_NAME = sha256(concat(fill(51, 32), Uint8Array.of(0, 0)));
export const EMPTY = new Uint8Array(32);

/** An input of a plan; `redeemer` where a script must accept it. */
export interface Spend {
  readonly input: Data;
  readonly redeemer?: Data;
}

/** A transaction; its inputs are put into the ledger's order automatically. */
export interface Plan {
  readonly spends: readonly Spend[];
  readonly outputs: readonly Data[];
  readonly mint?: Data;
  readonly mintRedeemer?: Data;
  readonly signers: readonly Uint8Array[];
  /** Purposes of other scripts that run in addition to those of the plan's own inputs and mint. */
  readonly others?: readonly Data[];
}

/** The ledger's order of inputs. */
export function order(a: Spend, b: Spend): number {
  const [x, y] = [a, b].map((spend) => (spend.input as Constr).fields[0] as Constr);
  const byHash = compareBytes(x!.fields[0] as Uint8Array, y!.fields[0] as Uint8Array);
  return byHash || Number((x!.fields[1] as bigint) - (y!.fields[1] as bigint));
}

/** Whether an input is at the script's address, with any stake part. */
export function isOurs(spend: Spend): boolean {
  const address = ((spend.input as Constr).fields[1] as Constr).fields[0] as Constr;
  return sameData(address.fields[0]!, constr(1, POLICY));
}

/**
 * "accepted", or the refusal of the first script that refused its context; `refusal` runs one script, and those of
 * inputs that are `urgent` run first.
 * @throws Error if an input of the script has no redeemer
 */
export function verdictBy(
  plan: Plan,
  refusal: (context: Data) => string | undefined,
  urgent: (spend: Spend) => boolean = () => false,
): string {
  const spends = [...plan.spends].sort(order);
  const tx = {
    inputs: spends.map((spend) => spend.input),
    outputs: plan.outputs,
    signers: plan.signers,
    // in the ledger's order: inputs, then policies
    runs: [
      ...spends.flatMap(({ input, redeemer }) =>
        redeemer === undefined ? [] : [[spendingOf(input), redeemer] as const]
      ),
      ...(plan.mintRedeemer === undefined ? [] : [[mintingOf(POLICY), plan.mintRedeemer] as const]),
      ...(plan.others ?? []).map((purpose) => [purpose, 0n] as const),
    ],
    ...(plan.mint === undefined ? {} : { mint: plan.mint }),
  };
  const ours = spends.filter(isOurs);
  for (const spend of [...ours.filter(urgent), ...ours.filter((one) => !urgent(one))]) {
    if (spend.redeemer === undefined) throw new TypeError("an input of the script without a redeemer");
    const said = refusal(spending(tx, spend.input, spend.redeemer));
    if (said !== undefined) return said;
  }
  const said = plan.mintRedeemer === undefined ? undefined : refusal(minting(tx, POLICY, plan.mintRedeemer));
  return said ?? "accepted";
}

/** `verdictBy` with the product's machine. */
export function verdict(plan: Plan): string {
  return verdictBy(plan, (context) => {
    const result = run(validator, context);
    return result.ok ? undefined : result.message;
  });
}

export const SCRIPT = scriptAt(POLICY);
export const WALLET = keyAt(OWNER, fill(12));

export function stateDatum(root: Uint8Array, owner = OWNER): Data {
  return constr(1, constr(0, owner, root));
}

/** The state of a token as an output. */
export function stateOutput(
  root: Uint8Array,
  { owner = OWNER, name = NAME, address = SCRIPT, lovelace = 2_000_000n } = {},
) {
  return output(address, value(lovelace, [POLICY, name, 1n]), stateDatum(root, owner));
}

export interface RequestSpec {
  readonly key?: string;
  readonly operation?: Operation;
  /** Address as data. */
  readonly refund?: Data;
  readonly requester?: Uint8Array;
  readonly fee?: bigint;
  readonly locked?: bigint;
  readonly name?: Uint8Array;
  readonly policy?: Uint8Array;
  /** First byte of its transaction id, which determines its position among the inputs. */
  readonly id?: number;
  readonly address?: Data;
  readonly value?: Data;
  readonly datum?: Data;
  /** Whether an update refuses it. */
  readonly refused?: boolean;
}

export function insertion(text: string): Operation {
  return { type: "insert", value: utf8(text) };
}

function operationData(operation: Operation): Data {
  if (operation.type === "update") return constr(2, operation.old, operation.value);
  return constr(operation.type === "insert" ? 0 : 1, operation.value);
}

export function refundOf(spec: RequestSpec): Data {
  return spec.refund ?? keyAt(spec.requester ?? ALICE);
}

export function requestDatum(spec: RequestSpec): Data {
  const token = constr(0, spec.policy ?? POLICY, spec.name ?? NAME);
  const operation = operationData(spec.operation ?? insertion("v"));
  return constr(0, constr(0, token, refundOf(spec), spec.fee ?? 500_000n, utf8(spec.key ?? "k"), operation));
}

export function requestInput(spec: RequestSpec): Data {
  const held = spec.value ?? value(spec.locked ?? 2_000_000n);
  return input(
    reference(spec.id ?? 61),
    output(spec.address ?? SCRIPT, held, spec.datum ?? requestDatum(spec)),
  );
}

export const CONTRIBUTE = spendData({ type: "contribute" });
export const RETRACT = spendData({ type: "retract" });
export const END = spendData({ type: "end" });

export function modifying(actions: readonly Action[], crown?: Uint8Array): Data {
  return spendData(crown ? { type: "modify", actions, crown } : { type: "modify", actions });
}

/** The refund of a request. */
export function owed(spec: RequestSpec): Data {
  return output(refundOf(spec), value((spec.locked ?? 2_000_000n) - (spec.refused ? 0n : spec.fee ?? 500_000n)));
}

/** An output of the owner's that pays for a transaction. */
export const feeInput: Spend = { input: input(reference(220), output(WALLET, value(100_000_000n))) };
export const stateReference = reference(200);

/** An honest update of a token by requests, in the order of their ids. */
export interface Update extends Plan {
  readonly before: Uint8Array;
  readonly after: Uint8Array;
  readonly actions: readonly Action[];
  readonly requests: readonly Spend[];
  readonly state: Spend;
}

export function update(specs: readonly RequestSpec[], facts: Forestry = new Forestry()): Update {
  const trie = facts.copy();
  const before = trie.root;
  const actions = specs.map((spec): Action => {
    if (spec.refused) return { type: "refuse" };
    const proof = trie.apply(changeOf(utf8(spec.key ?? "k"), spec.operation ?? insertion("v")));
    if (!proof.ok) throw new Error(proof.error.message);
    return { type: "apply", proof: proof.value };
  });
  const after = trie.root;
  const requests = specs.map((spec): Spend => ({
    input: requestInput(spec),
    redeemer: spec.refused ? REFUSE : CONTRIBUTE,
  }));
  const state: Spend = { input: input(stateReference, stateOutput(before)), redeemer: modifying(actions) };
  return {
    before,
    after,
    actions,
    requests,
    state,
    spends: [...requests, state, feeInput],
    outputs: [stateOutput(after), ...specs.map(owed), output(WALLET, value(90_000_000n))],
    signers: [OWNER],
  };
}
