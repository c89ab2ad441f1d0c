/** Governance over HTTP by the devnet's own keys: proposals, votes, and who may vote. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { z } from "zod";
import * as api from "#src/devnet/api/governance.ts";
import type { Json } from "#src/base/json.ts";
import { type NetworkId, parseAddress } from "#src/cardano/address.ts";
import type { Action, ActionId } from "#src/cardano/conway/governance.ts";
import type { RewardAccount } from "#src/cardano/conway/strict.ts";
import { actionText, parseActionId, parseCommitteeText } from "#src/cardano/governanceId.ts";
import { notRunning } from "#src/devnet/devnetRunner.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { namedChanges } from "#src/devnet/genesis/parametersOverride.ts";
import { BAD_ORIGIN } from "#src/devnet/serve/admin/origins.ts";
import { answeredBy, refusalOf } from "#src/http/errors.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { endpoint } from "#src/http/route.ts";
import type { Parameters } from "#src/cardano/parameters.ts";

const refusal = refusalOf({
  bad_address: 400,
  bad_parameters: 400,
  action_unknown: 404,
  no_account: 409,
  no_voter: 409,
  voter_without_key: 409,
  guardrails_unknown: 409,
  not_accepted: 409,
  faucet_empty: 503,
  mempool_full: 503,
  devnet_unavailable: 503,
});
const answered = answeredBy(refusal);
const UNAVAILABLE = "`faucet_empty`, `mempool_full`, `devnet_unavailable`";
/** A document that nothing stands behind. */
const NO_DOCUMENT = { url: "", hash: "00".repeat(32) };

/** Adds the endpoints. */
export function governanceByKeys(app: OpenAPIHono, devnet: Devnet): void {
  endpoint(app, "get", "/governance/voters", {
    summary: "Voters whose keys the devnet has: of its default accounts and of the pools of its genesis",
    answer: api.voters,
    refusals: { 503: "`devnet_unavailable`" },
  }, async () => {
    const voters = await devnet.governing.voters() ?? unavailable();
    return { voters: voters.map(({ role, id }) => ({ role, id })) };
  });

  endpoint(app, "post", "/governance/actions", {
    summary: "Propose a governance action; the faucet pays the deposit",
    description: "What it follows and the policy of the constitution are filled in.",
    body: api.proposalBody,
    answer: api.proposalAnswer,
    refusals: {
      400: "`bad_request`, `malformed_json`, `bad_id`, `bad_address`, `bad_parameters`",
      403: BAD_ORIGIN,
      409: "`no_account`: no account of the genesis is registered; `guardrails_unknown`; `not_accepted`: the ledger " +
        "refuses it, with its `failures`",
      503: UNAVAILABLE,
    },
  }, async ({ body: { action, anchor = NO_DOCUMENT, previous, account } }) => {
    const network = devnet.network.id;
    const parameters = await devnet.query((state) => state.parameters) ?? unavailable();
    const follows = typeof previous === "string" ? { previous: actionIn(previous) } : {};
    const id = answered(
      await devnet.governing.propose({
        action: { ...actionOf(action, network, parameters), ...follows },
        anchor,
        follows: previous !== undefined,
        account: account === undefined ? undefined : accountIn(account, network).hex,
      }),
    );
    return { id: actionText(id), ...id };
  });

  endpoint(
    app,
    "post",
    "/governance/votes",
    {
      summary: "Vote on a governance action with the devnet's own keys",
      body: api.voteBody,
      answer: api.voteAnswer,
      refusals: {
        400: "`bad_request`, `malformed_json`, `bad_id`",
        403: BAD_ORIGIN,
        404: "`action_unknown`: no open action has this id",
        409:
          "`voter_without_key`, `no_voter`: the devnet has the key of no voter with a say; `not_accepted`: the ledger " +
          "refuses it, with its `failures`",
        503: UNAVAILABLE,
      },
    },
    async ({ body: { action, vote, as, anchor } }) =>
      answered(await devnet.governing.vote({ action: actionIn(action), vote, as, anchor })),
  );
}

function unavailable(): never {
  throw refusal(notRunning().error);
}

function badId(text: string): never {
  throw new HttpFailure(400, "bad_id", `${text} is not an id.`);
}

const actionIn = (text: string): ActionId => parseActionId(text) ?? badId(text);

function accountIn(text: string, network: NetworkId): RewardAccount {
  const address = answered(parseAddress(text, network));
  if (address.kind === "reward") return { hex: address.hex, network, credential: address.stake };
  throw refusal({ code: "bad_address", message: "Expected a stake address.", details: { reason: "kind" } });
}

function memberIn(text: string) {
  const read = parseCommitteeText(text);
  return read?.of === "cold" ? read.credential : badId(text);
}

/** The action that a request describes. Throws `HttpFailure` 400. */
function actionOf(action: z.output<typeof api.proposedAction>, network: NetworkId, parameters: Parameters): Action {
  switch (action.kind) {
    case "parameters":
      return { kind: action.kind, changes: answered(namedChanges(parameters, action.changes as Json)) };
    case "hard fork": {
      const { major, minor } = action.version;
      return { kind: action.kind, version: { major: BigInt(major), minor: BigInt(minor) } };
    }
    case "treasury": {
      const payments = action.payments.map(({ account, lovelace }) => [accountIn(account, network), lovelace] as const);
      return { kind: action.kind, payments };
    }
    case "committee": {
      const { removed, added, quorum: { numerator, denominator } } = action;
      return {
        kind: action.kind,
        removed: removed.map(memberIn),
        added: added.map(({ member, until }) => ({ member: memberIn(member), until: BigInt(until) })),
        quorum: { numerator: BigInt(numerator), denominator: BigInt(denominator) },
      };
    }
    case "constitution": {
      const { anchor, script } = action;
      return { kind: action.kind, anchor, ...(script === undefined ? {} : { script }) };
    }
    default:
      return { kind: action.kind };
  }
}
