import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { concat, fromHex, toHex } from "#src/base/bytes.ts";
import { as, decode, raw } from "#src/cardano/cbor.ts";
import {
  decodeQuery,
  encodeQuery,
  type EraQuery,
  isEraQuery,
  type NodeQuery,
  type QueryAnswer,
} from "#src/node/queries/query.ts";
import { decodeAnswer, decodeResult, encodeAnswer, encodeResult } from "#src/node/queries/result.ts";
import { vectors } from "../../../support/base/vectors.ts";

const ERAS = ["Byron", "Shelley", "Allegra", "Mary", "Alonzo", "Babbage", "Conway", "Dijkstra"];
const captures = vectors("blocks/captures");
const folders = [
  "2/CardanoNodeToClientVersion12",
  "2/CardanoNodeToClientVersion13",
  "2/CardanoNodeToClientVersion14",
  "2/CardanoNodeToClientVersion15",
  "3/CardanoNodeToClientVersion16",
  "3/CardanoNodeToClientVersion17",
  "3/CardanoNodeToClientVersion18",
  "3/CardanoNodeToClientVersion19",
].map((name) => `${captures}/ntc-golden/QueryVersion${name}`);
/** The folder of version 16 ends in 12. */
const versionOf = (folder: string) => Number(folder.slice(-2)) + 4;

const goldens = (kind: string) =>
  folders.flatMap((folder) =>
    readdirSync(folder).filter((name) => name.startsWith(kind)).map((name) => ({
      name,
      version: versionOf(folder),
      bytes: new Uint8Array(readFileSync(`${folder}/${name}`)),
    }))
  );

/** Golden queries lack the enclosing `[0, …]`. */
const inBlock = (bytes: Uint8Array) => concat(Uint8Array.of(0x82, 0), bytes);

/** The query of a golden answer: the one whose golden is beside it. */
function questionOf(name: string, version: number): NodeQuery {
  const [, era, what] = name.split("_");
  const index = ERAS.indexOf(era!);
  switch (era) {
    case "AnytimeByron":
      return { kind: "eraStart", era: 0 };
    case "AnytimeShelley":
      return { kind: "eraStart", era: 1 };
    case "HardFork":
      return { kind: "eraHistory" };
    case "Byron":
      return { kind: "raw", era: 0, query: Uint8Array.of(0) };
    case "EraMismatchByron":
    case "EraMismatchShelley":
      return { kind: "epoch", era: 1 };
  }
  const queryName = `Query_${era}_` + ({
    EmptyPParams: "GetCurrentPParams",
    EpochNo: "GetEpochNo",
    GenesisConfig: "GetGenesisConfig",
    GetBigLedgerPeerSnapshot: "GetBigLedgerPeerSnapshot",
    LedgerTip: "GetLedgerTip",
    MaxMajorProtocolVersion: "GetMaxMajorProtocolVersion",
    NonMyopicMemberRewards: "GetNonMyopicMemberRewards",
    StakeDistribution: "GetStakeDistribution",
    StakeDistribution2: "GetStakeDistribution2",
  }[what!] ?? "?");
  const folder = folders.find((each) => versionOf(each) === version);
  const query = decodeQuery(inBlock(new Uint8Array(readFileSync(`${folder}/${queryName}`))), version);
  expect(query).toMatchObject({ era: index });
  return query;
}

/** Whether a query's answer is decoded here. */
function isTyped(query: NodeQuery): boolean {
  if (query.kind === "parameters") return query.era <= 6;
  return query.kind !== "raw" && query.kind !== "unknown";
}

/** Counts by name, printed at the end. */
class Tally {
  private readonly counts = new Map<string, number>();
  add(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }
  of(what: string): number {
    return this.counts.get(what) ?? 0;
  }
  print(title: string): void {
    console.info(`${title}: ${[...this.counts].map(([what, count]) => `${count} ${what}`).join(", ")}`);
  }
}

