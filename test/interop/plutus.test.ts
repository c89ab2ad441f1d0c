/**
 * Second opinions on our Plutus machine: aiken's `uplc` (Rust) and plutigo (Go) run the same programs. Result or
 * failure, and the units of successes, are the same, or the difference is of a kind that is named and counted here,
 * with the source that decides it.
 */
import process from "node:process";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import type { Data } from "#src/cardano/data.ts";
import { readTransaction } from "#src/cardano/conway/transaction.ts";
import { initHash } from "#src/cardano/hash.ts";
import { type Output, refKey } from "#src/cardano/output.ts";
import type { Parameters, Units } from "#src/cardano/parameters.ts";
import { mainnetParameters, mainnetParametersAt } from "#src/ledger/parameters.ts";
import { collectScripts } from "#src/plutus/context/collect.ts";
import { posixTime } from "#src/plutus/context/interval.ts";
import { BUILTIN_NAMES } from "#src/plutus/machine/builtins/names.ts";
import type { Rules } from "#src/plutus/machine/evaluate.ts";
import { decodeProgram } from "#src/plutus/machine/flat.ts";
import { apply, constant, type Program, type Term, TermKind } from "#src/plutus/machine/term.ts";
import { DATA, type Type, TypeTag } from "#src/plutus/machine/type.ts";
import { Constant } from "#src/plutus/machine/constant.ts";
import { flatOf } from "#src/plutus/wellFormed.ts";
import { attacks } from "../support/tokens/attacks.ts";
import { boundaryPrograms } from "../support/plutus/boundaryPrograms.ts";
import { bound, taken } from "../support/ledger/editableTransactions.ts";
import { slots as contractSlots } from "../support/contract/contractLedger.ts";
import { transitions } from "../support/ledger/conformance.ts";
import { read } from "../support/plutus/draftContexts.ts";
import { mutantContexts } from "../support/contract/contractMutants.ts";
import { contractFlat } from "../support/contract/contractRuns.ts";
import { slots } from "../support/ledger/draft.ts";
import { encodeProgram } from "../support/plutus/flatWriter.ts";
import { follow } from "../support/ledger/replayTransition.ts";
import { mainnetCostModels } from "../support/plutus/conformancePrograms.ts";
import { randomProgram } from "../support/plutus/randomPrograms.ts";
import { meantTransactions } from "../support/tokens/summaries.ts";
import { least } from "../support/plutus/smallerTerms.ts";
import { showProgram } from "../support/plutus/uplcText.ts";
import { vectors } from "../support/base/vectors.ts";
import type {} from "./build.ts";
import { type Job, ours, type Verdict, verdictsBy } from "./machines.ts";

const MACHINES = ["uplc", "plutigo"] as const;
type Machine = (typeof MACHINES)[number];

/** Far above the budget of these tests' programs, except those that do not terminate. */
const LIMIT: Units = { memory: 14_000_000n, steps: 10_000_000_000n };

/** The cost model of a language under a protocol version on mainnet. */
const costModels: Readonly<Record<number, Parameters["costModels"]>> = {
  9: mainnetParametersAt(9).costModels,
  10: mainnetParametersAt(10).costModels,
  11: new Map(Object.entries(mainnetCostModels()).map(([language, model]) => [Number(language) - 1, model])),
};
const rulesOf = (language: Rules["language"], protocolMajor: number): Rules => ({
  language,
  protocolMajor,
  costModel: costModels[protocolMajor]!.get(language - 1)!,
});

/** A script applied to arguments, as one program. */
function applied(flat: Uint8Array, args: readonly Data[], { language, protocolMajor }: Rules): Uint8Array {
  const program = decodeProgram(flat, language, protocolMajor);
  const term = args.reduce((fun, arg) => apply(fun, constant(new Constant(DATA, arg))), program.term);
  return encodeProgram({ ...program, term });
}

/** A known kind of difference; comments state the source that decides it. */
interface Known {
  readonly name: string;
  /** How often it occurs in calls at limits, and in random programs of the default seed. */
  readonly found: readonly [bounds: number, random: number];
  readonly holds: (job: Job, ours: Verdict, theirs: Verdict) => boolean;
}

/** Names of the functions in a program, and whether it has constants that are or hold some of a type. */
function partsOf({ flat, rules: { language, protocolMajor } }: Job) {
  const functions = new Set<string>();
  const types = new Set<number>();
  const addType = (type: Type | null): void => {
    if (type === null) return;
    types.add(type.tag);
    addType(type.first);
    addType(type.second);
  };
  const todo: (Term | null)[] = [decodeProgram(flat, language, protocolMajor).term];
  for (let term = todo.pop(); term !== undefined; term = todo.pop()) {
    if (term === null) continue;
    if (term.kind === TermKind.BUILTIN) functions.add(BUILTIN_NAMES[term.number as number]!);
    if (term.kind === TermKind.CONSTANT) addType(term.constant.type);
    else if (term.kind === TermKind.CASE || term.kind === TermKind.CONSTR) todo.push(...term.terms);
    todo.push(term.first, term.second);
  }
  return { functions, types };
}

