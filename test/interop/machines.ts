/**
 * Independent Plutus machines in processes of their own: aiken's `uplc` (Rust) and plutigo (Go). Input is a line for
 * each set of rules and for each program, output a line for each program.
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { toHex } from "#src/base/bytes.ts";
import { evaluate, type Rules } from "#src/plutus/machine/evaluate.ts";
import type { Units } from "#src/cardano/parameters.ts";
import { readBack } from "../support/plutus/readBack.ts";
import { showTerm } from "../support/plutus/uplcText.ts";

/** A program to be run. */
export interface Job {
  readonly flat: Uint8Array;
  readonly rules: Rules;
  readonly limit: Units;
}

/** A machine's verdict on a program: its result in the form of `showTerm` and the units, or why it fails. */
export type Verdict =
  | { readonly ok: true; readonly result: string; readonly steps: bigint; readonly memory: bigint }
  | { readonly ok: false; readonly why: string };

/** Our machine. */
export function ours({ flat, rules, limit }: Job): Verdict {
  const outcome = evaluate(flat, [], rules, limit);
  return outcome.ok
    ? { ok: true, result: showTerm(readBack(outcome.value)), ...outcome.spent }
    : { ok: false, why: `${outcome.kind}: ${outcome.message}` };
}

/** The verdict on each program by the machine at a path. One that ends its process has failed. */
export async function verdictsBy(machine: string, jobs: readonly Job[]): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  while (verdicts.length < jobs.length) {
    const before = verdicts.length;
    verdicts.push(...await answers(machine, jobs.slice(before)));
    if (verdicts.length < jobs.length) verdicts.push({ ok: false, why: "the process ended" });
  }
  return verdicts;
}

async function answers(machine: string, jobs: readonly Job[]): Promise<Verdict[]> {
  const child = spawn(machine, [], { stdio: ["pipe", "pipe", "ignore"] });
  // a process that ends early is detected by its missing answers
  child.stdin.on("error", () => {});
  child.stdin.end(linesOf(jobs));
  const verdicts: Verdict[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const said = JSON.parse(line) as { result: string; steps: number; memory: number } | { failure: string };
    verdicts.push(
      "failure" in said
        ? { ok: false, why: said.failure }
        : { ok: true, result: said.result, steps: BigInt(said.steps), memory: BigInt(said.memory) },
    );
  }
  return verdicts;
}

/** Rules where they come first, programs by the position of their rules. */
function linesOf(jobs: readonly Job[]): string {
  const places = new Map<string, number>();
  const lines: string[] = [];
  for (const { flat, rules: { language, protocolMajor, costModel }, limit } of jobs) {
    const rules = JSON.stringify({ language, major: protocolMajor, costs: costModel.map(Number) });
    let place = places.get(rules);
    if (place === undefined) {
      places.set(rules, place = places.size);
      lines.push(rules);
    }
    const [steps, memory] = [Number(limit.steps), Number(limit.memory)];
    lines.push(JSON.stringify({ rules: place, flat: toHex(flat), steps, memory }));
  }
  return lines.map((line) => `${line}\n`).join("");
}