describe("a node's own encodings of queries (versions 16 to 23)", () => {
  it("are decoded, and encoded to the same bytes", () => {
    const tally = new Tally();
    for (const { name, version, bytes } of goldens("Query_")) {
      const query = decodeQuery(inBlock(bytes), version);
      expect(query.kind, name).not.toBe("unknown");
      const [, era] = name.split("_");
      if (isEraQuery(query)) expect(query.era, name).toBe(ERAS.indexOf(era!));
      expect(toHex(encodeQuery(query, version)), `${name} of version ${version}`).toBe(toHex(inBlock(bytes)));
      tally.add(query.kind === "raw" ? "generic" : "typed");
    }
    tally.print("golden queries");
    expect([tally.of("typed"), tally.of("generic")]).toEqual([381, 43]);
  });

  it("are in the captured messages too", () => {
    // the arguments of the first lack the tag of a set, which Conway makes optional: decoded so, and encoded with the
    // tag
    const [first, , , second] = JSON.parse(readFileSync(`${captures}/lsq-captures-pallas-tests.json`, "utf8")) as {
      cbor: string;
    }[];
    const hash = "1218f563e4e10958fdabbdfb470b2f9d386215763cc89273d9bdfffa";
    expect(decodeQuery(fromHex(first!.cbor), 16))
      .toEqual({ kind: "delegations", era: 6, credentials: [{ kind: "key", hash }] });
    const pools = decodeQuery(inBlock(fromHex(second!.cbor)), 16);
    expect(pools).toMatchObject({ kind: "poolParameters", era: 6 });
    expect(encodeQuery(pools, 16)).toEqual(inBlock(fromHex(second!.cbor)));
  });
});

describe("a node's own encodings of answers (versions 16 to 23)", () => {
  it("are decoded, and encoded to the same bytes; bounds with a fourth element are only decoded", () => {
    const tally = new Tally();
    for (const { name, version, bytes } of goldens("Result_")) {
      const query = questionOf(name, version);
      const answer = decodeResult(query, bytes, version);
      const written = encodeResult(query, answer, version);
      if (query.kind === "eraStart" || query.kind === "eraHistory") {
        tally.add("decode only");
        expect(written.length, name).toBeLessThan(bytes.length);
        expect(decodeResult(query, written, version), name).toEqual(answer);
      } else {
        tally.add(isTyped(query) ? "typed" : "generic");
        expect(toHex(written), `${name} of version ${version}`).toBe(toHex(bytes));
      }
    }
    tally.print("golden answers");
    expect([tally.of("typed"), tally.of("generic"), tally.of("decode only")]).toEqual([365, 51, 24]);
  });

  it("have the expected values", () => {
    const golden = (name: string, version = 23) =>
      goldens(`Result_${name}`).find((each) => each.name === `Result_${name}` && each.version === version)!.bytes;
    const answer = <Q extends NodeQuery>(query: Q, name: string, version = 23): QueryAnswer<Q> =>
      decodeResult(query, golden(name, version), version);
    expect(answer({ kind: "epoch", era: 6 }, "Conway_EpochNo")).toEqual({ ok: true, value: 10 });
    expect(answer({ kind: "epoch", era: 1 }, "EraMismatchByron")).toMatchObject({
      ok: false,
      error: {
        code: "era_mismatch",
        message: "This is for the era Shelley, and the ledger is in the era Byron.",
        details: { asked: { era: 1, name: "Shelley" }, ledger: { era: 0, name: "Byron" } },
      },
    });
    expect(answer({ kind: "stakeDistribution", era: 6 }, "Conway_StakeDistribution2")).toMatchObject({
      value: { total: 1n, pools: [{ share: { numerator: 1n, denominator: 1n }, stake: 1n }] },
    });
    expect(answer({ kind: "stakeDistribution", era: 6 }, "Conway_StakeDistribution", 20)).toMatchObject({
      value: { total: undefined, pools: [{ stake: undefined }] },
    });
    expect(answer({ kind: "genesis", era: 6 }, "Conway_GenesisConfig")).toMatchObject({
      value: {
        systemStart: { year: 2020, dayOfYear: 135, picoseconds: 0n },
        activeSlots: { numerator: 9n, denominator: 10n },
        securityParameter: 10,
        epochLength: 100,
        slotLength: 2_000_000,
        maxSupply: 45_000_000_000_000_000n,
      },
    });
    expect(answer({ kind: "eraHistory" }, "HardFork")).toMatchObject([
      { start: { slot: 0, epoch: 0 }, end: { slot: 1_000, epoch: 10 }, terms: { slotLength: 7_000, safeZone: 20 } },
      { start: { slot: 1_000, epoch: 10 }, end: { slot: 1_100, epoch: 11 }, terms: { epochLength: 100 } },
    ]);
  });
});

