/**
 * Transactions of the contract with random changes: proofs, redeemers, datums, outputs, values, signers, inputs, mints.
 * Every script of each is run. A mutant that they refuse is counted; one that they accept must keep all promises, and
 * then it was as valid as its original.
 */
import { toHex, utf8 } from "#src/base/bytes.ts";
import { Constr, constr, type Data, DataMap } from "#src/cardano/data.ts";
import { validator } from "#src/contract/validator/validator.ts";
import type { Action } from "#src/contract/redeemer.ts";
import {
  ALICE,
  BOB,
  CONTRIBUTE,
  EMPTY,
  END,
  isOurs,
  MALLORY,
  modifying,
  NAME,
  OTHER_NAME,
  OWNER,
  type Plan,
  POLICY,
  requestInput,
  RETRACT,
  SCRIPT,
  SEED,
  type Spend,
  stateOutput,
  verdict,
  verdictBy,
  WALLET,
} from "./contractPlan.ts";
import { theBuild } from "./contractBuild.ts";
import { judge } from "./contractPromises.ts";
import { pick, requesters, type Scenario, scenario } from "./contractScenarios.ts";
import { bend, dice, flip, resize, type Roll } from "./proofFuzz.ts";
import { asVersion3, fill, input, keyAt, minted, output, reference, REFUSE, scriptAt, value } from "./scriptContext.ts";
import { Failed, machine, sameData } from "../plutus/uplcJavascript.ts";

const NUMBERS = [
  0n,
  1n,
  -1n,
  2n,
  15n,
  16n,
  17n,
  63n,
  64n,
  65n,
  127n,
  255n,
  256n,
  1n << 31n,
  1n << 63n,
  1n << 64n,
  -(1n << 64n),
];
const KEYS = [OWNER, ALICE, BOB, MALLORY, POLICY, fill(13)];

/** Data with one random node changed. */
function mutated(data: Data, roll: Roll): Data {
  if (data instanceof Constr && data.fields.length > 0 && roll(5) > 0) {
    const at = roll(data.fields.length);
    return new Constr(data.tag, data.fields.map((field, i) => i === at ? mutated(field, roll) : field));
  }
  if (Array.isArray(data) && data.length > 0 && roll(4) > 0) {
    const at = roll(data.length);
    return (data as Data[]).map((one, i) => i === at ? mutated(one, roll) : one);
  }
  if (roll(12) === 0) return pick<Data>(roll, [5n, utf8("x"), constr(0), [], new DataMap([]), constr(1), EMPTY, data]);
  if (typeof data === "bigint") return roll(2) === 0 ? data + pick(roll, [1n, -1n, 1_000_000n]) : pick(roll, NUMBERS);
  if (data instanceof Uint8Array) {
    const by = roll(4);
    return by === 0 ? resize(data, roll) : by === 1 ? pick(roll, [...KEYS, NAME, OTHER_NAME, EMPTY]) : flip(data, roll);
  }
  if (data instanceof Constr) {
    const { tag, fields } = data;
    const by = roll(4);
    if (by === 0) return new Constr(pick(roll, [0, 1, 2, 3, 4, 7, 127]), fields);
    return new Constr(tag, by === 1 ? [...fields, 0n] : by === 2 ? fields.slice(0, -1) : [...fields].reverse());
  }
  return Array.isArray(data) ? shuffled(data as Data[], roll) : data;
}

/** A list with an element removed, duplicated, exchanged with another, or unchanged. */
function shuffled<T>(list: readonly T[], roll: Roll): T[] {
  const out = [...list];
  const [a, b] = [roll(out.length || 1), roll(out.length || 1)];
  const by = roll(8);
  if (out.length === 0) return out;
  if (by < 3) out.splice(a, 1);
  else if (by < 5) out.splice(b, 0, out[a]!);
  else if (by < 7) [out[a], out[b]] = [out[b]!, out[a]!];
  else out.length = 0;
  return out;
}

const ADDRESSES = [
  WALLET,
  SCRIPT,
  ...KEYS.map((key) => keyAt(key)),
  keyAt(ALICE, fill(13)),
  scriptAt(POLICY, OWNER),
  scriptAt(fill(8)),
];

