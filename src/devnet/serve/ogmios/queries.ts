/** The queries of the network and of the ledger's state by method, each from one state and only the rows it needs. */
import { compareRefs, type Utxo } from "#src/cardano/output.ts";
import type { Genesis } from "#src/devnet/genesis/genesis.ts";
import { drepOf } from "#src/devnet/serve/governanceState.ts";
import { nodeAnswers } from "#src/devnet/serve/nodeAnswers.ts";
import { eraHistory } from "#src/devnet/serve/nodeGenesis.ts";
import type { Answer } from "#src/devnet/serve/ogmios/envelope.ts";
import { networkGenesis } from "#src/devnet/serve/ogmios/networkGenesis.ts";
import type { StateView } from "#src/devnet/serve/stateRows.ts";
import { JsonList } from "#src/http/json.ts";
import { PROVENANCE, rewardsProvenance } from "#src/ledger/epoch/provenance.ts";
import { poolTerms } from "#src/ledger/poolTerms.ts";
import { credentialKey } from "#src/ledger/state.ts";
import { CONWAY } from "#src/node/protocols/values.ts";
import { answerEraValue } from "#src/node/queries/answering.ts";
import type { EraQuery } from "#src/node/queries/query.ts";
import type { AnswerOf, ArgumentsOf, EraKind } from "#src/node/queries/table.ts";
import { ogmiosError } from "#src/ogmios/errors.ts";
import { isGiven, type JsonObject, listOf, OgmiosFormError, type OgmiosVersion } from "#src/ogmios/form.ts";
import { utxoJson } from "#src/ogmios/outputs.ts";
import { type AccountSummary, rewardAccountsJson } from "#src/ogmios/queries/accounts.ts";
import { drepCredentialsOf, stakeCredentialsOf } from "#src/ogmios/queries/credentials.ts";
import { boundJson, eraSummariesJson, timeText } from "#src/ogmios/queries/eras.ts";
import { genesisJson, readGenesisEra } from "#src/ogmios/queries/genesis.ts";
import {
  committeeJson,
  constitutionJson,
  PREDEFINED,
  proposalsJson,
  readProposals,
  representativesJson,
} from "#src/ogmios/queries/governance.ts";
import { protocolParametersJson } from "#src/ogmios/queries/parameters.ts";
import {
  poolsPerformancesJson,
  projectedRewardsJson,
  readPoolsRequest,
  readStakes,
  rewardsProvenanceJson,
  stakeDistributionJson,
  stakePoolsJson,
} from "#src/ogmios/queries/pools.ts";
import { adaJson, pointJson, readAddressJson, readRef } from "#src/ogmios/values.ts";

/** The devnet that is queried. */
export interface QueriedDevnet {
  readonly genesis: Genesis;
  readonly version: OgmiosVersion;
}

/** A query whose parameters were read. */
export type LedgerQuery = (view: StateView) => Promise<Answer>;

/** Answers by method; each throws `OgmiosFormError` for parameters that are not its own. */
export function ledgerQueries(
  devnet: QueriedDevnet,
): Readonly<Record<string, (params: JsonObject) => LedgerQuery>> {
  const { genesis, version } = devnet;
  return {
    "queryNetwork/blockHeight": plain(({ tip }) => tip.height < 0 ? "origin" : tip.height),
    "queryNetwork/tip": plain(({ tip }) => pointJson(tip)),
    "queryNetwork/startTime": plain(() => timeText(genesis.network.slots.zeroTime)),
    "queryNetwork/genesisConfiguration": (params) => {
      const era = readGenesisEra(params);
      return async () => ({ result: genesisJson(networkGenesis(genesis), era, version) });
    },
    "queryLedgerState/tip": plain(({ tip }) => pointJson(tip)),
    "queryLedgerState/epoch": plain((view) => node(genesis, view, "epoch", {})),
    "queryLedgerState/eraStart": plain(({ tip }) => {
      const era = eraHistory(genesis, tip).at(-1);
      return era ? boundJson(era.start) : null;
    }),
    "queryLedgerState/eraSummaries": plain(({ tip }) => eraSummariesJson(eraHistory(genesis, tip))),
    "queryLedgerState/protocolParameters": plain(async (view) => {
      const answer = await node(genesis, view, "parameters", {});
      if (answer.era !== "Conway") throw new Error("the parameters are not Conway's");
      return protocolParametersJson(answer.parameters, version);
    }),
    "queryLedgerState/treasuryAndReserves": plain(async (view) => {
      const { treasury, reserves } = await node(genesis, view, "accountState", {});
      return { treasury: adaJson(treasury), reserves: adaJson(reserves) };
    }),
    "queryLedgerState/utxo": (params) => {
      const read = utxoQuery(params);
      return async (view) => await utxoAnswer(await read(view));
    },
    "queryLedgerState/rewardAccountSummaries": (params) => {
      const credentials = new Map(stakeCredentialsOf(params).map((one) => [credentialKey(one), one]));
      return async (view) => {
        const { accounts } = await view.registry(["accounts"], [...credentials.keys()]);
        const summaries = [...credentials].flatMap(([key, credential]): AccountSummary[] => {
          const account = accounts.get(key);
          if (!account) return [];
          const { pool, drep, balance: rewards, deposit } = account;
          return [{ credential, pool, drep: drep === undefined ? undefined : drepOf(drep), rewards, deposit }];
        });
        return { result: rewardAccountsJson(summaries) };
      };
    },
    ...poolQueries(devnet),
    ...governanceQueries(devnet),
    "queryLedgerState/nonces": unavailable,
    "queryLedgerState/operationalCertificates": unavailable,
    "queryLedgerState/dump": () => {
      throw new OgmiosFormError("'queryLedgerState/dump' writes to the server's disk and is not supported");
    },
  };
}