/** The ledger's own examples of answers, by file; each file is a list. */
const EXAMPLES: { readonly [file: string]: EraQuery } = {
  queryAccountsDeposits: { kind: "stakeDeposits", era: 6, credentials: [] },
  queryChainAccountState: { kind: "accountState", era: 6 },
  queryCommitteeMembersState: { kind: "committeeMembers", era: 6, cold: [], hot: [], statuses: [] },
  queryConstitution: { kind: "constitution", era: 6 },
  queryConstitutionHash: { kind: "raw", era: 6, query: Uint8Array.of() },
  queryCurrentEpochNo: { kind: "epoch", era: 6 },
  queryCurrentPParams: { kind: "parameters", era: 6 },
  queryDRepDelegatees: { kind: "voteDelegatees", era: 6, credentials: [] },
  queryDRepDelegations: { kind: "drepDelegations", era: 6, dreps: [] },
  queryDRepStakeDistr: { kind: "drepStake", era: 6, dreps: [] },
  queryDRepState: { kind: "drepState", era: 6, credentials: [] },
  queryFuturePParams: { kind: "futureParameters", era: 6 },
  queryGovState: { kind: "governanceState", era: 6 },
  queryPoolParameters: { kind: "poolParameters", era: 6, pools: [] },
  queryPoolState: { kind: "poolState", era: 6, pools: undefined },
  queryProposals: { kind: "proposals", era: 6, actions: [] },
  queryRatifyState: { kind: "ratifyState", era: 6 },
  queryRegisteredDRepStakeDistr: { kind: "raw", era: 6, query: Uint8Array.of() },
  querySPOStakeDistr: { kind: "poolStake", era: 6, pools: [] },
  querySetSnapshotStakePoolDistr: { kind: "poolDistribution", era: 6, pools: undefined },
  queryStakePoolDefaultVote: { kind: "poolDefaultVote", era: 6, pool: "00".repeat(28) },
  queryStakePoolDelegsAndRewards: { kind: "delegations", era: 6, credentials: [] },
  queryStakePoolRelays: { kind: "raw", era: 6, query: Uint8Array.of() },
  queryStakeSnapshots: { kind: "stakeSnapshots", era: 6, pools: undefined },
};

