/**
 * Random histories of a chain, forward and back: rows of the projection, and the actor that receives its events, both
 * compared with a plain model that keeps every certificate in a list and searches it.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { refusalOf, shownIn } from "#machines/delegation.ts";
import { rewardAddress } from "#src/cardano/address.ts";
import type { Point, ScannedBlock, ScannedTransaction } from "#src/cardano/block.ts";
import type { Certificate, DRep } from "#src/cardano/certificates.ts";
import { drepKey } from "#src/cardano/drepText.ts";
import { askedKey, type Row, type RowQuery, type Touched } from "#src/chain/index/projection.ts";
import { together } from "#src/chain/index/projections.ts";
import { BalanceReplica } from "#src/client/balances.ts";
import { delegationProjection } from "#src/wallets/delegation/projection.ts";
import { Publisher } from "../../../support/wallets/balanceEvents.ts";
import { DelegationActor } from "../../../support/wallets/delegationActor.ts";

const EPOCH = 5;
const epochOf = (slot: number) => Math.max(0, Math.floor(slot / EPOCH));

const STAKES = [
  { kind: "key", hash: "a1".repeat(28) },
  { kind: "script", hash: "b2".repeat(28) },
  { kind: "key", hash: "c3".repeat(28) },
] as const;
const keyOf = (i: number) => `${STAKES[i]!.kind}-${STAKES[i]!.hash}`;
/** Two wallets have the first credential, one the second; the third belongs to no wallet. */
const WALLETS = [{ wallet: "w0", of: 0 }, { wallet: "w1", of: 0 }, { wallet: "w2", of: 1 }];
// preview has a pool with a longer id
const POOLS = ["11".repeat(28), "22".repeat(28), "33".repeat(56)];
const DREPS: DRep[] = [{ kind: "abstain" }, { kind: "no confidence" }, { kind: "key", hash: "d4".repeat(28) }];

type Act =
  | { readonly is: "register"; readonly deposit?: bigint; readonly pool?: number; readonly drep?: number }
  | { readonly is: "unregister" }
  | { readonly is: "delegate"; readonly pool?: number; readonly drep?: number }
  | { readonly is: "withdraw" };
interface Deed {
  readonly of: number;
  readonly act: Act;
  readonly valid: boolean;
}

const to = {
  pool: fc.option(fc.nat(2), { nil: undefined }),
  drep: fc.option(fc.nat(2), { nil: undefined }),
};
const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ is: fc.constant("register" as const), deposit: fc.constantFrom(undefined, 2_000_000n), ...to }),
  fc.record({ is: fc.constant("unregister" as const) }),
  { weight: 3, arbitrary: fc.record({ is: fc.constant("delegate" as const), ...to }) },
  fc.record({ is: fc.constant("withdraw" as const) }),
) as fc.Arbitrary<Act>;
const deed: fc.Arbitrary<Deed> = fc.record({
  of: fc.nat(2),
  act,
  valid: fc.integer({ min: 0, max: 9 }).map((n) => n > 0),
});

const delegation = ({ pool, drep }: { pool?: number; drep?: number }) => ({
  ...(pool === undefined ? {} : { pool: POOLS[pool]! }),
  ...(drep === undefined ? {} : { drep: DREPS[drep]! }),
});

const hashOf = (n: number) => n.toString(16).padStart(64, "0");

function transaction({ of, act, valid }: Deed, index: number, paid: bigint): ScannedTransaction {
  const credential = STAKES[of]!;
  const certificates: Certificate[] = act.is === "register"
    ? [{
      kind: "register",
      credential,
      ...(act.deposit === undefined ? {} : { deposit: act.deposit }),
      to: delegation(act),
    }]
    : act.is === "unregister"
    ? [{ kind: "unregister", credential }]
    : act.is === "delegate"
    ? [{ kind: "delegate", credential, to: delegation(act) }]
    : [];
  const withdrawals = act.is === "withdraw" ? new Map([[rewardAddress(0, credential).hex, paid]]) : new Map();
  return {
    index,
    hash: hashOf(index),
    valid,
    certificates,
    withdrawals,
    inputs: [],
    outputs: [],
  } as unknown as ScannedTransaction;
}

