/**
 * Script contexts of Plutus V3 as data, with defaults for everything that a test does not set, and the evaluation of a
 * term on one.
 */
import scalus from "scalus";
import { Constr, constr, type Data, DataMap, encodeData } from "#src/cardano/data.ts";
import { type BuildOptions, compiled, program } from "#src/contract/uplc/program.ts";
import { applied, type Expr, type Term } from "#src/contract/uplc/term.ts";
import { encode } from "#src/cardano/cbor.ts";
import { toHex } from "#src/base/bytes.ts";
import { flat } from "#src/contract/uplc/flat.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { evaluate } from "#src/plutus/machine/evaluate.ts";
import { theBuild } from "./contractBuild.ts";

/** Result of a run: success, or the message of the failing check. */
export interface Run {
  readonly ok: boolean;
  readonly message: string;
  readonly memory: bigint;
  readonly steps: bigint;
}

/**
 * Evaluates a function on arguments, with traces: version 2 by another evaluator. Version 3 is compared with version 2, by
 * the product's machine: both accept or both refuse, except redeemers that only one of them reads. Contexts have the
 * redeemers of version 2; version 3 runs on `asVersion3` of them.
 *
 * @throws Error if they differ
 */
export function run(fun: Expr<unknown>, ...args: Data[]): Run {
  const { name, options } = theBuild();
  if (name === "2.0.0") return runByScalus(fun, ...args);
  const [second, { ok, memory, steps, message }] = [runOn({}, fun, args), runOn(options, fun, args.map(asVersion3))];
  const differs = ok ? !second.ok && !args.some(hasNumber) : second.ok && !args.some(hasSpareField);
  if (differs) {
    throw new Error(`the versions differ: "${second.message}", "${message}"`);
  }
  // a number without a branch fails without a message
  const own = second.ok || args.some(hasNumber);
  return { ok, memory, steps, message: ok ? "ok" : own ? message : second.message };
}

/** The parts of a script context; undefined for other data. */
function contextOf(data: Data) {
  if (!(data instanceof Constr) || data.fields.length !== 3) return undefined;
  const [transaction, redeemer, purpose] = data.fields;
  if (!(transaction instanceof Constr) || transaction.fields.length !== 16 || !(purpose instanceof Constr)) {
    return undefined;
  }
  const [inputs, runs] = [transaction.fields[0] as Data[], transaction.fields[9] as DataMap];
  return { transaction, redeemer: redeemer!, purpose, inputs, runs };
}

/** Whether a redeemer is in the form by which a request contributes in version 2. */
const isContribute2 = (data: Data) => data instanceof Constr && data.tag === 1 && data.fields.length === 0;

/** The redeemer of a refused request in contexts of version 2, which has no such redeemer. */
export const REFUSE: Data = constr(6);
const isRefuse = (data: Data) => data instanceof Constr && data.tag === 6 && data.fields.length === 0;

/** A script context with redeemers of version 3: requests contribute and are refused by the index of their input. Other data is as it is. */
export function asVersion3(data: Data): Data {
  const context = contextOf(data);
  if (!context) return data;
  const { transaction, redeemer, purpose, inputs, runs } = context;
  const renamed = (purpose: Data, redeemer: Data): Data => {
    if (!(purpose instanceof Constr) || purpose.tag !== 1) return redeemer;
    if (!isContribute2(redeemer) && !isRefuse(redeemer)) return redeemer;
    const index = inputs.findIndex((one) => sameRef((one as Constr).fields[0]!, purpose.fields[0]!));
    return index < 0 ? redeemer : BigInt(isRefuse(redeemer) ? -1 - index : index);
  };
  const fields = [...transaction.fields];
  fields[9] = new DataMap(runs.entries.map(([purpose, redeemer]) => [purpose, renamed(purpose, redeemer)]));
  return constr(0, constr(0, ...fields), renamed(purpose, redeemer), purpose);
}

function sameRef(a: Data, b: Data): boolean {
  return toHex(encodeData(a)) === toHex(encodeData(b));
}

/** The redeemers of a script context. */
function redeemersOf(data: Data): readonly Data[] {
  const context = contextOf(data);
  return context ? [context.redeemer, ...context.runs.entries.map(([, redeemer]) => redeemer)] : [];
}

/** Whether a redeemer is a number or a refusal, which only version 3 accepts. */
const hasNumber = (data: Data) => redeemersOf(data).some((one) => typeof one === "bigint" || isRefuse(one));

/** Whether a contribution or a retraction has a field, which only version 2 ignores. */
function hasSpareField(data: Data): boolean {
  return redeemersOf(data).some((one) =>
    one instanceof Constr && (one.tag === 1 || one.tag === 3) && one.fields.length > 0
  );
}

const { costModels, maxTxUnits, protocolVersion: { major: protocolMajor } } = mainnetParameters;
const programs = new WeakMap<Expr<unknown>, Map<boolean, Uint8Array>>();

function runOn({ caseOnConstants = false }: BuildOptions, fun: Expr<unknown>, args: readonly Data[]): Run {
  const known = programs.get(fun) ?? new Map<boolean, Uint8Array>();
  programs.set(fun, known);
  const code = known.get(caseOnConstants) ?? flat(program(fun, { caseOnConstants, traces: true }));
  known.set(caseOnConstants, code);
  const rules = { language: 3 as const, protocolMajor, costModel: costModels.get(2)! };
  const { ok, logs, spent: { memory, steps } } = evaluate(code, args, rules, maxTxUnits);
  return { ok, message: ok ? "ok" : logs[0] ?? "no message", memory, steps };
}