describe("the ledger's own examples of answers", () => {
  it("are decoded, and encoded to the same bytes", () => {
    const folder = `${captures}/ledger-api-golden/conway/cbor`;
    const files = readdirSync(folder).map((name) => name.replace(".cbor", ""));
    expect(files.sort()).toEqual(Object.keys(EXAMPLES).sort());
    const tally = new Tally();
    for (const file of files) {
      const query = EXAMPLES[file]!;
      for (const example of as(decode(new Uint8Array(readFileSync(`${folder}/${file}.cbor`))), "array").value) {
        const bytes = raw(example);
        // an epoch of 2^64 − 1, which no ledger reaches: numbers here are exact up to 2^53
        if (toHex(bytes) === "1bffffffffffffffff") {
          expect(() => decodeAnswer(query, bytes, 23)).toThrow("out of range");
          tally.add("refused");
          continue;
        }
        const written = encodeAnswer(query, decodeAnswer(query, bytes, 23), 23);
        expect(toHex(written), file).toBe(toHex(bytes));
        tally.add(isTyped(query) ? "typed" : "generic");
      }
    }
    tally.print("the ledger's examples");
    expect([tally.of("typed"), tally.of("generic"), tally.of("refused")]).toEqual([45, 7, 1]);
  });

  it("have the expected values", () => {
    const first = (file: string) =>
      as(decode(new Uint8Array(readFileSync(`${captures}/ledger-api-golden/conway/cbor/${file}.cbor`))), "array").value;
    const parameters = decodeAnswer({ kind: "parameters", era: 6 }, raw(first("queryCurrentPParams")[1]!), 23);
    expect(parameters).toMatchObject({
      era: "Conway",
      parameters: {
        feePerByte: 44n,
        feeFixed: 155_381n,
        maxTxSize: 16_384,
        protocolVersion: { major: 11, minor: 0 },
        utxoCostPerByte: 4_310n,
        minPoolCost: 340_000_000n,
      },
    });
  });

  it("of governance have the values that the ledger states as JSON", () => {
    const example = <Q extends EraQuery>(query: Q, file: string, index: number) => {
      const bytes = new Uint8Array(readFileSync(`${captures}/ledger-api-golden/conway/cbor/${file}.cbor`));
      const json = JSON.parse(readFileSync(`${captures}/ledger-api-golden/conway/json/${file}.json`, "utf8"))[index];
      return [decodeAnswer(query, raw(as(decode(bytes), "array").value[index]!), 23), json] as const;
    };
    const [actions, listed] = example({ kind: "proposals", era: 6, actions: [] }, "queryProposals", 1);
    expect(actions.map(({ id, proposedIn, expiresAfter, proposal }) => ({
      actionId: { txId: id.txHash, govActionIx: id.index },
      proposedIn,
      expiresAfter,
      deposit: Number(proposal.deposit),
    }))).toEqual(
      // deno-lint-ignore no-explicit-any
      listed.map(({ actionId, proposedIn, expiresAfter, proposalProcedure: { deposit } }: any) => ({
        actionId,
        proposedIn,
        expiresAfter,
        deposit,
      })),
    );
    expect(actions.map(({ proposal: { action } }) => action.kind))
      .toEqual(["info", "hard fork", "treasury", "no confidence", "committee", "constitution", "parameters"]);
    expect(actions[3]!.drepVotes.map(({ voter: { kind, hash }, vote }) => [`${kind}Hash-${hash}`, vote])).toEqual([
      [Object.keys(listed[3].dRepVotes).find((voter) => voter.startsWith("script")), "yes"],
      [Object.keys(listed[3].dRepVotes).find((voter) => voter.startsWith("key")), "abstain"],
    ]);

    const committee = { kind: "committeeMembers", era: 6, cold: [], hot: [], statuses: [] } as const;
    const [{ members, threshold, epoch }, seats] = example(committee, "queryCommitteeMembersState", 1);
    expect({ threshold, epoch }).toEqual({ threshold: { numerator: 2n, denominator: 3n }, epoch: seats.epoch });
    const capital = (text: string) => text[0]!.toUpperCase() + text.slice(1);
    expect(Object.fromEntries(members.map(({ cold: { kind, hash }, until, status }) => [
      `${kind}Hash-${hash}`,
      { expiration: until ?? null, status: capital(status) },
    ]))).toMatchObject(Object.fromEntries(
      Object.entries<{ expiration: number; status: string }>(seats.committee)
        .map(([cold, { expiration, status }]) => [cold, { expiration, status }]),
    ));
    expect(members.map(({ next, hot }) => [next, hot.kind])).toEqual([
      [{ kind: "enacted" }, "resigned"],
      [{ kind: "expired" }, "authorized"],
      [{ kind: "term", until: 350 }, "resigned"],
      [{ kind: "removed" }, "not authorized"],
      [{ kind: "none" }, "authorized"],
    ]);

    const [ratify] = example({ kind: "ratifyState", era: 6 }, "queryRatifyState", 1);
    expect(ratify).toMatchObject({ delayed: true, state: { treasury: 1_000_000_000n } });
    expect(ratify.state.withdrawals.map(({ lovelace }) => lovelace)).toEqual([250_000_000n, 500_000_000n]);
    const [state] = example({ kind: "governanceState", era: 6 }, "queryGovState", 1);
    expect(state).toMatchObject({
      future: { kind: "definite", parameters: { committeeMinSize: 7 } },
      current: { committeeMinSize: 7 },
      previous: { committeeMinSize: 0 },
    });
  });

  it("are in the captured messages too", () => {
    const lines = JSON.parse(readFileSync(`${captures}/lsq-captures-pallas-tests.json`, "utf8")) as { cbor: string }[];
    const [utxo, delegations] = [fromHex(lines[1]!.cbor), fromHex(lines[2]!.cbor)];
    const byAddress: Extract<EraQuery, { kind: "utxoByAddress" }> = { kind: "utxoByAddress", era: 6, addresses: [] };
    const outputs = decodeAnswer(byAddress, utxo, 16);
    expect(outputs.map(({ output }) => output.value.lovelace)).toEqual([12_419_537n, 1_792_960n]);
    expect(toHex(encodeAnswer(byAddress, decodeAnswer(byAddress, utxo, 16), 16))).toBe(toHex(utxo));
    const rewards = decodeAnswer({ kind: "delegations", era: 6, credentials: [] }, delegations, 16);
    expect(rewards.rewards[0]!.lovelace).toBe(250_526_523n);
    const pool: EraQuery = { kind: "poolParameters", era: 6, pools: [] };
    const bytes = fromHex(lines[4]!.cbor);
    expect(toHex(encodeResult(pool, decodeResult(pool, bytes, 16), 16))).toBe(toHex(bytes));
  });
});
