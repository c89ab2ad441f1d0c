/** Arbitrary queries of a node's ledger and answers to them, for property tests of their encodings. */
import fc from "fast-check";
import { fromHex } from "#src/base/bytes.ts";
import { origin } from "#src/cardano/block.ts";
import { decode, encode } from "#src/cardano/cbor.ts";
import { readOutput } from "#src/cardano/output.ts";
import { compareStatuses } from "#src/node/queries/governance.ts";
import { eraMismatch } from "#src/node/queries/eraMismatch.ts";
import type { EraQuery, NodeQuery, QueryAnswer } from "#src/node/queries/query.ts";
import { compareStakes } from "#src/node/queries/pools.ts";
import { compareCredentials, compareDreps, compareHex } from "#src/node/queries/vocabulary.ts";
import { governance } from "./arbitraryGovernance.ts";
import {
  anchor,
  bytes,
  cbor,
  credential,
  drep,
  hash28,
  hash32,
  lovelace,
  many,
  natural,
  opt,
  ratio,
  ref,
  refs,
  rows,
  small,
  sorted,
  stake,
} from "./arbitraryValues.ts";

const output = fc.record({ address: hash28, lovelace, datum: opt(bytes(32)) }).map(({ address, lovelace, datum }) =>
  readOutput(decode(encode(
    datum === undefined
      ? [fromHex("60" + address), lovelace]
      : new Map<number, Uint8Array | bigint | [number, Uint8Array]>([
        [0, fromHex("60" + address)],
        [1, lovelace],
        [2, [0, fromHex(datum)]],
      ]),
  )))
);
const utxo = rows(fc.record({ ref, output }), ({ ref }) => ref, refs);

const pools = sorted(hash28, compareHex);
const credentials = sorted(credential, compareCredentials);
const byPool = rows(fc.record({ pool: hash28, lovelace }), ({ pool }) => pool, compareHex);
const byCredential = rows(fc.record({ credential, lovelace }), (row) => row.credential, compareCredentials);
const port = opt(fc.nat({ max: 65_535 }));
const relay = fc.oneof(
  fc.record({ kind: fc.constant("address" as const), port, ipv4: opt(bytes(4)), ipv6: opt(bytes(16)) }),
  fc.record({ kind: fc.constant("name" as const), port, name: fc.string() }),
  fc.record({ kind: fc.constant("names" as const), name: fc.string() }),
);
const poolParameters = rows(
  fc.record({
    pool: hash28,
    vrf: hash32,
    pledge: lovelace,
    cost: lovelace,
    margin: ratio,
    rewardAccount: bytes(29),
    owners: sorted(hash28, compareHex),
    relays: fc.array(relay, { maxLength: 3 }),
    metadata: opt(anchor),
  }),
  ({ pool }) => pool,
  compareHex,
);
const snapshot = { mark: lovelace, set: lovelace, go: lovelace };

const units = fc.record({ memory: lovelace, steps: lovelace });
const common = {
  protocolVersion: fc.record({ major: small, minor: small }),
  feePerByte: lovelace,
  feeFixed: lovelace,
  maxTxSize: small,
  maxBlockBodySize: small,
  maxBlockHeaderSize: small,
  keyDeposit: lovelace,
  poolDeposit: lovelace,
  minPoolCost: lovelace,
  poolRetirementBound: small,
  desiredPools: small,
  pledgeInfluence: ratio,
  monetaryExpansion: ratio,
  treasuryGrowth: ratio,
};
const federated = { decentralisation: ratio, extraEntropy: cbor };
const scripts = {
  costModels: fc.uniqueArray(
    fc.tuple(fc.nat({ max: 5 }), fc.array(fc.bigInt({ min: -(1n << 63n), max: 1n << 62n }), many)),
    {
      selector: ([language]) => language,
      maxLength: 3,
    },
  ).map((models) => new Map(models)),
  prices: fc.record({ memory: ratio, steps: ratio }),
  maxTxUnits: units,
  maxBlockUnits: units,
  maxValueSize: small,
  collateralPercentage: small,
  maxCollateralInputs: small,
};
const thresholds = <Name extends string>(...names: Name[]) =>
  fc.tuple(...names.map(() => ratio)).map((all) =>
    Object.fromEntries(all.map((each, i) => [names[i]!, each])) as { [N in Name]: (typeof all)[number] }
  );
const shelley = fc.record({ ...common, ...federated, minUtxo: lovelace });
const conway = fc.record({
  ...common,
  ...scripts,
  utxoCostPerByte: lovelace,
  poolThresholds: thresholds("noConfidence", "committee", "committeeNoConfidence", "hardFork", "securityParameters"),
  drepThresholds: thresholds(
    "noConfidence",
    "committee",
    "committeeNoConfidence",
    "constitution",
    "hardFork",
    "networkParameters",
    "economicParameters",
    "technicalParameters",
    "governanceParameters",
    "treasuryWithdrawal",
  ),
  committeeMinSize: small,
  committeeMaxTerm: small,
  govActionLifetime: small,
  govActionDeposit: lovelace,
  drepDeposit: lovelace,
  drepActivity: small,
  refScriptCostPerByte: ratio,
});

