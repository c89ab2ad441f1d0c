/** Governance actions as the explorer page lists them: with what each proposes and how it was voted on. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import * as api from "#src/devnet/api/explorer.ts";
import { actionText, parseActionId } from "#src/cardano/governanceId.ts";
import { slotTime } from "#src/cardano/parameters.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { type ActionRow, readAction, readActions } from "#src/devnet/index/reads/governance.ts";
import { lastEpoch, proposalOf } from "#src/devnet/serve/blockfrost/governance.ts";
import { proposalView } from "#src/devnet/serve/explorer/transactionView.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { endpoint } from "#src/http/route.ts";
import type { Queries } from "#src/store/store.ts";

interface GovernanceRoutesOptions {
  readonly devnet: Pick<Devnet, "genesis" | "network">;
  readonly sql: Queries;
  /** Throws where no index is kept. */
  readonly requireIndex: () => void;
}

/** What became of an action; an epoch that is not known yet is left out. */
function outcomeOf({ ratified, enacted, expired, dropped }: ActionRow) {
  const known = Object.entries({ ratified, enacted, expired, dropped }).filter(([, epoch]) => epoch !== null);
  return Object.fromEntries(known) as Partial<Record<"ratified" | "enacted" | "expired" | "dropped", number>>;
}

/** Adds the endpoints. */
export function governanceRoutes(app: OpenAPIHono, { devnet, sql, requireIndex }: GovernanceRoutesOptions): void {
  const { genesis, network: { slots } } = devnet;

  const view = (row: ActionRow) => {
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
    };
  };

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
    return { actions: rows.slice(0, count).map(view), next: rows.length > count ? page + 1 : undefined };
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
    return view(row);
  });
}