/** Pools, their stake and their rewards. */
function poolQueries({ genesis }: QueriedDevnet) {
  return {
    "queryLedgerState/stakePools": (params) => {
      const { pools: wanted, includeStake } = readPoolsRequest(params);
      return async (view) => {
        const { pools } = await view.registry(["pools"], wanted);
        const found = [...pools.entries()].filter(([id]) => wanted?.includes(id) ?? true);
        const voting = includeStake ? await node(genesis, view, "poolStake", { pools: wanted ?? [] }) : undefined;
        const terms = found.map(([, { certificate }]) => {
          const { account, ...terms } = poolTerms(certificate);
          return { ...terms, account: account.hex };
        });
        return { result: stakePoolsJson(terms, voting) };
      };
    },
    "queryLedgerState/liveStakeDistribution": plain(async (view) =>
      stakeDistributionJson(await node(genesis, view, "stakeDistribution", {}))
    ),
    "queryLedgerState/projectedRewards": (params) => {
      const stakes = readStakes(params);
      return async (view) => ({
        result: projectedRewardsJson(await node(genesis, view, "nonMyopicRewards", { stakes })),
      });
    },
    "queryLedgerState/stakePoolsPerformances": plain(async (view) =>
      poolsPerformancesJson(await node(genesis, view, "rewardInfo", {}))
    ),
    "queryLedgerState/rewardsProvenance": plain(async (view) =>
      rewardsProvenanceJson(rewardsProvenance(await view.registry(PROVENANCE), genesis.terms))
    ),
  } satisfies Record<string, (params: JsonObject) => LedgerQuery>;
}

/** Constitution, committee, representatives and what is voted on. */
function governanceQueries({ genesis }: QueriedDevnet) {
  return {
    "queryLedgerState/constitution": plain(async (view) =>
      constitutionJson(await node(genesis, view, "constitution", {}))
    ),
    "queryLedgerState/constitutionalCommittee": plain(async (view) =>
      committeeJson(await node(genesis, view, "committeeMembers", { cold: [], hot: [], statuses: [] }))
    ),
    "queryLedgerState/delegateRepresentatives": (params) => {
      const credentials = drepCredentialsOf(params);
      // a list that is there and empty asks for none but the predefined ones
      const none = credentials.length === 0 && (isGiven(params.keys) || isGiven(params.scripts));
      return async (view) => ({
        result: representativesJson({
          registered: none ? [] : await node(genesis, view, "drepState", { credentials }),
          stakes: await node(genesis, view, "drepStake", { dreps: [] }),
          delegations: await node(genesis, view, "drepDelegations", { dreps: PREDEFINED }),
        }),
      });
    },
    "queryLedgerState/governanceProposals": (params) => {
      const wanted = readProposals(params);
      return async (view) => {
        const { proposals } = await node(genesis, view, "governanceState", {});
        return { result: proposalsJson(proposals.actions, wanted) };
      };
    },
  } satisfies Record<string, (params: JsonObject) => LedgerQuery>;
}

const NEVER = new AbortController().signal;

/** A node's answer to a query of Conway's ledger. */
function node<K extends EraKind>(
  genesis: Genesis,
  view: StateView,
  kind: K,
  given: ArgumentsOf<K>,
): Promise<AnswerOf<K>> {
  const query = Object.assign({ kind, era: CONWAY }, given) as unknown as Extract<EraQuery, { readonly kind: K }>;
  return answerEraValue(nodeAnswers(genesis, view), query, NEVER) as Promise<AnswerOf<K>>;
}

/** A query without parameters. */
function plain(answer: (view: StateView) => unknown): () => LedgerQuery {
  return () => async (view) => ({ result: await answer(view) });
}

/** What a chain of unsigned blocks does not have. */
const unavailable = (): LedgerQuery => async () => ({
  error: ogmiosError(2002, "Query unavailable in the current era."),
});

function utxoQuery(params: JsonObject): (view: StateView) => Promise<Utxo[]> {
  const { outputReferences, addresses } = params;
  if (isGiven(outputReferences)) {
    const refs = listOf(outputReferences, "field 'outputReferences'").map(readRef);
    return (view) => view.utxosByRef(refs);
  }
  if (isGiven(addresses)) {
    const hexes = listOf(addresses, "field 'addresses'").map(readAddressJson);
    return (view) => view.utxosByAddress(hexes);
  }
  if (Object.keys(params).length > 0) throw new OgmiosFormError("field 'outputReferences' or 'addresses' not found");
  return (view) => view.utxos();
}

async function utxoAnswer(utxos: Utxo[]): Promise<Answer> {
  const list = new JsonList();
  await list.add(utxos.sort(({ ref: a }, { ref: b }) => compareRefs(a, b)), utxoJson);
  return { resultText: list.toString() };
}