/** The state of a credential in the model. */
interface Truth {
  readonly slot: number;
  readonly registered: boolean;
  readonly deposit: bigint | null;
  readonly pool: string | null;
  readonly drep: string | null;
}
const NOTHING: Truth = { slot: -1, registered: false, deposit: null, pool: null, drep: null };

function truthAfter(before: Truth, deeds: readonly Deed[], of: number, slot: number): Truth {
  let truth = before;
  for (const { act, ...deed } of deeds) {
    if (deed.of !== of || !deed.valid || act.is === "withdraw") continue;
    if (act.is === "unregister") truth = { ...NOTHING, slot };
    else {
      if (act.is === "register") truth = { ...truth, deposit: act.deposit ?? null };
      const { pool, drep } = delegation(act);
      truth = { ...truth, registered: true, slot, pool: pool ?? truth.pool, drep: drep ? drepKey(drep) : truth.drep };
    }
  }
  return truth;
}

/** Tables in memory, with the follower's rows. */
class Tables {
  private readonly projection = together([delegationProjection(epochOf)]);
  private rows: { table: string; row: Record<string, unknown> }[] = [];

  constructor() {
    for (const { wallet, of } of WALLETS) {
      this.rows.push({ table: "wallet_index", row: { wallet, stake: keyOf(of) } });
    }
  }

  of(table: string): Record<string, unknown>[] {
    const history = table === "wallet_delegation_history";
    return this.rows.filter((one) => one.table === (history ? "wallet_delegation" : table))
      .map(({ row }) => row).filter((row) => history || row.to_slot == null);
  }

  /** The network's answer about rewards. */
  reward(slot: number, of: number, rewards: bigint): void {
    for (const { wallet } of WALLETS.filter((one) => one.of === of)) {
      for (const row of this.of("wallet_reward")) if (row.wallet === wallet) row.to_slot = slot;
      this.rows.push({
        table: "wallet_reward",
        row: { wallet, credential: keyOf(of), epoch: BigInt(epochOf(slot)), rewards, from_slot: slot, to_slot: null },
      });
    }
  }

  private answer(queries: readonly RowQuery[]): Map<string, readonly Row[]> {
    const rows = new Map<string, readonly Row[]>();
    for (const query of queries) {
      const found = this.of(query.table).filter((row) => {
        const value = row[query.column] as string | bigint;
        return "in" in query ? query.in.includes(value) : BigInt(value) <= BigInt(query.atMost);
      });
      rows.set(query.table, [...new Set([...(rows.get(query.table) ?? []), ...found])]);
      rows.set(askedKey(query), found);
    }
    return rows;
  }

  forward(block: ScannedBlock): readonly Touched[] {
    const folded = this.projection.fold(block, this.answer(this.projection.keys(block)), false);
    if (folded.type !== "done") throw new Error("nothing is requested");
    for (const write of folded.writes) {
      if (write.type !== "close") continue;
      const key = Object.entries(write.key);
      const live = this.of(write.table).filter((row) => key.every(([column, value]) => row[column] === value));
      expect(live, "a close names one live row").toHaveLength(1);
      live[0]!.to_slot = block.slot;
    }
    for (const write of folded.writes) {
      if (write.type !== "insert") continue;
      // as in the catalog: int8
      const row = Object.fromEntries(
        Object.entries(write.row).map(([name, value]) => [name, typeof value === "number" ? BigInt(value) : value]),
      );
      this.rows.push({ table: write.table, row: { ...row, from_slot: block.slot, to_slot: null } });
    }
    return folded.touched;
  }

  back(slot: number): readonly Touched[] {
    const point: Point = { slot, hash: "" };
    const affected = new Map<string, Row[]>();
    for (const { table, row } of this.rows) {
      if (Number(row.from_slot ?? -1) > slot || Number(row.to_slot ?? -1) > slot) {
        affected.set(table, [...(affected.get(table) ?? []), { ...row }]);
      }
    }
    this.rows = this.rows.filter(({ row }) => Number(row.from_slot ?? -1) <= slot);
    for (const { row } of this.rows) if (Number(row.to_slot ?? -1) > slot) row.to_slot = null;
    const queries = this.projection.undoKeys!(affected, { from: Number.MAX_SAFE_INTEGER, to: slot });
    return this.projection.undo(point, affected, this.answer(queries));
  }