function mutatedAddress(address: Data, roll: Roll): Data {
  const [payment, stake] = (address as Constr).fields as [Constr, Data];
  if (roll(3) === 0) {
    return constr(0, payment, pick(roll, [constr(1), constr(0, constr(0, constr(roll(2), fill(13))))]));
  }
  const [hash] = payment.fields as [Uint8Array];
  return constr(
    0,
    roll(2) === 0 ? constr(1 - Number(payment.tag), hash) : constr(payment.tag, flip(hash, roll)),
    stake,
  );
}

/** An output that the ledger allows, with one part changed. */
function mutatedOutput(data: Data, roll: Roll): Data {
  const [address, held, datum, script] = (data as Constr).fields as [Data, DataMap, Constr, Data];
  switch (roll(6)) {
    case 0:
      return constr(0, roll(2) === 0 ? pick(roll, ADDRESSES) : mutatedAddress(address, roll), held, datum, script);
    case 1:
    case 2:
      return constr(0, address, mutatedValue(held, roll), datum, script);
    case 3: {
      const other = roll(3) === 0
        ? pick<Data>(roll, [constr(0), constr(1, fill(3, 32)), constr(2, 0n)])
        : mutated(datum, roll);
      return constr(0, address, held, other instanceof Constr && other.tag < 3 ? other : constr(0), script);
    }
    case 4:
      return constr(0, address, held, datum, constr(0, fill(7)));
    default:
      return constr(
        0,
        address,
        mutatedValue(held, roll),
        mutated(datum, roll) instanceof Constr ? datum : constr(0),
        script,
      );
  }
}

function mutatedValue({ entries }: DataMap, roll: Roll): DataMap {
  const [ada, ...rest] = entries;
  const more = BigInt(pick(roll, [1, -1, 100_000, -100_000, 1_000_000, -1_000_000, 1_999_999]));
  const lovelace = (ada![1] as DataMap).entries[0]![1] as bigint + more;
  const others: [Data, Data][] = rest.map(([policy, names]) => [policy, names]);
  switch (roll(5)) {
    case 0:
      return new DataMap([ada!, ...others, [fill(9), new DataMap([[fill(1, 3), 1n]])]]);
    case 1:
      return new DataMap([ada!, ...others.slice(1)]);
    case 2:
      return new DataMap([ada!, [POLICY, new DataMap([[pick(roll, [NAME, OTHER_NAME]), BigInt(1 + roll(2))]])]]);
    default:
      return new DataMap([[ada![0], new DataMap([[new Uint8Array(0), lovelace < 0n ? 0n : lovelace]])], ...others]);
  }
}

function mutatedMint(roll: Roll): Data {
  const policy = () => pick(roll, [POLICY, POLICY, POLICY, fill(9)]);
  const asset = () =>
    [policy(), pick(roll, [NAME, OTHER_NAME]), pick(roll, [1n, -1n, 2n, -2n, 1000n, 1n << 62n])] as const;
  // no duplicate name under a policy: no ledger has that, and machines read it differently
  const assets = new Map(Array.from({ length: roll(3) }, asset).map((one) => [toHex(one[0]) + toHex(one[1]), one]));
  return minted(...assets.values());
}

/** Inputs that an attacker might add to others. */
function another(roll: Roll): Spend {
  const id = pick(roll, [1, 59, 62, 100, 199, 201, 251]);
  const redeemer = pick(roll, [CONTRIBUTE, RETRACT, REFUSE, END, modifying([])]);
  const ref = reference(id);
  switch (roll(6)) {
    case 0:
      return {
        input: input(ref, stateOutput(EMPTY, { name: OTHER_NAME, owner: pick(roll, [OWNER, MALLORY]) })),
        redeemer,
      };
    case 1:
      return { input: input(ref, output(SCRIPT, value(2_000_000n))), redeemer };
    case 2:
      return { input: input(ref, output(scriptAt(fill(8)), value(2_000_000n))), ...(roll(2) ? { redeemer } : {}) };
    case 3:
      return { input: input(ref, output(keyAt(MALLORY), value(2_000_000n, [fill(9), NAME, 1n]))) };
    default: {
      const spec = {
        id,
        key: pick(roll, ["a", "y"]),
        requester: pick(roll, requesters),
        name: pick(roll, [NAME, OTHER_NAME]),
      };
      return { input: requestInput(spec), redeemer };
    }
  }
}