const parameters = {
  1: shelley.map((parameters) => ({ era: "Shelley" as const, parameters })),
  2: shelley.map((parameters) => ({ era: "Allegra" as const, parameters })),
  3: shelley.map((parameters) => ({ era: "Mary" as const, parameters })),
  4: fc.record({ ...common, ...federated, ...scripts, utxoCostPerWord: lovelace })
    .map((parameters) => ({ era: "Alonzo" as const, parameters })),
  5: fc.record({ ...common, ...scripts, utxoCostPerByte: lovelace })
    .map((parameters) => ({ era: "Babbage" as const, parameters })),
  6: conway.map((parameters) => ({ era: "Conway" as const, parameters })),
  7: cbor.map((raw) => ({ era: "unknown" as const, raw })),
};

const systemStart = fc.record({
  year: fc.integer({ min: 2017, max: 3_000 }),
  dayOfYear: fc.integer({ min: 1, max: 366 }),
  picoseconds: fc.bigInt({ min: 0n, max: 86_400_000_000_000_000n }),
});
const bound = fc.record({ time: lovelace, slot: natural, epoch: natural });
const history = fc.array(
  fc.record({
    start: bound,
    end: opt(bound),
    terms: fc.record({ epochLength: small, slotLength: small, safeZone: opt(small), genesisWindow: small }),
  }),
  { maxLength: 8 },
);

const genesis = (version: number) =>
  fc.record({
    systemStart,
    networkMagic: small,
    networkId: fc.constantFrom(0, 1),
    activeSlots: ratio,
    securityParameter: small,
    epochLength: small,
    slotsPerKesPeriod: small,
    maxKesEvolutions: small,
    slotLength: natural,
    updateQuorum: small,
    maxSupply: lovelace,
    parameters: shelley,
    delegates: rows(fc.record({ key: hash28, delegate: hash28, vrf: hash32 }), ({ key }) => key, compareHex),
    initialFunds: rows(fc.record({ address: bytes(29), lovelace }), ({ address }) => address, compareHex),
    staking: fc.record({
      pools: poolParameters,
      delegations: rows(fc.record({ key: hash28, pool: hash28 }), ({ key }) => key, compareHex),
    }),
    extra: version < 21 ? fc.constant(undefined) : opt(cbor),
  });

const distribution = (version: number) =>
  fc.record({
    pools: rows(
      fc.record({
        pool: hash28,
        share: ratio,
        stake: version < 21 ? fc.constant(undefined) : lovelace,
        vrf: hash32,
      }),
      ({ pool }) => pool,
      compareHex,
    ),
    total: version < 21 ? fc.constant(undefined) : lovelace,
  });

/** A query and an answer to it. */
export interface QueryAndAnswer {
  readonly query: NodeQuery;
  readonly answer: QueryAnswer<NodeQuery>;
}

function ask<Q extends NodeQuery>(query: fc.Arbitrary<Q>, answer: fc.Arbitrary<unknown>): fc.Arbitrary<QueryAndAnswer> {
  return fc.record({ query, answer: answer as fc.Arbitrary<QueryAnswer<NodeQuery>> });
}

const mismatch = fc.record({ asked: fc.nat({ max: 9 }), ledger: fc.nat({ max: 9 }) })
  .map(({ asked, ledger }) => ({ ok: false as const, error: eraMismatch(asked, ledger) }));

type About = (
  query: fc.Arbitrary<Record<string, unknown> & { kind: EraQuery["kind"] }>,
  value: fc.Arbitrary<unknown>,
) => fc.Arbitrary<QueryAndAnswer>;

const STATUSES = ["active", "expired", "unrecognized"] as const;
const governed = governance(conway);

/** The queries of governance that a version has. */
function governanceQueries(version: number, about: About): fc.Arbitrary<QueryAndAnswer>[] {
  const query = (kind: EraQuery["kind"], given: Record<string, fc.Arbitrary<unknown>> = {}) =>
    fc.record({ kind: fc.constant(kind), ...given });
  const since = (first: number, ...queries: fc.Arbitrary<QueryAndAnswer>[]) => version < first ? [] : queries;
  const statuses = sorted(fc.constantFrom(...STATUSES), compareStatuses);
  const dreps = sorted(drep, compareDreps);
  return [
    about(query("constitution"), governed.constitution),
    about(query("governanceState"), governed.state),
    about(query("drepState", { credentials }), governed.dreps),
    about(query("drepStake", { dreps }), governed.drepStake),
    about(query("committeeMembers", { cold: credentials, hot: credentials, statuses }), governed.members),
    about(query("poolStake", { pools }), byPool),
    ...since(
      17,
      about(query("proposals", { actions: sorted(ref, refs) }), governed.actions),
      about(query("ratifyState"), governed.ratify),
    ),
    ...since(18, about(query("futureParameters"), opt(conway))),
    ...since(20, about(query("poolDefaultVote", { pool: hash28 }), fc.constantFrom("no", "abstain", "no confidence"))),
    ...since(23, about(query("drepDelegations", { dreps }), governed.delegations)),
  ];
}

