/** Stake pools as a node reports them: parameters, state, stake shares, snapshots, inputs of rewards. */
import type { Credential } from "#src/cardano/address.ts";
import { as, CborError, type Encodable } from "#src/cardano/cbor.ts";
import type { Ratio } from "#src/cardano/parameters.ts";
import {
  amount,
  type CborShape,
  count,
  type EncodingContext,
  listOf,
  mapOf,
  nullable,
  record,
  sentSet,
  type ShapeValue,
  since,
  text,
} from "#src/node/queries/shape.ts";
import {
  amountsBy,
  anchor,
  compareCredentials,
  compareHex,
  credential,
  double,
  hex,
  ratio,
  share,
} from "#src/node/queries/vocabulary.ts";

/** A relay of a pool. Addresses are bytes in hexadecimal. */
export type Relay =
  | {
    readonly kind: "address";
    readonly port: number | undefined;
    readonly ipv4: string | undefined;
    readonly ipv6: string | undefined;
  }
  | { readonly kind: "name"; readonly port: number | undefined; readonly name: string }
  /** A name with SRV records. */
  | { readonly kind: "names"; readonly name: string };

/** A pool's share of the active stake. */
interface StakeShare {
  readonly pool: string;
  readonly share: Ratio;
  /** Lovelace; present since version 21 of the protocol. */
  readonly stake: bigint | undefined;
  /** Hash of the VRF key. */
  readonly vrf: string;
}

/** The distribution of active stake. */
export interface StakeDistribution {
  readonly pools: readonly StakeShare[];
  /** Lovelace; present since version 21 of the protocol. */
  readonly total: bigint | undefined;
}

/** The stake for which pools are ranked: an amount, or that of a credential. */
export type StakeOrCredential = bigint | Credential;

const port = nullable(count);
const address = nullable(hex);

const relay: CborShape<Relay> = {
  read(item, at): Relay {
    const [kind, a, b, c] = as(item, "array").value;
    switch (count.read(kind, at)) {
      case 0:
        return { kind: "address", port: port.read(a, at), ipv4: address.read(b, at), ipv6: address.read(c, at) };
      case 1:
        return { kind: "name", port: port.read(a, at), name: text.read(b, at) };
      case 2:
        return { kind: "names", name: text.read(a, at) };
      default:
        throw new CborError("no such kind of relay");
    }
  },
  write(value, at): Encodable {
    switch (value.kind) {
      case "address":
        return [0, port.write(value.port, at), address.write(value.ipv4, at), address.write(value.ipv6, at)];
      case "name":
        return [1, port.write(value.port, at), value.name];
      case "names":
        return [2, value.name];
    }
  },
};

const poolParameters = record({
  pool: hex,
  vrf: hex,
  pledge: amount,
  cost: amount,
  margin: ratio,
  rewardAccount: hex,
  owners: sentSet(hex, compareHex),
  relays: listOf(relay),
  metadata: nullable(anchor),
}, { more: true });

/**
 * A pool's registration; fields that later eras append are ignored. Hashes and the reward account are hexadecimal,
 * amounts lovelace.
 */
export type PoolParameters = ShapeValue<typeof poolParameters>;

/** Pools by id, which each registration repeats. */
export const pools: CborShape<readonly PoolParameters[]> = mapOf(
  hex,
  poolParameters,
  compareHex,
  (_, registration) => registration,
  (registration) => [registration.pool, registration],
);

/** Registered pools, changed parameters from the next epoch on, retirements, deposits. */
export const poolState = record({
  current: pools,
  future: pools,
  retiring: mapOf(hex, count, compareHex, (pool, epoch) => ({ pool, epoch }), ({ pool, epoch }) => [pool, epoch]),
  deposits: amountsBy("pool", hex, compareHex),
}, { more: true });

/** Lovelace by pool. */
export const stakeByPool = amountsBy("pool", hex, compareHex);

const shareBefore21 = mapOf(
  hex,
  record({ share, vrf: hex }),
  compareHex,
  (pool, { share, vrf }): StakeShare => ({ pool, share, stake: undefined, vrf }),
  ({ pool, share, vrf }) => [pool, { share, vrf }],
);