const changeAt = <T>(list: readonly T[], at: number, to: (one: T) => T) =>
  list.map((one, i) => i === at ? to(one) : one);
const isUpdate = ({ redeemer }: Spend) => redeemer instanceof Constr && (redeemer.tag === 2 || redeemer.tag === 4);

function mutatedSpend(spend: Spend, roll: Roll): Spend {
  const [ref, held] = (spend.input as Constr).fields as [Data, Data];
  switch (roll(4)) {
    case 0:
      return { ...spend, input: input(ref, mutatedOutput(held, roll)) };
    case 1: {
      // version 3: also numbers, which are mostly the index of another input
      const number = pick(roll, [BigInt(roll(6)), BigInt(-roll(6)), pick(roll, NUMBERS)]);
      const redeemer = pick(roll, [CONTRIBUTE, RETRACT, REFUSE, END, modifying([]), number, number]);
      return spend.redeemer === undefined ? spend : { ...spend, redeemer };
    }
    case 2:
      return spend.redeemer === undefined ? spend : { ...spend, redeemer: mutated(spend.redeemer, roll) };
    default:
      return { ...spend, input: input(reference(pick(roll, [2, 60, 198, 202, 252])), held) };
  }
}

function mutant({ plan, actions, crown }: Scenario, roll: Roll): Plan {
  const { spends, outputs, signers } = plan;
  const proofs = actions.flatMap((action, i) => action.type === "apply" && action.proof.length > 0 ? [i] : []);
  const kind = roll(16);
  if (kind < 6 && actions.length > 0) {
    // the proofs, which an owner could forge in most ways
    const at = pick(roll, proofs.length > 0 ? proofs : [0]);
    const action = actions[at]!;
    if (kind < 4 && action.type === "apply" && action.proof.length > 0) {
      let proof = bend(action.proof, roll);
      while (proof.length > 0 && roll(3) === 0) proof = bend(proof, roll);
      const redeemer = modifying(changeAt(actions, at, (): Action => ({ type: "apply", proof })), crown);
      return { ...plan, spends: spends.map((spend) => isUpdate(spend) ? { ...spend, redeemer } : spend) };
    }
    return {
      ...plan,
      spends: spends.map((spend) => isUpdate(spend) ? { ...spend, redeemer: mutated(spend.redeemer!, roll) } : spend),
    };
  }
  switch (kind) {
    case 6:
    case 7:
      return outputs.length === 0
        ? plan
        : { ...plan, outputs: changeAt(outputs, roll(outputs.length), (one) => mutatedOutput(one, roll)) };
    case 8:
      return { ...plan, outputs: shuffled(outputs, roll) };
    case 9: {
      const by = roll(3);
      if (by === 0) return { ...plan, signers: shuffled(signers, roll) };
      return {
        ...plan,
        signers: changeAt(signers, roll(signers.length), (one) => by === 1 ? flip(one, roll) : pick(roll, KEYS)),
      };
    }
    case 10: {
      const mint = mutatedMint(roll);
      const ours = (mint as DataMap).entries.some(([policy]) => sameData(policy, POLICY));
      const { mint: _, mintRedeemer, ...rest } = plan;
      return {
        ...rest,
        mint,
        ...(ours ? { mintRedeemer: roll(4) > 0 ? mintRedeemer ?? constr(1) : constr(0, constr(0, SEED)) } : {}),
      };
    }
    case 11:
      return plan.mintRedeemer
        ? { ...plan, mintRedeemer: mutated(plan.mintRedeemer, roll) }
        : { ...plan, others: [constr(roll(6), fill(8))] };
    case 12:
      return { ...plan, spends: spends.filter((_, i) => i !== roll(spends.length)) };
    case 13:
      return { ...plan, spends: [...spends, another(roll)] };
    default:
      return { ...plan, spends: changeAt(spends, roll(spends.length), (one) => mutatedSpend(one, roll)) };
  }
}

function samePlan(a: Plan, b: Plan): boolean {
  const data = ({ spends, outputs, mint = 0n, mintRedeemer = 0n, signers, others = [] }: Plan): Data => [
    spends.map((spend): Data => [spend.input, spend.redeemer ?? 0n]),
    outputs,
    mint,
    mintRedeemer,
    signers,
    others,
  ];
  return sameData(data(a), data(b));
}

