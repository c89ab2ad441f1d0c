/**
 * Measures one Plutus machine in a process of its own and prints the results as a line of JSON. Arguments: the name of
 * the machine, and the folder of the installed peers that are no dependency.
 */
import { createRequire } from "node:module";
import { performance } from "node:perf_hooks";
import process from "node:process";

/** A machine's result of a program. */
export interface Verdict {
  readonly ok: boolean;
  /** The result in canonical form, if the machine reports it. */
  readonly result?: string;
  readonly steps: bigint;
  readonly memory: bigint;
}

/** Measurements of a machine. Times are ms of processor time, sizes MB. */
export interface MachineFigures {
  readonly load: number;
  readonly memory: number;
  /** Absent if the machine runs whole transactions only. */
  readonly suite?: {
    readonly programs: number;
    readonly verdicts: number;
    /** Absent if the machine does not report results. */
    readonly results?: number;
    readonly budgeted: number;
    readonly budgets: number;
    readonly time: number;
  };
  readonly contract?: { readonly runs: number; readonly agreed: number; readonly time: number; readonly steps: number };
}

/** Runs flat programs of Plutus V3 under a cost model of a protocol version. */
type Run = (flat: Uint8Array, model: readonly bigint[], major: number) => Verdict;

const FAILED: Verdict = { ok: false, steps: 0n, memory: 0n };

async function arbor(): Promise<Run> {
  const { evaluate } = await import("#src/plutus/machine/evaluate.ts");
  const { readBack } = await import("../support/plutus/readBack.ts");
  const limit = { memory: 1n << 60n, steps: 1n << 60n };
  let show: ((term: ReturnType<typeof readBack>) => string) | undefined;
  import("../support/plutus/uplcText.ts").then((text) => show = text.showTerm);
  return (flat, costModel, protocolMajor) => {
    const outcome = evaluate(flat, [], { language: 3, protocolMajor, costModel }, limit);
    return outcome.ok
      ? { ok: true, ...outcome.spent, ...(show ? { result: show(readBack(outcome.value)) } : {}) }
      : { ok: false, ...outcome.spent };
  };
}

/** It uses its own costs, and treats every result except unit as a failure. */
async function scalus(): Promise<Run> {
  const { default: { Scalus } } = await import("scalus");
  const [{ encode }, { toHex }] = [await import("#src/cardano/cbor.ts"), await import("#src/base/bytes.ts")];
  return (flat) => {
    try {
      const { isSuccess, budget } = Scalus.evaluateScript(toHex(encode(encode(flat))));
      return { ok: isSuccess, steps: BigInt(budget.steps), memory: BigInt(budget.memory) };
    } catch {
      return FAILED;
    }
  };
}

interface HarmonicMachine {
  resetBudget(): void;
  eval(term: unknown): {
    result: { constructor: { name: string } };
    budgetSpent: { cpu: bigint; mem: bigint };
  };
}

function harmoniclabs(folder: string): Run {
  const peers = createRequire(`${folder}/package.json`);
  const { Machine } = peers("@harmoniclabs/plutus-machine") as { Machine: new (model: unknown) => HarmonicMachine };
  const { UPLCDecoder } = peers("@harmoniclabs/uplc") as {
    UPLCDecoder: { parse(bytes: Uint8Array, format: "flat"): { body: unknown } };
  };
  const machines = new Map<readonly bigint[], HarmonicMachine>();
  return (flat, model) => {
    let machine = machines.get(model);
    if (!machine) machines.set(model, machine = new Machine(model.map(Number)));
    machine.resetBudget();
    try {
      const { result, budgetSpent } = machine.eval(UPLCDecoder.parse(flat, "flat").body);
      const ok = !/error/i.test(result.constructor.name);
      return { ok, steps: BigInt(budgetSpent.cpu), memory: BigInt(budgetSpent.mem) };
    } catch {
      return FAILED;
    }
  };
}

async function load(name: string, folder: string): Promise<Run | undefined> {
  switch (name) {
    case "arbor":
      return await arbor();
    case "scalus":
      return await scalus();
    case "harmoniclabs":
      return harmoniclabs(folder);
    default:
      await import("../support/plutus/secondEvaluator.ts");
      return undefined;
  }
}

const cpu = () => process.cpuUsage().user / 1000;

async function measure(name: string, folder: string): Promise<MachineFigures> {
  const [before, start] = [process.memoryUsage().rss, performance.now()];
  const run = await load(name, folder);
  const figures = { load: performance.now() - start, memory: (process.memoryUsage().rss - before) / 2 ** 20 };
  if (!run) return figures;
  const { initHash } = await import("#src/cardano/hash.ts");
  await initHash();
  return { ...figures, suite: await suite(name, run), contract: await contract(run) };
}