const ARRAYS = ["lengthOfArray", "listToArray", "indexArray"];
const VALUES = [
  "insertCoin",
  "lookupCoin",
  "unionValue",
  "valueContains",
  "valueData",
  "unValueData",
  "scaleValue",
];
const POINTS = [TypeTag.G1, TypeTag.G2, TypeTag.MILLER_LOOP];
/** Whether a program uses some functions, or constants of a type. */
const uses = (job: Job, names: readonly string[], type: number) => {
  const { functions, types } = partsOf(job);
  return types.has(type) || names.some((name) => functions.has(name));
};
const failsBy = (verdict: Verdict, pattern: RegExp) => !verdict.ok && pattern.test(verdict.why);

/**
 * Neither checks that the first two arguments of `sliceByteString` have 64 bits, as Plutus does when it unlifts an
 * `Int`; they are clamped.
 */
const slices: Known["holds"] = (job, own, theirs) =>
  failsBy(own, /an integer is beyond 64 bits/) && theirs.ok && partsOf(job).functions.has("sliceByteString");
/**
 * Limits of arguments in Plutus since version 11 (a universe of its own for Cardano): integers of 32 kB, byte strings
 * of 64 kB, scalars of 512 bytes, and those of `expModInteger` (PlutusCore.Crypto.ExpMod) among them.
 */
const unbounded: Known["holds"] = ({ rules }, own, theirs) =>
  rules.protocolMajor >= 11 && theirs.ok &&
  failsBy(
    own,
    /expModInteger: .* out of bounds|more than 32 kB|more than 64 kB|beyond 512 bytes|beyond 64 bits|more than 4 kB/,
  );

