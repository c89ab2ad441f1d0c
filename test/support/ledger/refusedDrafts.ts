/** Parts of transactions that the ledger refuses. */
import { fromHex } from "#src/base/bytes.ts";
import { rewardAddress } from "#src/cardano/address.ts";
import type { Encodable } from "#src/cardano/cbor.ts";
import type { FailureName } from "#src/cardano/failure.ts";
import { agrees, plutusHash } from "../plutus/scripts.ts";
import {
  ada,
  alice,
  asset,
  atScript,
  bob,
  type Draft,
  nativeHash,
  output,
  type Person,
  reference,
  signedBy,
  tagged,
  World,
} from "./draft.ts";

/** A refused transaction. */
export interface RefusedDraft {
  /** Names of all its failures, in the ledger's order. */
  readonly names: readonly FailureName[];
  /** Protocol version; 11 by default. */
  readonly major?: 9 | 10 | 11;
  /** The transaction, and what the ledger holds before it. */
  readonly draft: (world: World) => Draft;
}

/** Why the ledger never gives a failure. */
export type NotGiven = string;

export const both = [alice.payment, alice.stake];
export const all = [...both, bob.payment, bob.stake];
export const of = (person: Person): Encodable => [0, fromHex(person.stakeHash)];
export const zeros = new Uint8Array(32);
export const pool = "aa".repeat(28);
export const gone = { txHash: "ab".repeat(32), index: 7 };
export const elsewhere = fromHex(rewardAddress(1, alice.credential).hex);
export const mine = signedBy(alice);
export const datum: Encodable = 42n;
export const tokens = new Map([[asset(nativeHash(mine)), 3n]]);
export const pay: Draft = { outputs: [output(bob.address, 2n * ada)], paid: 2n * ada };
export const paying = (address: string, lovelace = 2n * ada, extras = {}): Draft => ({
  outputs: [output(address, lovelace, extras)],
  paid: lovelace,
});

/** Spends an output at a Plutus V3 script, with the collateral that is given. */
export function spending(world: World, script = agrees, ...collateral: ReturnType<World["fund"]>[]): Draft {
  return {
    inputs: [world.fund(atScript(plutusHash(3, script)), 10n * ada, { datum })],
    plutus: { 3: [script] },
    redeemers: [[0, 0]],
    ...(collateral.length > 0 ? { fields: { 13: collateral.map(reference) } } : {}),
  };
}

/** A transaction with certificates, which holds enough for any deposit but one of a proposal. */
export const certify = (world: World, certificates: readonly Encodable[], extra = 0n): Draft => ({
  inputs: [world.fund(alice.address, 2_000n * ada)],
  certificates,
  extra,
  keys: all,
});

export const poolCertificate = (cold: Person, changes: Partial<Record<number, Encodable>> = {}): Encodable =>
  [
    3,
    fromHex(cold.stakeHash),
    zeros,
    ada,
    170n * ada,
    tagged(30, [1, 50]),
    alice.reward,
    [fromHex(alice.stakeHash)],
    [],
    null,
  ].map((field, index) => changes[index] ?? field);
export const registerPool = (world: World, changes: Partial<Record<number, Encodable>>): Draft =>
  certify(world, [poolCertificate(bob, changes)], -500n * ada);

export const anchor: Encodable = ["https://proposal.example", zeros];
export const GOV_DEPOSIT = 100_000n * ada;

/** A transaction with a proposal; alice's account is registered. */
export function propose(world: World, action: Encodable, deposit = GOV_DEPOSIT, account = alice.reward): Draft {
  world.register(alice);
  return {
    inputs: [world.fund(alice.address, 200_000n * ada)],
    fields: { 20: [[deposit, account, action, anchor]] },
    extra: -GOV_DEPOSIT,
  };
}
export const committee = (
  removed: Encodable[],
  added: [Encodable, number][],
): Encodable => [4, null, removed, new Map(added), tagged(30, [1, 2])];
export const treasury = (account: Uint8Array, amount: bigint): Encodable => [2, new Map([[account, amount]]), null];
export const votes = (voter: Encodable): Encodable =>
  new Map<Encodable, Encodable>([[voter, new Map<Encodable, Encodable>([[[zeros, 0], [1, null]]])]]);

/** Withdraws from alice's account of 5 ada, whose vote is delegated. */
export function withdraw(world: World, account: Uint8Array, amount: bigint): Draft {
  world.register(alice, { balance: 5n * ada, drep: "abstain" });
  return { withdrawals: [[account, amount]], keys: all };
}