/** Whether the ledger would run the scripts at all: no input spent twice, a redeemer for each input of the contract. */
function runsScripts({ spends }: Plan): boolean {
  const refs = new Set(spends.map(({ input }) => {
    const [id, index] = ((input as Constr).fields[0] as Constr).fields;
    return `${toHex(id as Uint8Array)}#${index}`;
  }));
  return spends.length > 0 && refs.size === spends.length &&
    spends.every((spend) => !isOurs(spend) || spend.redeemer !== undefined) &&
    spends.some((spend) => isOurs(spend));
}

/**
 * One or more mutations of a transaction; undefined if they change nothing, or if no script would run on the result.
 */
function judgedMutant(honest: Scenario, roll: Roll): Plan | undefined {
  let plan = mutant(honest, roll);
  while (roll(6) === 0 && plan.outputs.length > 0 && plan.spends.length > 0 && plan.signers.length > 0) {
    plan = mutant({ ...honest, plan }, roll);
  }
  return samePlan(plan, honest.plan) || !runsScripts(plan) ? undefined : plan;
}

/** Contexts of all script runs of this many mutants. */
export function mutantContexts(seed: number, count: number): Data[] {
  const roll = dice(seed);
  const contexts: Data[] = [];
  for (let made = 0; made < count; made++) {
    const plan = judgedMutant(scenario(roll), roll);
    if (plan) verdictBy(plan, (context) => (contexts.push(context), undefined));
  }
  return contexts;
}

const script = machine(validator, theBuild().options);
const isVersion3 = theBuild().name === "3.0.0";

/** `verdictBy` with the fast machine; updates run first, since they refuse most. */
export function fastVerdict(plan: Plan): string {
  const refusal = (context: Data) => {
    try {
      script(isVersion3 ? asVersion3(context) : context);
      return undefined;
    } catch (error) {
      if (error instanceof Failed) return error.message;
      throw error;
    }
  };
  return verdictBy(plan, refusal, isUpdate);
}

/** Result of a run. */
export interface MutantCounts {
  /** Mutants that a script refused. */
  refused: number;
  /** Mutants that all scripts accept and that keep every promise. */
  equivalent: number;
  /**
   * Mutants that all scripts accept and the ledger refuses: tokens that come from nowhere, or from an impossible place.
   */
  impossible: number;
  /** Mutants that the product's own machine judged as well. */
  judgedTwice: number;
  readonly reasons: Map<string, number>;
  readonly violations: string[];
}

/** Makes mutants until `until` returns true; the product's machine also judges every `sample`-th one. */
export function mutate(seed: number, sample: number, until: (harvest: MutantCounts) => boolean): MutantCounts {
  const roll = dice(seed);
  const harvest: MutantCounts = {
    refused: 0,
    equivalent: 0,
    impossible: 0,
    judgedTwice: 0,
    reasons: new Map(),
    violations: [],
  };
  let honest = scenario(roll);
  for (let made = 0; !until(harvest);) {
    if (made % 32 === 0) {
      honest = scenario(roll);
      if (fastVerdict(honest.plan) !== "accepted") harvest.violations.push("an honest transaction is refused");
    }
    made++;
    const plan = judgedMutant(honest, roll);
    if (!plan) continue;
    const said = fastVerdict(plan);
    const total = harvest.refused + harvest.equivalent + harvest.impossible;
    if (total % sample === 0) {
      harvest.judgedTwice++;
      const other = verdict(plan);
      if ((other === "accepted") !== (said === "accepted")) harvest.violations.push(`two machines: ${said}, ${other}`);
    }
    if (said !== "accepted") {
      harvest.refused++;
      harvest.reasons.set(said, (harvest.reasons.get(said) ?? 0) + 1);
      continue;
    }
    const judgement = judge(plan, honest.facts);
    if (judgement.kind === "kept") harvest.equivalent++;
    else if (judgement.kind === "broken") harvest.violations.push(`${judgement.what} (seed ${seed}, mutant ${total})`);
    else harvest.impossible++;
    if (harvest.violations.length > 20) break;
  }
  return harvest;
}
