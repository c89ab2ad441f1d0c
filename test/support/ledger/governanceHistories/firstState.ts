/** The state in which random histories begin: accounts, pools, representatives and a committee that can vote. */
import type { PlainState } from "../plainGovernance/types.ts";
import { ACCOUNTS, COLD, DREPS, HOT, POOLS } from "./cast.ts";
import type { Dice } from "./dice.ts";
import { firstParameters, quorum, UNIT } from "./parameters.ts";

const EPOCH = 10;

export function firstState(dice: Dice, major: number): PlainState {
  const parameters = firstParameters(dice);
  const deposit = (number: number) => parameters.get(number) as bigint;
  const pools = POOLS.slice(0, 5).map(({ id }) => id);
  const dreps = DREPS.slice(0, 7).map(({ id }) => id);
  const open = ACCOUNTS.slice(0, 10).map(({ id }) => id);
  const members = COLD.slice(0, 5).map(({ id }) => id);
  const expiry = EPOCH + Number(parameters.get(32));
  const state: PlainState = {
    network: 0,
    newestMajor: 11,
    epoch: EPOCH,
    version: [major, 0],
    parameters,
    committee: {
      members: new Map(members.map((cold) => [cold, EPOCH + dice.between(20, 50)])),
      quorum: quorum(dice),
    },
    hot: new Map(members.map((cold, n) => [cold, HOT[n]!.id])),
    constitution: { url: "" },
    roots: {},
    treasury: 5_000n * UNIT,
    accounts: new Map(open.map((credential, n) => [credential, {
      deposit: deposit(5),
      balance: 0n,
      // every pool and every representative has some stake at first
      pool: pools[n % pools.length],
      drep: n === 9 ? "no confidence" : n === 8 ? "abstain" : dreps[n % dreps.length],
    }])),
    outputs: new Map(ACCOUNTS.map(({ id }) => [id, BigInt(dice.between(1, 6)) * UNIT])),
    pools: new Map(pools.map((id, n) => [id, { deposit: deposit(6), account: open[open.length - 1 - n]! }])),
    dreps: new Map(dreps.map((credential) => [credential, { deposit: deposit(31), expiry, delegators: new Set() }])),
    proposals: [],
    dormant: 0,
    deposits: deposit(5) * BigInt(open.length) + deposit(6) * BigInt(pools.length) + deposit(31) * BigInt(dreps.length),
    donations: 0n,
    fees: 0n,
    feesDue: 0n,
    poll: undefined,
  };
  for (const [credential, { drep }] of state.accounts) state.dreps.get(drep ?? "")?.delegators.add(credential);
  return state;
}
