/**
 * The cost to the devnet's event loop of refusing 16 kB transactions that are made to be expensive: no submitter pays
 * fees for them.
 */
import { setImmediate } from "node:timers";
import { initHash } from "#src/cardano/hash.ts";
import { describeFailure } from "#src/cardano/failureText.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { validate } from "#src/ledger/validate.ts";
import { toPlain } from "#src/devnet/ledger/plainJson.ts";
import { decodeSubmission } from "#src/devnet/blocks/submission.ts";
import { slots } from "../support/ledger/draft.ts";
import { costlyTransactions } from "../support/ledger/costlyTransactions.ts";
import { percentile, table } from "./machine.ts";

const ROUNDS = 20;
/** Milliseconds for which no refusal should block the event loop. */
const TARGET = 20;

/** A table of all of them, the most expensive first. */
export async function benchRefusals(print: (line: string) => void = console.log): Promise<void> {
  await initHash();
  const { world, transactions } = costlyTransactions();
  const rows: { readonly name: string; readonly held: number; readonly cells: readonly (string | number)[] }[] = [];
  for (const { name, bytes } of transactions) {
    const rounds: { held: number; whole: number; failures: string }[] = [];
    for (let i = 0; i < ROUNDS; i++) rounds.push(await once(world, bytes));
    const [first] = rounds;
    const least = Math.min(...rounds.map(({ held }) => held));
    const typical = percentile(rounds.map(({ held }) => held), 0.5);
    const whole = percentile(rounds.map(({ whole }) => whole), 0.5);
    const cells = [first!.held, typical, least, whole].map((ms) => ms.toFixed(1));
    rows.push({ name, held: typical, cells: [name, bytes.length, ...cells, first!.failures] });
  }
  rows.sort((a, b) => b.held - a.held);
  table(
    [
      "transaction",
      "bytes",
      "longest hold of the loop: first, ms",
      "median",
      "least",
      "whole refusal, median",
      "refused for",
    ],
    rows.map(({ cells }) => cells),
  ).forEach((line) => print(line));
  const over = rows.filter(({ held }) => held > TARGET);
  print("");
  print(`${rows.length} transactions, ${over.length} of them hold the loop for over ${TARGET} ms.`);
}

/** Decodes, validates and answers; returns the longest block of the event loop, and the total time. */
async function once({ state }: ReturnType<typeof costlyTransactions>["world"], bytes: Uint8Array) {
  const loop = watched();
  const began = performance.now();
  const read = decodeSubmission(bytes, mainnetParameters.maxTxSize);
  const noMachine = () => Promise.reject(new Error("no script was expected"));
  const verdict = read.ok ? await validate(state, bytes, 1_000, noMachine, slots) : undefined;
  const failures = verdict && !verdict.ok ? verdict.error : [];
  JSON.stringify(toPlain(failures.map((failure) => ({ ...failure, text: describeFailure(failure) }))));
  const whole = performance.now() - began;
  if (verdict?.ok) throw new Error("a transaction that should be refused is accepted");
  return {
    held: await loop(),
    whole,
    failures: [...new Set(failures.map(({ name }) => name))].join(" ") || "its bytes",
  };
}

/** Watches the event loop; the returned function stops that and returns the longest time that it was blocked. */
function watched(): () => Promise<number> {
  let longest = 0;
  let last = performance.now();
  let ended = false;
  const tick = () => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
    if (!ended) setImmediate(tick);
  };
  setImmediate(tick);
  return async () => {
    await new Promise<void>((resolve) => void setImmediate(resolve));
    ended = true;
    return longest;
  };
}
