/** A person of tests with most of the stake, who proposes and votes. */
import { expect } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import type { Encodable } from "#src/cardano/cbor.ts";
import type { OutRef, Utxo } from "#src/cardano/output.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { certificates, PROPOSAL_DEPOSIT, proposing, spend, type Spending } from "./devnet.ts";
import { give, makeBlock, valueOf } from "./devnetWorld.ts";
import { type Person, person } from "../wallets/person.ts";

const ada = 1_000_000n;
export const alice = person("alice");
/** Alice's pool has her payment key. */
export const POOL = alice.key;
/** Her pool votes too. */
export const POOL_VOTE = [4, alice] as const;

/** Alice, who has most of the stake, is a representative and has a pool. */
export class Voter {
  private constructor(private readonly devnet: Devnet, private coin: Utxo) {}

  static async of(devnet: Devnet): Promise<Voter> {
    const voter = new Voter(devnet, await give(devnet, alice.base, 5_000_000n * ada));
    await voter.send({
      deposit: 1_002n * ada,
      certificates: [
        certificates.register(alice),
        certificates.registerDrep(alice),
        certificates.pool(alice, POOL, 0n),
        certificates.delegate(alice, POOL),
        certificates.delegateVote(alice, alice),
      ],
    });
    return voter;
  }

  /** Sends a transaction and makes a block with it; gives its hash. */
  async send(what: Partial<Spending>): Promise<string> {
    const withdrawn = (what.withdrawals ?? []).reduce((sum, [, lovelace]) => sum + lovelace, 0n);
    const donated = (what.fields ?? []).reduce(
      (sum, [field, value]) => field === 22 ? sum + BigInt(value as bigint) : sum,
      0n,
    );
    const left = this.coin.output.value.lovelace + withdrawn - (what.deposit ?? 0n) - donated - ada;
    const made = spend({
      from: alice,
      inputs: [this.coin],
      outputs: [[alice.base, left]],
      signers: [alice.stakeSeed],
      ...what,
      deposit: (what.deposit ?? 0n) + donated,
    });
    expect(valueOf(await this.devnet.submit(made.cbor))).toEqual({ outcome: "accepted" });
    await makeBlock(this.devnet);
    this.coin = made.created[0]!;
    return made.hash;
  }

  /** Proposes actions; gives their ids. */
  async propose(...actions: readonly Encodable[]): Promise<OutRef[]> {
    const txHash = await this.send({
      deposit: BigInt(actions.length) * PROPOSAL_DEPOSIT,
      fields: [proposing(alice, actions)],
    });
    return actions.map((_, index) => ({ txHash, index }));
  }

  /** Votes yes as a representative, and as a pool or a member of the committee where that has a say. */
  async vote(
    actions: readonly OutRef[],
    ...others: readonly (readonly [role: number, person: Person])[]
  ): Promise<void> {
    const votes = new Map(
      actions.map(({ txHash, index }) => [[fromHex(txHash), index] as Encodable, [1, null] as Encodable]),
    );
    const voters = [[2, fromHex(alice.stake)], ...others.map(([role, { key }]) => [role, fromHex(key)])];
    await this.send({
      fields: [[19, new Map(voters.map((voter) => [voter as Encodable, votes as Encodable]))]],
      signers: [alice.stakeSeed, ...others.map(([, { seed }]) => seed)],
    });
  }
}
