/**
 * Transactions per second through the ledger: each is decoded, validated by every rule, including a real run of its
 * scripts, and its changes are applied; in one thread. For comparison the emulator of scalus, with the same
 * transactions.
 */
import process from "node:process";
import scalus from "scalus";
import { concat, fromHex } from "#src/base/bytes.ts";
import { encode, head } from "#src/cardano/cbor.ts";
import { initHash } from "#src/cardano/hash.ts";
import { type Output, refKey } from "#src/cardano/output.ts";
import type { SlotConfig } from "#src/cardano/parameters.ts";
import { applyDelta } from "#src/ledger/delta.ts";
import { mainnetParameters as parameters } from "#src/ledger/parameters.ts";
import { verifySignature } from "#src/ledger/signature.ts";
import { newState } from "#src/ledger/state.ts";
import { readTransaction } from "#src/cardano/conway/transaction.ts";
import { validate } from "#src/ledger/validate.ts";
import { evaluateScripts } from "#src/plutus/evaluate.ts";
import type { Evaluate } from "#src/plutus/types.ts";
import { slots as cageSlots } from "../support/contract/contractLedger.ts";
import {
  ada,
  alice,
  asset,
  bob,
  type Draft,
  nativeHash,
  output,
  signedBy,
  slots,
  World,
} from "../support/ledger/draft.ts";
import { complete, SLOT } from "../support/contract/judgedTransaction.ts";
import { agrees, plutusHash } from "../support/plutus/scripts.ts";
import { coin } from "../support/wallets/person.ts";
import { owner, paying, requestFields, updating } from "../support/contract/wholeTransaction.ts";
import type { ChainRow } from "./chain.ts";

const QUICK = process.argv.includes("--quick");
const PLAIN = QUICK ? 500 : 3_000;
const SCRIPTED = QUICK ? 100 : 300;

/** Transactions that are independent of each other, and their inputs. */
interface Workload {
  readonly what: string;
  readonly transactions: readonly Uint8Array[];
  readonly outputs: ReadonlyMap<string, Output>;
  readonly slot: number;
  readonly slots: SlotConfig;
}

function drafted(what: string, count: number, draft: (world: World) => Draft): Workload {
  const world = new World();
  const transactions = Array.from({ length: count }, () => world.write(draft(world)));
  return { what, transactions, outputs: world.outputs, slot: world.slot, slots };
}

/** Updates of tokens of the published contract, of one request each: two scripts run, from one reference script. */
function updates(count: number): Workload {
  const outputs = new Map<string, Output>();
  const transactions = Array.from({ length: count }, (_, i) => {
    const token = i.toString(16).padStart(64, "0");
    const request = requestFields(token, `key ${i}`, { type: "insert", value: Uint8Array.of(1) });
    const { whole } = updating(token, [request]);
    // each has its own payment input
    const spends = whole.spends.map((one) => one === paying ? { utxo: coin(owner.enterprise, 50n * ada) } : one);
    const { transaction, utxos } = complete({ ...whole, spends });
    for (const { ref, output } of utxos) outputs.set(refKey(ref), output);
    return transaction;
  });
  const what = "updates of a token, two runs of the published contract (Plutus V3) each";
  return { what, transactions, outputs, slot: SLOT, slots: cageSlots };
}

function workloads(): Workload[] {
  const policy = nativeHash(signedBy(alice));
  return [
    drafted("payments of one input", PLAIN, () => ({ outputs: [output(bob.address, 2n * ada)], paid: 2n * ada })),
    drafted("payments of two inputs of two people", PLAIN, (world) => ({
      inputs: [world.fund(alice.address), world.fund(bob.address)],
      keys: [alice.payment, bob.payment],
      outputs: [output(bob.address, 2n * ada)],
      paid: 2n * ada,
    })),
    drafted("mints under a native script", PLAIN, () => ({
      mint: new Map([[asset(policy, "bench"), 1n]]),
      native: [signedBy(alice)],
    })),
    drafted("mints under the least Plutus V3 script", SCRIPTED, () => ({
      mint: new Map([[asset(plutusHash(3, agrees)), 1n]]),
      plutus: { 3: [agrees] },
      redeemers: [[1, 0]],
    })),
    updates(SCRIPTED),
  ];
}