async function suite(name: string, run: Run): Promise<NonNullable<MachineFigures["suite"]>> {
  const { fromHex } = await import("#src/base/bytes.ts");
  const { decodeProgram } = await import("#src/plutus/machine/flat.ts");
  const { apply, constant, lambda } = await import("#src/plutus/machine/term.ts");
  const { NOTHING } = await import("#src/plutus/machine/value.ts");
  const { encodeProgram } = await import("../support/plutus/flatWriter.ts");
  const { showTerm } = await import("../support/plutus/uplcText.ts");
  const { conformancePrograms, mainnetCostModels, PARSE_ERROR } = await import(
    "../support/plutus/conformancePrograms.ts"
  );
  const model = mainnetCostModels()[3];
  const programs = conformancePrograms().filter(({ flat }) => flat);
  // a program whose result is unit, whatever the original's result is, three steps longer
  const wrapped = (flat: Uint8Array): Uint8Array => {
    try {
      const program = decodeProgram(flat, 3, 11);
      return encodeProgram({ ...program, term: apply(lambda(constant(NOTHING)), program.term) });
    } catch {
      return flat;
    }
  };
  const surcharge = name === "scalus" ? { steps: 48_000n, memory: 300n } : { steps: 0n, memory: 0n };
  const inputs = programs.map(({ flat }) => name === "scalus" ? wrapped(fromHex(flat!)) : fromHex(flat!));
  const start = cpu();
  const verdicts = inputs.map((flat) => run(flat, model, 11));
  const time = cpu() - start;
  let [right, results, budgeted, budgets] = [0, 0, 0, 0];
  programs.forEach(({ flatExpected, budget }, i) => {
    const { ok, result, steps, memory } = verdicts[i]!;
    const succeeds = /^[0-9a-f]+$/.test(flatExpected!);
    if (ok === succeeds) right++;
    const expected = succeeds ? showTerm(decodeProgram(fromHex(flatExpected!), 3, 11).term) : undefined;
    if (ok === succeeds && result === expected) results++;
    if (typeof budget === "string" || flatExpected === PARSE_ERROR) return;
    budgeted++;
    const counted = Number(steps - surcharge.steps) === budget.cpu &&
      Number(memory - surcharge.memory) === budget.memory;
    if (ok && counted) budgets++;
  });
  const shows = verdicts.some(({ result }) => result !== undefined);
  return { programs: programs.length, verdicts: right, ...(shows ? { results } : {}), budgeted, budgets, time };
}

const ROUNDS = 5;

/** Runs of our contract at the costs of protocol version 10, which every machine supports. */
async function contract(run: Run): Promise<NonNullable<MachineFigures["contract"]>> {
  const { mainnetParametersAt } = await import("#src/ledger/parameters.ts");
  const { decodeProgram } = await import("#src/plutus/machine/flat.ts");
  const { evaluateProgram } = await import("#src/plutus/machine/evaluate.ts");
  const { apply, constant } = await import("#src/plutus/machine/term.ts");
  const { DATA } = await import("#src/plutus/machine/type.ts");
  const { Constant } = await import("#src/plutus/machine/constant.ts");
  const { encodeProgram } = await import("../support/plutus/flatWriter.ts");
  const { contractContexts, contractFlat } = await import("../support/contract/contractRuns.ts");
  const program = decodeProgram(contractFlat(), 3, 10);
  const model = mainnetParametersAt(10).costModels.get(2)!;
  // every step of the machine costs one, built-in functions nothing
  const counting = model.map((_, i) => [17, 19, 21, 23, 25, 27, 31, 193, 195].includes(i) ? 1n : 0n);
  const limit = { memory: 1n << 60n, steps: 1n << 60n };
  const rules = { language: 3, protocolMajor: 10 } as const;
  const applied = contractContexts(150).map((context) => {
    const whole = { ...program, term: apply(program.term, constant(new Constant(DATA, context))) };
    return {
      flat: encodeProgram(whole),
      expected: evaluateProgram(whole, [], { ...rules, costModel: model }, limit),
      steps: Number(evaluateProgram(whole, [], { ...rules, costModel: counting }, limit).spent.steps),
    };
  });
  let agreed = 0;
  let time = Infinity;
  for (let round = 0; round < ROUNDS; round++) {
    const start = cpu();
    const verdicts = applied.map(({ flat }) => run(flat, model, 10));
    time = Math.min(time, cpu() - start);
    agreed = verdicts.filter(({ ok, steps, memory }, i) => {
      const { expected } = applied[i]!;
      return ok === expected.ok && (!ok || (steps === expected.spent.steps && memory === expected.spent.memory));
    }).length;
  }
  return { runs: applied.length, agreed, time, steps: applied.reduce((sum, { steps }) => sum + steps, 0) };
}

const [name, folder] = process.argv.slice(2);
if (name !== undefined && folder !== undefined) {
  console.log(JSON.stringify(await measure(name, folder)));
  process.exit(0);
}
