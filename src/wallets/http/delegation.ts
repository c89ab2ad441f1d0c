/**
 * Delegation over HTTP: joining and quitting a pool and voting in one call each, their fees, and the wallet's stake
 * keys.
 */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import { stakeKeys } from "#src/wallets/api/delegation.ts";
import { poolId, walletId } from "#src/wallets/api/params.ts";
import { passphrase } from "#src/wallets/api/text.ts";
import { drep, fees, transaction } from "#src/wallets/api/transactions.ts";
import { addressText, type Credential, rewardAddress } from "#src/cardano/address.ts";
import { epochsOf } from "#src/cardano/epochs.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { lovelace } from "#src/wallets/http/amountViews.ts";
import { feeView } from "#src/wallets/http/builtViews.ts";
import { delegationView, NO_DELEGATION } from "#src/wallets/http/delegationView.ts";
import { entityOf, LONGEST_MS, type WalletService } from "#src/wallets/http/service.ts";
import { route } from "#src/wallets/http/route.ts";
import { ONCE, onceHeader } from "#src/wallets/http/idempotency.ts";
import { sender } from "#src/wallets/http/send.ts";
import { answered } from "#src/wallets/http/status.ts";
import type { PaymentIntent } from "#src/wallets/builds/types.ts";
import { delegationIn, readAccount, type WalletAccount } from "#src/wallets/delegation/read.ts";
import { sumByStake } from "#src/wallets/delegation/stakes.ts";
import { readOwnUtxos } from "#src/wallets/index/read.ts";
import { ownedCredential } from "#src/wallets/index/credential.ts";

const locked = "`no_root_key`, `wrong_encryption_passphrase`, `not_enough_money`, `cannot_cover_fee`";
const body = z.object({ passphrase });

/** The delegating account of a wallet of today; undefined while it has none. Throws 404 `no_such_wallet`. */
async function accountOf(service: WalletService, id: string): Promise<WalletAccount | undefined> {
  await service.wallet(id, "shelley");
  return await readAccount(service.store.sql, id);
}