const sharesOf21 = mapOf(
  hex,
  record({ share, stake: amount, vrf: hex }),
  compareHex,
  (pool, of): StakeShare => ({ pool, ...of }),
  ({ pool, share, stake, vrf }) => [pool, { share, stake: requireStake(stake), vrf }],
);

const distributionOf21 = record({ pools: sharesOf21, total: amount });

/** A value that version 21 requires and version 20 lacks. */
function requireStake(stake: bigint | undefined): bigint {
  if (stake === undefined) throw new CborError("the stake is stated since version 21");
  return stake;
}

/** Stake shares, in either form. */
export const stakeDistribution: CborShape<StakeDistribution> = since<StakeDistribution>(
  21,
  {
    read: (item, at) => ({ pools: shareBefore21.read(item, at), total: undefined }),
    write: ({ pools }, at) => shareBefore21.write(pools, at),
  },
  {
    read: (item, at) => distributionOf21.read(item, at),
    write: ({ pools, total }, at) => distributionOf21.write({ pools, total: requireStake(total) }, at),
  },
);

/**
 * Lovelace in the three snapshots: of the last epoch boundary, the one before (for leaders now), and the one before
 * that (for rewards).
 */
const stakes = { mark: amount, set: amount, go: amount };
const snapshots = record({
  pools: mapOf(
    hex,
    record(stakes),
    compareHex,
    (pool, of) => ({ pool, ...of }),
    ({ pool, ...of }) => [pool, of],
  ),
  ...stakes,
});

type PoolSnapshots = ShapeValue<typeof snapshots>;
type StakeSnapshots = Pick<PoolSnapshots, "pools"> & { readonly totals: Omit<PoolSnapshots, "pools"> };

/** Stake snapshots. */
export const stakeSnapshots: CborShape<StakeSnapshots> = {
  read(item, at) {
    const { pools, ...totals } = snapshots.read(item, at);
    return { pools, totals };
  },
  write: ({ pools, totals }, at) => snapshots.write({ pools, ...totals }, at),
};

const rewardInfoShape = record({
  terms: record({ desiredPools: count, pledgeInfluence: ratio, pot: amount, totalStake: amount }),
  pools: mapOf(
    hex,
    record({
      stake: amount,
      ownerPledge: amount,
      ownerStake: amount,
      cost: amount,
      margin: ratio,
      performance: double,
    }),
    compareHex,
    (pool, of) => ({ pool, ...of }),
    ({ pool, ...of }) => [pool, of],
  ),
});

type RewardParts = ShapeValue<typeof rewardInfoShape>;
/** Inputs of all pools' rewards. */
type RewardInfo = RewardParts["terms"] & Pick<RewardParts, "pools">;

/** Inputs of rewards. */
export const rewardInfo: CborShape<RewardInfo> = {
  read(item, at) {
    const { terms, pools } = rewardInfoShape.read(item, at);
    return { ...terms, pools };
  },
  write: ({ pools, ...terms }, at) => rewardInfoShape.write({ terms, pools }, at),
};

/** The ledger's order of stakes: amounts first. */
export function compareStakes(a: StakeOrCredential, b: StakeOrCredential): number {
  if (typeof a === "bigint") return typeof b === "bigint" ? (a < b ? -1 : a > b ? 1 : 0) : -1;
  return typeof b === "bigint" ? 1 : compareCredentials(a, b);
}

/** `[0, lovelace]` or `[1, credential]`. */
export const stake: CborShape<StakeOrCredential> = {
  read(item, at) {
    const [kind, value] = as(item, "array").value;
    const which = count.read(kind, at);
    if (which > 1) throw new CborError("no such kind of stake");
    return which === 0 ? amount.read(value, at) : credential.read(value, at);
  },
  write: (value, at: EncodingContext) => (typeof value === "bigint" ? [0, value] : [1, credential.write(value, at)]),
};

/** What each pool would pay for a stake if all behave rationally, by stake and pool. */
export const nonMyopicRewards = mapOf(
  stake,
  stakeByPool,
  compareStakes,
  (of, pools) => ({ stake: of, pools }),
  (row) => [row.stake, row.pools],
);
