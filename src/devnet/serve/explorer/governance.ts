/** Governance actions as the explorer page lists them: with what each proposes and how it was voted on. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import * as api from "#src/devnet/api/explorer.ts";
import { actionText, committeeText, parseActionId } from "#src/cardano/governanceId.ts";
import { parseRefKey } from "#src/cardano/output.ts";
import { slotTime } from "#src/cardano/parameters.ts";
import { notRunning } from "#src/devnet/devnetRunner.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { type ActionRow, readAction, readActions } from "#src/devnet/index/reads/governance.ts";
import { lastEpoch, proposalOf } from "#src/devnet/serve/blockfrost/governance.ts";
import { proposalView } from "#src/devnet/serve/explorer/transactionView.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { endpoint } from "#src/http/route.ts";
import { governanceOf } from "#src/ledger/governance/actions.ts";
import { type Standing, standings } from "#src/ledger/governance/standing.ts";
import { type CommitteeMember, type LedgerState, parseCredentialKey } from "#src/ledger/state.ts";
import type { Queries } from "#src/store/store.ts";

interface GovernanceRoutesOptions {
  readonly devnet: Pick<Devnet, "genesis" | "network" | "query" | "changes">;
  readonly sql: Queries;
  /** Throws where no index is kept. */
  readonly requireIndex: () => void;
}

/** What became of an action; an epoch that is not known yet is left out. */
function outcomeOf({ ratified, enacted, expired, dropped }: ActionRow) {
  const known = Object.entries({ ratified, enacted, expired, dropped }).filter(([, epoch]) => epoch !== null);
  return Object.fromEntries(known) as Partial<Record<"ratified" | "enacted" | "expired" | "dropped", number>>;
}

/** Reads how open actions stand, once for each state of the chain. */
function standingsReader({ genesis: { terms }, query, changes }: GovernanceRoutesOptions["devnet"]) {
  let last: { readonly of: number; readonly standings: Promise<Map<string, Standing> | undefined> } | undefined;
  return (): Promise<Map<string, Standing> | undefined> => {
    const of = changes();
    if (last?.of !== of) last = { of, standings: query((state) => standings(state, terms)) };
    return last.standings;
  };
}

const textOfKey = (key: string) => {
  const { txHash, index } = parseRefKey(key);
  return actionText({ txHash, index });
};

/** What governs a state. */
function inForce(state: LedgerState) {
  const { constitution: { anchor, script }, quorum, dormant } = governanceOf(state);
  const { parameters: { protocolVersion: { major, minor } }, epoch, pots: { treasury } } = state;
  const members = [...state.committee.entries()].filter(([, { elected }]) => elected).sort(([a], [b]) =>
    a < b ? -1 : 1
  );
  return {
    epoch,
    protocolVersion: `${major}.${minor}`,
    constitution: { ...anchor, ...(script === undefined ? {} : { script }) },
    committee: {
      ...(quorum ? { quorum } : {}),
      members: members.map(([key, member]) => memberView(key, member, epoch)),
    },
    treasury,
    dormant,
  };
}

function memberView(key: string, { hot, resigned, until = 0 }: CommitteeMember, epoch: number) {
  return {
    cold: committeeText("cold", parseCredentialKey(key)),
    ...(hot === undefined || resigned ? {} : { hot: committeeText("hot", parseCredentialKey(hot)) }),
    until,
    state: stateOfMember({ hot, resigned, until }, epoch),
  };
}

function stateOfMember({ hot, resigned, until = 0 }: CommitteeMember, epoch: number) {
  if (resigned) return "resigned";
  if (until < epoch) return "expired";
  return hot === undefined ? "without a hot key" : "in office";
}

/** Adds the endpoints. */
export function governanceRoutes(app: OpenAPIHono, { devnet, sql, requireIndex }: GovernanceRoutesOptions): void {
  const { genesis, network: { slots } } = devnet;
  const readStandings = standingsReader(devnet);

  const view = (row: ActionRow, standing: Standing | undefined) => {
    const proposal = proposalOf(row);
    const counts = (role: string) => {
      const of = (vote: string) => row.votes.find((one) => one.role === role && one.vote === vote)?.count ?? 0;
      return { yes: of("yes"), no: of("no"), abstain: of("abstain") };
    };
    return {
      id: actionText({ txHash: row.tx_hash, index: row.index }),
      txHash: row.tx_hash,
      index: row.index,
      height: Number(row.height),
      time: slotTime(slots, Number(row.slot)),
      epoch: row.epoch,
      lastEpoch: lastEpoch(genesis, row),
      ...outcomeOf(row),
      ...proposalView(proposal),
      anchor: proposal.anchor,
      votes: { committee: counts("committee"), drep: counts("drep"), pool: counts("pool") },
      standing: standing && { ...standing.roles, next: standing.next },
    };
  };
  const standingOf = async ({ tx_hash, index }: ActionRow) => (await readStandings())?.get(`${tx_hash}#${index}`);

  endpoint(app, "get", "/governance", {
    summary: "What is in force: constitution, committee; and what the next boundary does",
    answer: api.governanceState,
    refusals: { 503: "`devnet_unavailable`" },
  }, async () => {
    const standings = await readStandings();
    const state = await devnet.query(inForce);
    if (!standings || !state) throw HttpFailure.of(503, notRunning().error);
    const next = [...standings].map(([key, { action: { kind }, next: step }]) => ({ id: textOfKey(key), kind, step }));
    return { ...state, next };
  });

  endpoint(app, "get", "/governance/actions", {
    summary: "Governance actions, newest first",
    description: "What is ratified at the beginning of an epoch takes force at that of the next one.",
    query: {
      count: z.coerce.number().int().min(1).max(100).default(20),
      page: z.coerce.number().int().min(1).max(1_000_000).default(1),
    },
    answer: api.governanceActions,
    refusals: { 404: "`index_off`" },
  }, async ({ query: { count, page } }) => {
    requireIndex();
    const rows = await readActions(sql, { limit: count + 1, offset: (page - 1) * count, order: "desc" });
    const actions = await Promise.all(rows.slice(0, count).map(async (row) => view(row, await standingOf(row))));
    return { actions, next: rows.length > count ? page + 1 : undefined };
  });

  endpoint(app, "get", "/governance/actions/:id", {
    summary: "A governance action",
    params: {
      id: z.string().min(1).max(100).describe("`gov_action1…`, or the transaction's hash, `#` and the index."),
    },
    answer: api.governanceAction,
    refusals: { 404: "`index_off`, `action_unknown`" },
  }, async ({ params: { id: text } }) => {
    requireIndex();
    const id = parseActionId(text);
    const row = id && await readAction(sql, id);
    if (!row) throw new HttpFailure(404, "action_unknown", "No governance action with this id is on the chain.");
    return view(row, await standingOf(row));
  });
}