  joined(wallet: string, slot: number): readonly Touched[] {
    const { members } = this.projection;
    return members!.joined!([wallet], { slot, hash: "" }, this.answer(members!.joinedKeys!([wallet])));
  }
}

const stateOf = ({ pool, drep }: Truth) =>
  pool !== null ? (drep !== null ? "both" : "delegating") : drep !== null ? "voting" : "neither";

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      is: fc.constant("block" as const),
      skip: fc.integer({ min: 1, max: 7 }),
      deeds: fc.array(deed, { maxLength: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ is: fc.constant("back" as const), blocks: fc.integer({ min: 1, max: 8 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ is: fc.constant("told" as const), of: fc.nat(1), rewards: fc.bigInt(0n, 9n) }),
  },
  { weight: 1, arbitrary: fc.record({ is: fc.constant("joined" as const), wallet: fc.nat(2) }) },
);

describe("a stake credential", () => {
  it("is the result of its certificates, forward and back, in rows and in its actor", () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (story) => {
        const tables = new Tables();
        const actors = [0, 1].map((of) => new DelegationActor(keyOf(of)));
        const publisher = new Publisher();
        const replica = new BalanceReplica();
        for (const { wallet, of } of WALLETS) {
          const event = { type: "RESTORED", slot: -1, lovelace: "0", stake: keyOf(of) };
          const entity = { kind: "wallet", id: wallet };
          for (const published of publisher.events({ entity, event })) replica.apply(published);
        }
        const hear = (touched: readonly Touched[]) => {
          for (const { entity, event } of touched) {
            expect(entity.kind).toBe("delegation");
            for (const published of publisher.events({ entity, event })) replica.apply(published);
            actors.find(({ id }) => id === entity.id)!.receive(event);
          }
        };
        // the state after each block, the oldest first
        const blocks: { slot: number; truths: Truth[]; rewards: (bigint | null)[] }[] = [
          { slot: -1, truths: [NOTHING, NOTHING], rewards: [null, null] },
        ];
        for (const one of story) {
          const tip = blocks.at(-1)!;
          if (one.is === "block") {
            const slot = tip.slot + one.skip;
            const block = {
              slot,
              hash: hashOf(slot),
              height: blocks.length,
              transactions: one.deeds.map((deed, i) => transaction(deed, i, 2n)),
            } as unknown as ScannedBlock;
            hear(tables.forward(block));
            const truths = tip.truths.map((truth, of) => truthAfter(truth, one.deeds, of, slot));
            const rewards = tip.rewards.map((held, of) => {
              if (held === null) return null;
              const mine = one.deeds.filter((deed) => deed.of === of && deed.valid);
              if (mine.some(({ act }) => act.is === "unregister")) return 0n;
              const left = held - 2n * BigInt(mine.filter(({ act }) => act.is === "withdraw").length);
              return left < 0n ? 0n : left;
            });
            blocks.push({ slot, truths, rewards });
          } else if (one.is === "back") {
            blocks.splice(Math.max(1, blocks.length - one.blocks));
            hear(tables.back(blocks.at(-1)!.slot));
          } else if (one.is === "told") {
            // the answer belongs to a block of its own, so that a rollback removes it
            const slot = tip.slot + 1;
            hear(
              tables.forward(
                { slot, hash: hashOf(slot), height: blocks.length, transactions: [] } as unknown as ScannedBlock,
              ),
            );
            tables.reward(slot, one.of, one.rewards);
            const event = { type: "REWARDED", slot, epoch: epochOf(slot), rewards: String(one.rewards) };
            hear([{ entity: { kind: "delegation", id: keyOf(one.of) }, event }]);
            const rewards = tip.rewards.map((held, of) => of === one.of ? one.rewards : held);
            blocks.push({ slot, truths: tip.truths, rewards });
          } else hear(tables.joined(WALLETS[one.wallet]!.wallet, tip.slot));

          const now = blocks.at(-1)!;
          const epoch = epochOf(now.slot);
          for (const index of [0, 1]) {
            const truth = now.truths[index]!;
            // the state at the end of an epoch counts from the second one after it
            const counting = (in_: number) => {
              const { pool, drep } = blocks.findLast(({ slot }) => slot < 0 || epochOf(slot) <= in_ - 2)!
                .truths[index]!;
              return { pool, drep };
            };
            const active = counting(epoch);
            const next = [1, 2].map((ahead) => ({ ...counting(epoch + ahead), from: epoch + ahead }));
            const changes = next.filter((one, i) => {
              const before = i === 0 ? active : next[i - 1]!;
              return one.pool !== before.pool || one.drep !== before.drep;
            });
            for (const { wallet } of WALLETS.filter((one) => one.of === index)) {
              const mine = (table: string) => tables.of(table).filter((row) => row.wallet === wallet);
              const [live] = mine("wallet_delegation");
              const { slot: _, ...expected } = truth;
              if (!live) expect(truth).toEqual(NOTHING);
              else expect(live).toMatchObject(expected);
              const history = mine("wallet_delegation_history").map((row) => ({
                epoch: Number(row.epoch),
                pool: row.pool as string | null,
                drep: row.drep as string | null,
              }));
              expect(shownIn(history, epoch)).toEqual({ active, next: changes });
              expect(mine("wallet_reward").map(({ rewards }) => rewards)).toEqual(
                now.rewards[index] === null ? [] : [now.rewards[index]],
              );
            }
            const { view } = actors[index]!;
            if (!view) {
              expect(truth.slot).toBe(-1);
              continue;
            }
            for (const { wallet } of WALLETS.filter((one) => one.of === index)) {
              expect(replica.balance(wallet)).toMatchObject({
                rewards: BigInt(view.context.rewards as string),
                exact: true,
              });
            }
            seen.add(view.state);
            if (changes.length > 0) seen.add(`${changes.length} next`);
            expect(view.state).toBe(stateOf(truth));
            expect(view.context).toMatchObject({
              registered: truth.registered,
              deposit: truth.deposit === null ? null : String(truth.deposit),
              active,
              next: changes,
              rewards: String(now.rewards[index] ?? 0),
            });
            for (
              const intent of [
                { type: "JOIN", pool: POOLS[0]! },
                { type: "JOIN", pool: POOLS[1]!, drep: "abstain" },
                { type: "CAST", drep: "abstain" },
                { type: "QUIT", withdrawing: false },
                { type: "QUIT", withdrawing: true },
              ] as const
            ) {
              const account = { ...truth, rewards: now.rewards[index] ?? 0n };
              expect(view.can(intent)).toBe(refusalOf(account, intent) === undefined);
            }
          }
        }
      }),
      {
        numRuns: 300,
        // a rollback that removes nothing of it causes no event, and later ones count
        examples: [[[
          { is: "block", skip: 2, deeds: [] },
          { is: "block", skip: 1, deeds: [{ of: 0, act: { is: "delegate" }, valid: true }] },
          { is: "back", blocks: 1 },
          { is: "back", blocks: 1 },
          { is: "block", skip: 1, deeds: [{ of: 0, act: { is: "delegate", drep: 0 }, valid: true }] },
        ]]],
      },
    );
    expect([...seen].sort()).toEqual(["1 next", "2 next", "both", "delegating", "neither", "voting"]);
  });
});