const KNOWN: Readonly<Record<Machine, readonly Known[]>> = {
  uplc: [
    {
      name: "1.1.24 has no arrays (CIP-138)",
      found: [6, 1014],
      holds: (job, _, theirs) =>
        uses(job, ARRAYS, TypeTag.ARRAY) && failsBy(theirs, /Function not found - (89|90|91)|constant .*tag: .*12/),
    },
    {
      // all languages have them from version 11 on (PlutusLedgerApi.Common.Versions, batch 6)
      name: "1.1.24 has values (CIP-153) in Plutus V3 alone",
      found: [112, 306],
      holds: (job, _, theirs) =>
        job.rules.language < 3 && uses(job, VALUES, TypeTag.VALUE) &&
        failsBy(theirs, /not available in this plutus/),
    },
    {
      // all languages have it from version 11 on (PlutusLedgerApi.V1.EvaluationContext: `caseBuiltin`)
      name: "1.1.24 has case on constants in Plutus V3 alone",
      found: [0, 146],
      holds: (job, _, theirs) => job.rules.language < 3 && failsBy(theirs, /attempted to case a non-const/),
    },
    { name: "1.1.24 clamps what sliceByteString takes", found: [84, 13], holds: slices },
    { name: "1.1.24 has fewer bounds since version 11", found: [183, 14], holds: unbounded },
    {
      // the parts of a constructor and of a case are under the lambda as well (`dischargeCekValue`); no script's verdict depends on it
      name: "1.1.24 leaves variables in constructors and cases of a result's lambdas",
      found: [0, 7],
      holds: (_, own, theirs) =>
        own.ok && theirs.ok && own.steps === theirs.steps && own.memory === theirs.memory &&
        /\((lam|delay) .*\((constr|case) /.test(theirs.result),
    },
    {
      // Plutus limits it since version 11
      name: "1.1.24 bounds the number of constrData before version 11",
      found: [30, 40],
      holds: ({ rules }, own, theirs) => rules.protocolMajor < 11 && own.ok && failsBy(theirs, /overflow/),
    },
  ],
  plutigo: [
    {
      name: "v0.4.0 has lists for arrays and values, and does not decode their constants",
      found: [168, 1193],
      holds: (job) => uses(job, ARRAYS, TypeTag.ARRAY) || uses(job, VALUES, TypeTag.VALUE),
    },
    {
      // decoding fails at elements, of which an empty list has none
      name: "v0.4.0 does not decode empty lists of points",
      found: [84, 131],
      holds: (job, _, theirs) => POINTS.some((type) => uses(job, [], type)) && failsBy(theirs, /unknown type tag/),
    },
    {
      // wraps around in Plutus V1 and V2 (`DefaultFunSemanticsVariantD`)
      name: "v0.4.0 refuses what is no byte in consByteString of Plutus V1 and V2 since version 11",
      found: [30, 10],
      holds: ({ rules }, _, theirs) =>
        rules.language < 3 && rules.protocolMajor >= 11 && failsBy(theirs, /consByteString: int does not fit/),
    },
    {
      // they are encoded in chunks of 64 bytes (PlutusCore.Data, `encodeInteger`), which is longer and costs more where
      // it is evaluated further
      name: "v0.4.0 serialises integers of over 64 bytes in one piece",
      found: [0, 2],
      holds: (job, own, theirs) =>
        theirs.ok && (own.ok || failsBy(own, /^budget/)) && partsOf(job).functions.has("serialiseData"),
    },
    {
      // they are encoded like any integer (PlutusCore.Data, `encodeData`); there are none since version 11
      name: "v0.4.0 does not serialise constructors' numbers beyond 64 bits",
      found: [0, 1],
      holds: ({ rules }, _, theirs) => rules.protocolMajor < 11 && failsBy(theirs, /outside the Word64 CBOR range/),
    },
    { name: "v0.4.0 clamps what sliceByteString takes", found: [120, 28], holds: slices },
    { name: "v0.4.0 has fewer bounds since version 11", found: [435, 0], holds: unbounded },
  ],
};

/** Expected number of each known difference. */
const expected = (machine: Machine, where: 0 | 1) =>
  Object.fromEntries(KNOWN[machine].flatMap(({ name, found }) => found[where] > 0 ? [[name, found[where]]] : []));

/** The seed of random programs; default of `FUZZ_SEED`. */
const USUAL = 1;
/** Milliseconds. Each takes about a minute on an idle machine. */
const LONGEST = 600_000;
/** How many of the differing programs are shown. */
const SHOWN_DIFFERENCES = Number(process.env["SHOWN_DIFFERENCES"] ?? 3);

const shown = (verdict: Verdict) =>
  verdict.ok ? `${verdict.result} ${verdict.steps} ${verdict.memory}` : `failure (${verdict.why})`;

/**
 * Names of the differences between our verdicts and those of another machine: "" if there is none, "?" for an unknown
 * one.
 */
async function compared(machine: Machine, jobs: readonly Job[]) {
  const theirs = await verdictsBy(inject(machine), jobs);
  return jobs.map((job, i) => {
    const [own, other] = [ours(job), theirs[i]!];
    const reason = `${own.ok || own.why} ${other.ok || other.why.slice(0, 60)}`;
    if (own.ok ? other.ok && shown(own) === shown(other) : !other.ok) return { name: "", reason };
    return { name: KNOWN[machine].find(({ holds }) => holds(job, own, other))?.name ?? "?", reason };
  });
}

/** How often each known difference occurred, and the programs with other differences, reduced as far as possible. */
async function differences(machine: Machine, jobs: readonly Job[]) {
  const verdicts = await compared(machine, jobs);
  const [found, reasons] = [verdicts.map(({ name }) => name), verdicts.map(({ reason }) => reason)];
  const known: Record<string, number> = {};
  for (const name of found) if (name !== "" && name !== "?") known[name] = (known[name] ?? 0) + 1;
  const unknown = jobs.filter((_, i) => found[i] === "?");
  const examples: string[] = [];
  // one of each kind, distinguished by reason
  const kinds = new Map(unknown.map((job) => [reasons[jobs.indexOf(job)]!, job]));
  for (const job of [...kinds.values()].slice(0, SHOWN_DIFFERENCES)) {
    const { language, protocolMajor } = job.rules;
    const as = (program: Program): Job => ({ ...job, flat: encodeProgram(program) });
    const have = async (programs: readonly Program[]) =>
      (await compared(machine, programs.map(as))).map(({ name }) => name === "?");
    const program = await least(decodeProgram(job.flat, language, protocolMajor), have);
    const [other] = await verdictsBy(inject(machine), [as(program)]);
    const by = `Plutus V${language} at ${protocolMajor}, ours: ${shown(ours(as(program)))}, theirs: ${shown(other!)}`;
    examples.push(`${showProgram(program)}\n${by}\n${toHex(as(program).flat)} out of ${toHex(job.flat)}`);
  }
  return { known, unknown: unknown.length, examples };
}

let contractJobs: readonly Job[] | undefined;

/** Runs of the contract in honest transactions, under attacks, and in mutants. */
function makeContractJobs(): readonly Job[] {
  // the contract uses a built-in function of protocol version 11
  const rules = rulesOf(3, 11);
  const jobs: Job[] = [];
  const add = (flat: Uint8Array, args: readonly Data[]) => {
    jobs.push({ flat: applied(flat, args, rules), rules, limit: LIMIT });
  };
  for (const meant of meantTransactions().filter(({ runs }) => runs)) {
    const run = (transaction: Uint8Array, known: ReadonlyMap<string, Output>) => {
      const decoded = readTransaction(transaction);
      // some attacks result in no transaction
      if (!decoded.ok) return;
      const collected = collectScripts({
        transaction: decoded.value,
        resolved: known,
        time: posixTime(contractSlots),
        protocolMajor: 11,
        costModels: mainnetParameters.costModels,
      });
      // some attacks leave scripts without redeemers or redeemers without scripts
      if (collected.ok) {
        for (const { script: { bytes, language }, args } of collected.value) add(flatOf(bytes, language)!, args);
      }
    };
    run(meant.transaction, meant.known);
    for (const attack of attacks.filter(({ on }) => on?.(meant) ?? true)) {
      const edited = taken(meant.transaction);
      const more = attack.run(edited, meant) ?? [];
      run(bound(edited), new Map([...meant.known, ...more.map(({ ref, output }) => [refKey(ref), output] as const)]));
    }
  }
  const flat = contractFlat();
  for (const context of mutantContexts(13, 500)) add(flat, [context]);
  return jobs;
}

beforeAll(initHash);

describe.each(MACHINES)("%s", (machine) => {
  it.skipIf(inject(machine) === "")("runs the scripts of the ledger's transitions like our machine", async () => {
    const jobs: Job[] = [];
    for (const transition of transitions(vectors("ledger-conformance"))) {
      await follow(transition, ({ transaction, utxos, parameters: { protocolVersion, costModels } }) => {
        const collected = collectScripts({
          transaction: read(transaction),
          resolved: new Map(utxos.map(({ ref, output }) => [refKey(ref), output])),
          time: posixTime(slots),
          protocolMajor: protocolVersion.major,
          costModels,
        });
        if (!collected.ok) throw new Error("the scripts cannot be run");
        for (const { script: { bytes, language }, args, costModel } of collected.value) {
          const rules = { language, protocolMajor: protocolVersion.major, costModel };
          jobs.push({ flat: applied(flatOf(bytes, language)!, args, rules), rules, limit: LIMIT });
        }
      });
    }
    console.info(`${machine}: ${jobs.length} scripts of the ledger's transitions`);
    expect(jobs.length).toBeGreaterThan(110);
    expect(await differences(machine, jobs)).toEqual({ known: {}, unknown: 0, examples: [] });
  }, LONGEST);

  it.skipIf(inject(machine) === "")(
    "runs the contract like our machine, in attacks and in mutants of transactions",
    async () => {
      const jobs = contractJobs ??= makeContractJobs();
      console.info(`${machine}: ${jobs.length} runs of the contract`);
      expect(jobs.length).toBeGreaterThan(2_000);
      expect(await differences(machine, jobs)).toEqual({ known: {}, unknown: 0, examples: [] });
    },
  );

  it.skipIf(inject(machine) === "")("limits the arguments of functions like our machine", async () => {
    const jobs = [...boundaryPrograms()].map(({ flat, language, protocolMajor }): Job => ({
      flat,
      rules: rulesOf(language, protocolMajor),
      limit: LIMIT,
    }));
    const { known, ...rest } = await differences(machine, jobs);
    expect({ ...rest, known }).toEqual({ unknown: 0, examples: [], known: expected(machine, 0) });
  }, LONGEST);

  it.skipIf(inject(machine) === "")("runs random programs like our machine, up to the last unit", async () => {
    const seed = Number(process.env["FUZZ_SEED"] ?? USUAL);
    const jobs = Array.from({ length: 10_000 }, (_, i): Job => {
      const { program, language, protocolMajor } = randomProgram(seed * 1_000_000 + i);
      return { flat: encodeProgram(program), rules: rulesOf(language, protocolMajor), limit: LIMIT };
    });
    const tight = jobs.slice(0, 2_000).flatMap((job): Job[] => {
      const verdict = ours(job);
      if (!verdict.ok) return [];
      const { steps, memory } = verdict;
      return [{ steps, memory }, { steps: steps - 1n, memory }, { steps, memory: memory - 1n }]
        .map((limit) => ({ ...job, limit }));
    });
    const { known, ...rest } = await differences(machine, [...jobs, ...tight]);
    console.info(`${machine}: ${jobs.length + tight.length} runs (seed ${seed}), known differences:`, known);
    expect({ seed, ...rest }).toEqual({ seed, unknown: 0, examples: [] });
    if (seed === USUAL) expect(known).toEqual(expected(machine, 1));
  }, LONGEST);
});