/** Adds `/stake-pools/…/wallets/{walletId}`, `/dreps/…/wallets/{walletId}` and `…/delegation-fees`. */
export function delegationRoutes(app: OpenAPIHono, service: WalletService): void {
  const send = sender(service, ["shelley"]);

  // before the route with a pool's id in this place
  route(app, "delete", "/stake-pools/*/wallets/:walletId", {
    operation: "quitStakePool",
    summary: "Deregister the stake key; its deposit and all rewards are returned",
    params: { walletId },
    body,
    headers: onceHeader,
    status: 202,
    answer: transaction,
    refusals: { ...ONCE, 403: `\`not_delegating_to\`, \`withdrawal_not_possible_without_vote\`, ${locked}` },
  }, async ({ params: { walletId: id }, body, context }) => {
    if (!/\/stake-pools\/(\*|%2[aA])\/wallets\//.test(context.req.path)) throw onlyAny();
    await accountOf(service, id);
    const quitIntent = async (): Promise<PaymentIntent> => ({ delegations: [{ index: 0 }], withdrawal: "self" });
    return await send(id, body.passphrase, { quit: id }, context, quitIntent);
  });

  route(app, "put", "/stake-pools/:stakePoolId/wallets/:walletId", {
    operation: "joinStakePool",
    summary:
      "Delegate to a stake pool; a wallet without a vote delegation also delegates to abstain, so that rewards can be withdrawn",
    params: { stakePoolId: poolId, walletId },
    body,
    headers: onceHeader,
    status: 202,
    answer: transaction,
    refusals: { ...ONCE, 403: `\`pool_already_joined\`, ${locked}`, 404: "`no_such_wallet`, `no_such_pool`" },
  }, async ({ params: { stakePoolId: pool, walletId: id }, body, context }) => {
    const account = await accountOf(service, id);
    return await send(id, body.passphrase, { join: pool }, context, async () => {
      await requirePool(service, pool);
      return { delegations: [{ pool, index: 0 }], ...votingWith(account) };
    });
  });

  route(app, "put", "/dreps/:drepId/wallets/:walletId", {
    operation: "joinDRep",
    summary: "Delegate the vote to a DRep",
    params: { drepId: drep, walletId },
    body,
    headers: onceHeader,
    status: 202,
    answer: transaction,
    refusals: { ...ONCE, 403: `\`same_vote\`, ${locked}` },
  }, async ({ params: { drepId: vote, walletId: id }, body, context }) => {
    await accountOf(service, id);
    return await send(id, body.passphrase, { vote }, context, async () => ({ vote }));
  });

  route(app, "get", "/wallets/:walletId/delegation-fees", {
    operation: "getDelegationFee",
    summary: "Estimate the fee and deposit of joining a pool",
    params: { walletId },
    answer: fees,
    refusals: { 403: "`no_utxos_available`, `not_enough_money`" },
  }, async ({ params: { walletId: id } }) => {
    const account = await accountOf(service, id);
    // the fee is the same for any pool
    const intent = { delegations: [{ pool: ANY_POOL, index: 0 }], ...votingWith(account) };
    return feeView(answered(await service.builds.fees(entityOf(id), intent, LONGEST_MS)));
  });
}

/** Adds `…/stake-keys`. */
export function stakeKeyRoutes(app: OpenAPIHono, service: WalletService): void {
  const { store, port } = service;

  route(app, "get", "/wallets/:walletId/stake-keys", {
    operation: "listStakeKeys",
    summary: "Stake keys of the wallet's outputs: own keys, foreign keys, and outputs without a stake key",
    params: { walletId },
    answer: stakeKeys,
  }, async ({ params: { walletId: id } }) => {
    const account = await accountOf(service, id);
    const [{ at }, eras, utxos] = await Promise.all([
      readCursor(store.sql),
      service.eras(),
      readOwnUtxos(store.sql, id),
    ]);
    const epochs = epochsOf(eras);
    const { stakes, none } = sumByStake(utxos);
    const keyText = (stake: Credential) => addressText(rewardAddress(service.networkId, stake));
    const own = account && stakes.get(ownedCredential(account.credential));
    const others = [...stakes.values()].filter((one) => one !== own);
    const external = others.length === 0
      ? []
      : answered(await port.accounts(others.map((one) => one.credential))).value;
    const rewardsOf = new Map(external.map(({ credential, rewards }) => [ownedCredential(credential), rewards]));
    return {
      ours: account === undefined ? [] : [{
        index: 0,
        key: keyText(account.credential),
        stake: lovelace((own?.sum ?? 0n) + account.rewards),
        reward_balance: lovelace(account.rewards),
        delegation: account.history.length === 0
          ? NO_DELEGATION
          : delegationView(delegationIn(account, epochs.of(at.slot)), epochs),
      }],
      foreign: others.map(({ credential, sum }) => ({
        key: keyText(credential),
        stake: lovelace(sum),
        reward_balance: lovelace(rewardsOf.get(ownedCredential(credential)) ?? 0n),
      })),
      none: { stake: lovelace(none) },
    };
  });
}

const onlyAny = () =>
  new HttpFailure(
    405,
    "method_not_allowed",
    "To stop delegating, use DELETE /stake-pools/*/wallets/{walletId}, without a pool id.",
  );

const ANY_POOL = "00".repeat(28);

/** A wallet without a vote abstains when it joins a pool: without a vote rewards could not be withdrawn. */
function votingWith(account: WalletAccount | undefined): Pick<PaymentIntent, "vote"> {
  return account?.drep === undefined ? { vote: { kind: "abstain" } } : {};
}

/** Throws 404 `no_such_pool` where no such pool is registered. */
export async function requirePool({ book }: Pick<WalletService, "book">, pool: string): Promise<void> {
  if (answered(await book.find(pool)) !== undefined) return;
  throw new HttpFailure(404, "no_such_pool", `I couldn't find any stake pool with the given id: ${pool}`, {
    pool_id: pool,
  });
}