/** Queries of every kind, with answers, for a version of the protocol and an era from Shelley on. */
export function queryAndAnswer(version: number, era: 1 | 2 | 3 | 4 | 5 | 6 | 7): fc.Arbitrary<QueryAndAnswer> {
  const about = (
    query: fc.Arbitrary<Record<string, unknown> & { kind: EraQuery["kind"] }>,
    value: fc.Arbitrary<unknown>,
  ) =>
    ask(
      query.map((of) => ({ ...of, era }) as unknown as EraQuery),
      fc.oneof({ weight: 9, arbitrary: value.map((value) => ({ ok: true, value })) }, {
        weight: 1,
        arbitrary: mismatch,
      }),
    );
  const bare = <K extends EraQuery["kind"]>(kind: K) => fc.constant({ kind });
  const of = <K extends EraQuery["kind"]>(kind: K, of: Record<string, fc.Arbitrary<unknown>>) =>
    fc.record({ kind: fc.constant(kind), ...of });
  const point = fc.oneof(fc.constant(origin), fc.record({ slot: natural, hash: hash32 }));
  const simple: [NodeQuery["kind"], fc.Arbitrary<unknown>][] = [
    ["systemStart", systemStart],
    ["height", opt(natural)],
    ["point", point],
    ["currentEra", fc.nat({ max: 9 })],
    ["eraHistory", history],
  ];
  const inner: fc.Arbitrary<EraQuery> = of("delegations", { credentials }).map((of) =>
    ({ ...of, era }) as unknown as EraQuery
  );
  return fc.oneof(
    ...simple.map(([kind, answer]) => ask(fc.constant({ kind } as NodeQuery), answer)),
    ask(fc.record({ kind: fc.constant("eraStart" as const), era: fc.nat({ max: 9 }) }), opt(bound)),
    about(bare("ledgerTip"), point),
    about(bare("epoch"), natural),
    about(
      of("nonMyopicRewards", { stakes: sorted(stake, compareStakes) }),
      rows(fc.record({ stake, pools: byPool }), ({ stake }) => stake, compareStakes),
    ),
    about(bare("parameters"), parameters[era]),
    about(bare("stakeDistribution"), distribution(version)),
    about(of("utxoByAddress", { addresses: sorted(bytes(29), compareHex) }), utxo),
    about(bare("wholeUtxo"), utxo),
    about(
      of("delegations", { credentials }),
      fc.record({
        pools: rows(fc.record({ credential, pool: hash28 }), (row) => row.credential, compareCredentials),
        rewards: byCredential,
      }),
    ),
    about(bare("genesis"), genesis(version)),
    about(of("utxoByInput", { inputs: sorted(ref, refs) }), utxo),
    about(bare("stakePools"), pools),
    about(of("poolParameters", { pools }), poolParameters),
    about(
      bare("rewardInfo"),
      fc.record({
        desiredPools: small,
        pledgeInfluence: ratio,
        pot: lovelace,
        totalStake: lovelace,
        pools: rows(
          fc.record({
            pool: hash28,
            stake: lovelace,
            ownerPledge: lovelace,
            ownerStake: lovelace,
            cost: lovelace,
            margin: ratio,
            performance: fc.double({ noNaN: true }),
          }),
          ({ pool }) => pool,
          compareHex,
        ),
      }),
    ),
    about(
      of("poolState", { pools: opt(pools) }),
      fc.record({
        current: poolParameters,
        future: poolParameters,
        retiring: rows(fc.record({ pool: hash28, epoch: natural }), ({ pool }) => pool, compareHex),
        deposits: byPool,
      }),
    ),
    about(
      of("stakeSnapshots", { pools: opt(pools) }),
      fc.record({
        pools: rows(fc.record({ pool: hash28, ...snapshot }), ({ pool }) => pool, compareHex),
        totals: fc.record(snapshot),
      }),
    ),
    about(of("poolDistribution", { pools: opt(pools) }), distribution(version)),
    about(of("stakeDeposits", { credentials }), byCredential),
    ...governanceQueries(version, about),
    about(
      of("voteDelegatees", { credentials }),
      rows(fc.record({ credential, drep }), (row) => row.credential, compareCredentials),
    ),
    about(bare("accountState"), fc.record({ treasury: lovelace, reserves: lovelace })),
    ...(version < 21 ? [] : [about(bare("maxMajorVersion"), natural)]),
    about(inner.map((query) => ({ kind: "wrapped" as const, query })), fc.uint8Array()),
    about(fc.constant({ kind: "raw" as const, query: Uint8Array.of(0x81, 0x18, 0x1b) }), cbor),
  );
}
