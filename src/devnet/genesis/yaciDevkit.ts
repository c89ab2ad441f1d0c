/**
 * What the genesis of Yaci DevKit's default devnet states and clients rely on: its stake pool, funds beside those of the
 * default accounts, constitution, and parameters that differ from mainnet's.
 *
 * Source: the defaults of its genesis (bloxbean/yaci-devkit 0.12, MIT). Its security parameter of 100 is not taken: a
 * reset goes back as many blocks as can be rolled back.
 */
import { mainnetParametersAt, type Major } from "#src/ledger/parameters.ts";
import type { Parameters } from "#src/cardano/parameters.ts";

const ADA = 1_000_000n;

/** The networks that a new devnet can be like, beside mainnet's parameters. */
export const LIKENESSES = ["yaci-devkit"] as const;
export type Likeness = (typeof LIKENESSES)[number];

/** Its pool: pledge, owners, relays and metadata are none. Hashes in hexadecimal. */
export const DEVKIT_POOL = {
  id: "7301761068762f5900bde9eb7c1c15b09840285130f5b0f53606cc57",
  vrf: "c2b62ffa92ad18ffc117ea3abeb161a68885000a466f9c71db5e4731d6630061",
  cost: 340n * ADA,
  rewardKey: "11a14edf73b08a0a27cb98b2c57eb37c780df18fcfcf6785ed5df84a",
  /** The only delegator: payment and stake key of the address that holds the stake. */
  delegator: {
    payment: "7290ea8fa9433c1045a4c8473959ad608e6c03a58c7de33bdbd3ce6f",
    stake: "295b987135610616f3c74e11c94d77b6ced5ccc93a7d719cfb135062",
  },
} as const;

/** Its faucets, as payment key hashes of addresses without a stake part, and the lovelace of each. */
export const DEVKIT_FUNDS = {
  keys: [
    "5276322ac7882434173dcc6441905f6737689bd309b68ad8b3614fd8",
    "a0f1aa7dca95017c11e7e373aebcf0c4568cf47ec12b94f8eb5bba8b",
    "ba957a0fff6816021b2afa7900beea68fd10f2d78fb5b64de0d2379c",
  ],
  each: 3_000_000_000n * ADA,
} as const;

/** Its constitution, as in a Conway genesis; the script accepts everything. */
export const DEVKIT_CONSTITUTION = {
  anchor: {
    url: "https://devkit.yaci.xyz/constitution.json",
    dataHash: "f89cc2469ce31c3dfda2f3e0b56c5c8b4ee4f0e5f66c30a3f12a95298b01179e",
  },
  script: "186e32faa80a26810392fda6d559c7ed4721a65ce1c9d4ef3e1c87b4",
} as const;

/** Its settings as options of a genesis, amounts in lovelace; what it leaves to every devnet is not here. */
export const devkitGenesis = {
  pools: 1,
  /** The stake of its pool. */
  pledge: 300_000n * ADA,
  /** All that is not in circulation there; here the faucet has a thousand million ada of it. */
  reserves: 35_000_000_000n * ADA,
} as const;

/** Its parameters at a version: mainnet's with smaller deposits for governance, and other rewards. */
export function devkitParametersAt(major: Major): Parameters {
  return {
    ...mainnetParametersAt(major),
    govActionDeposit: 1_000n * ADA,
    desiredPools: 100,
    pledgeInfluence: { numerator: 0n, denominator: 1n },
  };
}