describe("the actions of an account", () => {
  const account = { registered: true, pool: "11", drep: "abstain", rewards: 5n };
  it("joins another pool, not the same; votes again, not the same; quits with no rewards left", () => {
    expect(refusalOf(account, { type: "JOIN", pool: "22" })).toBeUndefined();
    expect(refusalOf(account, { type: "JOIN", pool: "11" })).toBe("pool_already_joined");
    expect(refusalOf(account, { type: "JOIN", pool: "11", drep: "abstain" })).toBe("pool_already_joined_same_vote");
    expect(refusalOf(account, { type: "JOIN", pool: "11", drep: "no_confidence" })).toBeUndefined();
    expect(refusalOf(account, { type: "CAST", drep: "abstain" })).toBe("same_vote");
    expect(refusalOf(account, { type: "CAST", drep: "no_confidence" })).toBeUndefined();
    expect(refusalOf(account, { type: "QUIT", withdrawing: false })).toBe("non_null_rewards");
    expect(refusalOf(account, { type: "QUIT", withdrawing: true })).toBeUndefined();
    expect(refusalOf({ ...account, rewards: 0n }, { type: "QUIT", withdrawing: false })).toBeUndefined();
    expect(refusalOf({ ...account, registered: false }, { type: "QUIT", withdrawing: true })).toBe(
      "not_delegating_to",
    );
  });
});
