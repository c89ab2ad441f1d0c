/** Answers to queries in Ogmios' JSON: whatever a node answers keeps the schema of version 7, and the types of version 6. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ActionState } from "#src/node/queries/governance.ts";
import type { NodeQuery } from "#src/node/queries/query.ts";
import type { AnswerOf, EraKind } from "#src/node/queries/table.ts";
import { type JsonObject, OgmiosFormError, type OgmiosVersion } from "#src/ogmios/form.ts";
import { drepCredentialsOf, stakeCredentialsOf } from "#src/ogmios/queries/credentials.ts";
import { eraSummariesJson, timeText } from "#src/ogmios/queries/eras.ts";
import { committeeJson, constitutionJson, proposalsJson, representativesJson } from "#src/ogmios/queries/governance.ts";
import { protocolParametersJson } from "#src/ogmios/queries/parameters.ts";
import { poolsPerformancesJson, projectedRewardsJson, stakeDistributionJson } from "#src/ogmios/queries/pools.ts";
import { addressText, rewardAddress } from "#src/cardano/address.ts";
import { toBech32 } from "#src/cardano/bech32.ts";
import { fromHex } from "#src/base/bytes.ts";
import type { EraHistory } from "#src/cardano/eras.ts";
import { queryAndAnswer } from "../../support/chain/arbitraryQueries.ts";
import { cases } from "../../support/base/longTests.ts";
import { schemaFault } from "../../support/ogmios/golden.ts";
import { type TypedMessage, typeFaults } from "../../support/ogmios/versionSix.ts";

/** The method of an answer, and its result. */
type Written = readonly [method: string, result: unknown];
type Write<A> = (answer: A, version: OgmiosVersion) => Written;
type Writers = { readonly [K in EraKind]?: Write<AnswerOf<K>> };

/** An action whose content no ledger refuses: the others have numbers that are out of range. */
function possible(state: ActionState): ActionState {
  const { kind } = state.proposal.action;
  const isWild = kind === "parameters" || kind === "hard fork" || kind === "treasury";
  return isWild ? { ...state, proposal: { ...state.proposal, action: { kind: "info" } } } : state;
}

const WRITERS: Writers = {
  parameters: (answer, version) => {
    if (answer.era !== "Conway") throw new Error("only Conway's are written");
    const { costModels, committeeMinSize, ...rest } = answer.parameters;
    const conway = {
      ...rest,
      // languages that are not known yet have no name
      costModels: new Map([...costModels].filter(([language]) => language <= 2)),
      committeeMinSize: committeeMinSize % 2 ** 16,
    };
    return ["protocolParameters", protocolParametersJson(conway, version)];
  },
  constitution: (answer) => ["constitution", constitutionJson(answer)],
  committeeMembers: (answer) => ["constitutionalCommittee", committeeJson(answer)],
  governanceState: (
    answer,
  ) => ["governanceProposals", proposalsJson(answer.proposals.actions.map(possible), undefined)],
  proposals: (answer) => ["governanceProposals", proposalsJson(answer.map(possible), undefined)],
  drepState: (
    registered,
  ) => ["delegateRepresentatives", representativesJson({ registered, stakes: [], delegations: [] })],
  drepStake: (stakes) => ["delegateRepresentatives", representativesJson({ registered: [], stakes, delegations: [] })],
  drepDelegations: (delegations) => [
    "delegateRepresentatives",
    representativesJson({ registered: [], stakes: [], delegations }),
  ],
  stakeDistribution: (answer) => ["liveStakeDistribution", stakeDistributionJson(answer)],
  nonMyopicRewards: (answer) => ["projectedRewards", projectedRewardsJson(answer)],
  rewardInfo: ({ pools, ...terms }) => [
    "stakePoolsPerformances",
    poolsPerformancesJson({
      ...terms,
      pools: pools.map((pool) => ({
        ...pool,
        performance: Math.min(Math.abs(pool.performance), Number.MAX_VALUE),
      })),
    }),
  ],
};

/** What is written of an answer; undefined where nothing is. */
function written(query: NodeQuery, answer: unknown, version: OgmiosVersion): Written | undefined {
  if (query.kind === "eraHistory") return ["eraSummaries", eraSummariesJson(answer as EraHistory)];
  const write = Object.hasOwn(WRITERS, query.kind)
    ? WRITERS[query.kind as keyof Writers] as Write<unknown> | undefined
    : undefined;
  const { ok, value } = Object(answer) as { ok?: boolean; value?: unknown };
  return write && ok ? write(value, version) : undefined;
}

describe("answers to queries", () => {
  it("keep the schema of version 7, and the types of version 6", () => {
    const six: TypedMessage[] = [];
    const methods = new Set<string>();
    const message = ([name, result]: Written) =>
      [
        `QueryLedgerState${name[0]!.toUpperCase()}${name.slice(1)}Response`,
        { jsonrpc: "2.0", method: `queryLedgerState/${name}`, result, id: null },
      ] as const;
    fc.assert(
      fc.property(queryAndAnswer(23, 6), ({ query, answer }) => {
        const seven = written(query, answer, 7);
        if (!seven) return;
        const [property, envelope] = message(seven);
        expect(schemaFault(property, envelope)).toBeUndefined();
        methods.add(property);
        if (six.length >= 150) return;
        six.push({ type: `Ogmios["${property}"]`, message: message(written(query, answer, 6)!)[1] });
      }),
      { numRuns: cases(500, 20_000), seed: 1 },
    );
    expect(methods.size).toBe(9);
    expect(typeFaults(six)).toEqual([]);
  });

  it("have times without a fraction of zero", () => {
    expect(timeText(1_800_000_000_000)).toBe("2027-01-15T08:00:00Z");
    expect(timeText(1_800_000_000_050)).toBe("2027-01-15T08:00:00.050Z");
  });
});

describe("credentials of requests", () => {
  const [key, script] = [{ kind: "key", hash: "ab".repeat(28) }, { kind: "script", hash: "cd".repeat(28) }] as const;

  it("are hexadecimal, bech32 or stake addresses", () => {
    const ofKey = [key.hash, key.hash.toUpperCase(), toBech32("stake_vkh", fromHex(key.hash))];
    const address = (of: typeof key | typeof script, network: 0 | 1) => addressText(rewardAddress(network, of));
    expect(stakeCredentialsOf({ keys: [...ofKey, address(key, 0), address(key, 1)] })).toEqual(Array(5).fill(key));
    const ofScript = [script.hash, toBech32("script", fromHex(script.hash)), address(script, 0)];
    expect(stakeCredentialsOf({ scripts: ofScript })).toEqual(Array(3).fill(script));
    expect(stakeCredentialsOf({ keys: [key.hash], scripts: [script.hash] })).toEqual([key, script]);
    expect(stakeCredentialsOf({ keys: null })).toEqual([]);
    const drep = (prefix: string, hash: string) => toBech32(prefix, fromHex(hash));
    expect(drepCredentialsOf({ keys: [drep("drep_vkh", key.hash), drep("drep_script", script.hash)] })).toEqual([
      key,
      script,
    ]);
  });

  it.each([
    { keys: "ab" },
    { keys: [5] },
    { keys: ["ab".repeat(27)] },
    { keys: [toBech32("drep_vkh", fromHex(key.hash))] },
    { keys: [toBech32("stake_vkh", fromHex(key.hash + "00"))] },
    { scripts: ["stake_test1"] },
    { scripts: [{}] },
  ] as JsonObject[])("that are %j are refused", (params) => {
    expect(() => stakeCredentialsOf(params)).toThrow(OgmiosFormError);
  });
});
