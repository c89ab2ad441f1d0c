/** Governance over HTTP: a wallet's state in the ledger, the wallet as a representative, and its votes. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import * as api from "#src/wallets/api/governance.ts";
import { walletId } from "#src/wallets/api/params.ts";
import { transaction } from "#src/wallets/api/transactions.ts";
import { onlyOf } from "#src/base/present.ts";
import type { Credential } from "#src/cardano/address.ts";
import type { DRep } from "#src/cardano/certificates.ts";
import { drepId } from "#src/cardano/drepId.ts";
import { pathText } from "#src/cardano/keys/paths.ts";
import { namesOf } from "#src/chain/pending/submit.ts";
import { HttpFailure } from "#src/http/failure.ts";
import type { GovernanceIntent } from "#src/wallets/builds/types.ts";
import type { DrepStatus } from "#src/wallets/dreps/types.ts";
import { readAccount } from "#src/wallets/delegation/read.ts";
import { lovelace } from "#src/wallets/http/amountViews.ts";
import { anchorView } from "#src/wallets/http/governanceViews.ts";
import { ONCE, onceHeader } from "#src/wallets/http/idempotency.ts";
import { governanceIn } from "#src/wallets/http/paymentIntent.ts";
import { route } from "#src/wallets/http/route.ts";
import { sender } from "#src/wallets/http/send.ts";
import type { WalletService } from "#src/wallets/http/service.ts";
import { answered, refusal, statusCodes } from "#src/wallets/http/status.ts";
import { BUILD, LOCKED } from "#src/wallets/http/transactions.ts";
import { ownDrepOf } from "#src/wallets/ownDrep.ts";

const spending = `${LOCKED}; ${BUILD[403]}`;
const params = { walletId };

/** Adds `…/governance`, `…/governance/drep` and `…/governance/votes`. */
export function governanceRoutes(app: OpenAPIHono, service: WalletService): void {
  const send = sender(service, ["shelley"]);
  const at = (rest: string) => `/wallets/:walletId/governance${rest}`;
  const sent = async (
    id: string,
    passphrase: string,
    governance: GovernanceIntent,
    context: Parameters<typeof send>[3],
  ) => await naming(() => send(id, passphrase, { governance }, context, () => Promise.resolve({ governance })));

  route(app, "get", at(""), {
    operation: "getGovernance",
    summary: "The wallet as a representative (DRep), and its delegated vote, as the ledger has them now",
    params,
    answer: api.governanceState,
  }, async ({ params: { walletId: id } }) => await governanceState(service, id));

  for (
    const [method, action, does] of [
      ["post", "register", "Register the wallet's DRep key, for a deposit"],
      ["put", "update", "Replace the metadata of the wallet as a representative; it is active again by that"],
    ] as const
  ) {
    route(
      app,
      method,
      at("/drep"),
      {
        operation: `${action}OwnDRep`,
        summary: does,
        params,
        body: api.drepBody,
        headers: onceHeader,
        status: 202,
        answer: transaction,
        refusals: {
          ...ONCE,
          403: `\`${action === "register" ? "drep_already_registered" : "drep_not_registered"}\`, ${spending}`,
        },
      },
      async ({ params: { walletId: id }, body: { passphrase, anchor }, context }) =>
        await sent(id, passphrase, governanceIn({ drep: { action, ...(anchor ? { anchor } : {}) } }), context),
    );
  }

  route(
    app,
    "delete",
    at("/drep"),
    {
      operation: "deregisterOwnDRep",
      summary: "End the registration of the wallet as a representative; its deposit is returned",
      params,
      body: api.retireBody,
      headers: onceHeader,
      status: 202,
      answer: transaction,
      refusals: { ...ONCE, 403: `\`drep_not_registered\`, ${spending}` },
    },
    async ({ params: { walletId: id }, body: { passphrase }, context }) =>
      await sent(id, passphrase, { drep: { does: "deregister" } }, context),
  );

  route(
    app,
    "post",
    at("/votes"),
    {
      operation: "castVotes",
      summary: "Vote on governance actions as a representative",
      params,
      body: api.votesBody,
      headers: onceHeader,
      status: 202,
      answer: transaction,
      refusals: {
        ...ONCE,
        403: `\`drep_not_registered\`, \`action_expired\`, ${spending}`,
        404: "`no_such_wallet`, `no_such_action`",
      },
    },
    async ({ params: { walletId: id }, body: { passphrase, votes }, context }) =>
      await sent(id, passphrase, governanceIn({ votes }), context),
  );
}

/**
 * Failures of the ledger by their codes here: providers that report neither representatives nor actions leave the check to
 * the ledger.
 */
const CODES = {
  GovActionsDoNotExist: "no_such_action",
  VotingOnExpiredGovAction: "action_expired",
  VotersDoNotExist: "drep_not_registered",
  ConwayDRepNotRegistered: "drep_not_registered",
  ConwayDRepAlreadyRegistered: "drep_already_registered",
} as const satisfies Readonly<Record<string, keyof typeof statusCodes>>;

async function naming<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof HttpFailure) || error.code !== "created_invalid_transaction") throw error;
    const names = namesOf(error.details);
    const [, code] = Object.entries(CODES).find(([name]) => names.includes(name)) ?? [];
    throw code ? refusal({ code, message: error.message, details: error.details }) : error;
  }
}

/** What the ledger has of a wallet's representative and vote. Throws 404 `no_such_wallet`. */
async function governanceState(service: WalletService, id: string) {
  const { port, store } = service;
  const row = await service.wallet(id, "shelley");
  const own = ownDrepOf(row);
  if (own === undefined) throw new TypeError("a Shelley wallet without a DRep key");
  const key: Credential = { kind: "key", hash: own.hash };
  const account = await readAccount(store.sql, id);
  const found = account && onlyOf(answered(await port.accounts([account.credential])).value);
  // a provider that reports accounts in part leaves the vote to what blocks said
  const vote: DRep | undefined = found?.incomplete && found.drep === undefined ? account?.drep : found?.drep;
  const voted = vote && "hash" in vote ? vote : undefined;
  const states = await port.drepStatus(voted ? [key, voted] : [key]);
  const [mine, theirs] = states.ok || states.error.code !== "query_unsupported" ? answered(states).value : [];
  return {
    drep: { id: drepId(key), key_hash: own.hash, derivation_path: pathText(own.path), ...stateView(mine) },
    vote: vote && { id: drepId(vote), ...(voted ? stateView(theirs) : {}) },
  };
}

function stateView(state: DrepStatus | undefined) {
  if (state === undefined) return { status: "unknown" };
  const { registered, active, expiry, stake, deposit, anchor } = state;
  return {
    status: !registered ? "not_registered" : active ? "active" : "inactive",
    expiry_epoch: expiry,
    voting_power: stake === undefined ? undefined : { quantity: String(stake), unit: "lovelace" },
    deposit: deposit === undefined ? undefined : lovelace(deposit),
    anchor: anchorView(anchor),
  };
}