/** Milliseconds of processor time of this process: other load on the machine does not count. */
function cpu(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Milliseconds of processor time of some work. */
function timed(work: () => void): number {
  const began = cpu();
  work();
  return cpu() - began;
}

/**
 * Processor time in milliseconds of the ledger for a workload, and of its parts: scripts as they ran, the others again
 * separately.
 */
async function judge({ transactions, outputs, slot, slots }: Workload) {
  const state = newState({ parameters, epoch: 10, outputs: new Map(outputs) });
  let scripts = 0, refused = 0;
  const evaluate: Evaluate = async (input) => {
    const began = cpu();
    const evaluation = evaluateScripts(input);
    scripts += cpu() - began;
    return evaluation;
  };
  const began = cpu();
  for (const transaction of transactions) {
    const verdict = await validate(state, transaction, slot, evaluate, slots);
    if (verdict.ok) applyDelta(state, verdict.value);
    else refused++;
  }
  const whole = cpu() - began;
  if (refused > 0) throw new Error(`${refused} transactions were refused`);
  const read = transactions.map((bytes) => readTransaction(bytes)).flatMap((one) => one.ok ? [one.value] : []);
  let checked = 0;
  const decoding = timed(() => transactions.forEach((bytes) => void (checked += Number(readTransaction(bytes).ok))));
  const signatures = timed(() => {
    for (const { id, witnesses } of read) {
      for (const { key, signature } of witnesses.keys) checked += Number(verifySignature(key, id, signature));
    }
  });
  if (checked < transactions.length * 2) throw new Error("not everything was checked");
  return { whole, scripts, decoding, signatures };
}

/** Processor time in milliseconds of the emulator for a workload; undefined if it refuses a transaction. */
function emulated({ transactions, outputs, slot }: Workload): number | undefined {
  const parts = [head(5, outputs.size)];
  for (const [key, { raw }] of outputs) parts.push(encode(placeOf(key)), raw);
  const emulator = new scalus.Emulator(concat(...parts), scalus.SlotConfig.preview);
  emulator.setSlot(slot);
  let taken = 0;
  const ms = timed(() => transactions.forEach((bytes) => void (taken += Number(emulator.submitTx(bytes).isSuccess))));
  return taken === transactions.length ? ms : undefined;
}

function placeOf(key: string): [Uint8Array, number] {
  const [txHash, index] = key.split("#");
  return [fromHex(txHash!), Number(index)];
}

/** Rows: transactions per second, without and with scripts. */
export async function ledgerRows(): Promise<readonly ChainRow[]> {
  await initHash();
  const rows: ChainRow[] = [];
  for (const workload of workloads()) {
    const { what, transactions } = workload;
    const some = { ...workload, transactions: transactions.slice(0, transactions.length >> 2) };
    await judge(some); // warm-up: first runs are slow
    emulated(some);
    const { whole, scripts, decoding, signatures } = await judge(workload);
    const other = emulated(some);
    const rate = (ms: number, count = transactions.length) => Math.round(count / ms * 1_000).toLocaleString("en");
    const share = (ms: number) => `${Math.round(100 * ms / whole)} %`;
    const shares = [
      `signatures ${share(signatures)}`,
      `decoding ${share(decoding)}`,
      ...(scripts > 0 ? [`scripts ${share(scripts)}`] : []),
      `all other rules ${share(Math.max(0, whole - signatures - decoding - scripts))}`,
    ];
    const combined = other === undefined ? "refuses one of them" : `${rate(other, some.transactions.length)}/s`;
    rows.push([
      `ledger: ${what}`,
      `${rate(whole)}/s`,
      `CPU (the rate is by processor time): ${shares.join(", ")}; the emulator of scalus ${combined}`,
    ]);
  }
  return rows;
}