const terms = new WeakMap<Expr<unknown>, Term>();

function runByScalus(fun: Expr<unknown>, ...args: Data[]): Run {
  const made = terms.get(fun) ?? program(fun, { traces: true });
  terms.set(fun, made);
  const term = applied(
    made,
    ...args.map((value) => ({ kind: "constant" as const, constant: { type: "data" as const, value } })),
  );
  const result = scalus.Scalus.evaluateScript(toHex(encode(compiled(term))));
  // scalus adds the spent budget to each message
  const traced = result.logs.find((log) => !log.startsWith("Error"))?.replace(/: \{ mem: .*$/, "");
  const message = traced ?? "no message";
  return {
    ok: result.isSuccess,
    message: result.isSuccess ? "ok" : message,
    memory: BigInt(result.budget.memory),
    steps: BigInt(result.budget.steps),
  };
}

/** `length` bytes of one value. */
export function fill(value: number, length = 28): Uint8Array {
  return new Uint8Array(length).fill(value);
}

export function reference(id: number, index = 0): Data {
  return constr(0, fill(id, 32), BigInt(index));
}

const key = (hash: Uint8Array) => constr(0, hash);
const script = (hash: Uint8Array) => constr(1, hash);

/** An address of a key, with a key as its stake part if one is given. */
export function keyAt(hash: Uint8Array, stake?: Uint8Array): Data {
  return constr(0, key(hash), stake ? constr(0, constr(0, key(stake))) : constr(1));
}

/** An address of a script. */
export function scriptAt(hash: Uint8Array, stake?: Uint8Array): Data {
  return constr(0, script(hash), stake ? constr(0, constr(0, key(stake))) : constr(1));
}

type Asset = readonly [policy: Uint8Array, name: Uint8Array, quantity: bigint];

function assets(list: readonly Asset[]): [Data, Data][] {
  const policies = new Map<string, [Uint8Array, [Data, Data][]]>();
  for (const [policy, name, quantity] of list) {
    const names = policies.get(toHex(policy)) ?? [policy, []];
    names[1].push([name, quantity]);
    policies.set(toHex(policy), names);
  }
  return [...policies].sort(([a], [b]) => a < b ? -1 : 1).map(([, [policy, names]]) => [policy, new DataMap(names)]);
}

/** A value of an output. */
export function value(lovelace: bigint, ...list: Asset[]): Data {
  const none = new Uint8Array(0);
  return new DataMap([[none, new DataMap([[none, lovelace]])], ...assets(list)]);
}

/** The minted and burned value of a transaction. */
export function minted(...list: Asset[]): Data {
  return new DataMap(assets(list));
}

/** An output, with an inline datum if one is given. */
export function output(address: Data, value: Data, datum?: Data, script?: Uint8Array): Data {
  return constr(
    0,
    address,
    value,
    datum === undefined ? constr(0) : constr(2, datum),
    script ? constr(0, script) : constr(1),
  );
}

export function input(reference: Data, output: Data): Data {
  return constr(0, reference, output);
}

/** The parts of a transaction that the contract reads. */
export interface Tx {
  readonly inputs?: readonly Data[];
  readonly outputs?: readonly Data[];
  readonly mint?: Data;
  readonly signers?: readonly Uint8Array[];
  /** Purposes of the scripts that run, each with its redeemer. */
  readonly runs?: readonly (readonly [purpose: Data, redeemer: Data])[];
}

function txInfo(tx: Tx): Data {
  const none = new DataMap([]);
  const always = constr(0, constr(0, constr(0), constr(1)), constr(0, constr(2), constr(1)));
  return constr(
    0,
    tx.inputs ?? [],
    [],
    tx.outputs ?? [],
    200_000n,
    tx.mint ?? none,
    [],
    none,
    always,
    tx.signers ?? [],
    new DataMap(tx.runs ?? []),
    none,
    fill(9, 32),
    none,
    [],
    constr(1),
    constr(1),
  );
}

/** Purpose of a spend of an input, and of minting under a policy. */
export function spendingOf(input: Data): Data {
  return constr(1, (input as Constr).fields[0]!);
}
export function mintingOf(policy: Uint8Array): Data {
  return constr(0, policy);
}

/** Context of a spend of `own` (an input of the transaction). */
export function spending(tx: Tx, own: Data, redeemer: Data, datum = datumOf(own)): Data {
  const spent = own as Constr;
  return constr(
    0,
    txInfo(tx),
    redeemer,
    constr(1, spent.fields[0]!, datum === undefined ? constr(1) : constr(0, datum)),
  );
}

/** Context of minting under a policy. */
export function minting(tx: Tx, policy: Uint8Array, redeemer: Data): Data {
  return constr(0, txInfo(tx), redeemer, constr(0, policy));
}

function datumOf(input: Data): Data | undefined {
  const output = (input as Constr).fields[1] as Constr;
  const datum = output.fields[2] as Constr;
  return datum.tag === 2 ? datum.fields[0] : undefined;
}
