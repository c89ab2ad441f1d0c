/** Transactions of wallets over HTTP: built, signed, submitted, balanced, decoded, and sent in one call. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { walletId } from "#src/wallets/api/params.ts";
import * as api from "#src/wallets/api/transactions.ts";
import { constructedView, encoded, feeView } from "#src/wallets/http/builtViews.ts";
import { requireNetwork } from "#src/wallets/http/discrimination.ts";
import { decodedView, metadataIn } from "#src/wallets/http/decodedView.ts";
import { requirePool } from "#src/wallets/http/delegation.ts";
import { entityOf, LONGEST_MS, type WalletService } from "#src/wallets/http/service.ts";
import { route } from "#src/wallets/http/route.ts";
import type { ServedKind } from "#src/wallets/http/kinds.ts";
import { madeOnce, ONCE, onceHeader } from "#src/wallets/http/idempotency.ts";
import { sender } from "#src/wallets/http/send.ts";
import { signTransaction } from "#src/wallets/vault/walletSigning.ts";
import { answered } from "#src/wallets/http/status.ts";
import { readingParts, requireAlonzo, requireOwnSignatures, submitFor } from "#src/wallets/http/submission.ts";
import { byronIntent, constructIntent, sendIntent } from "#src/wallets/http/paymentIntent.ts";
import { signRedemption, type WithdrawalBody, withdrawalIntent } from "#src/wallets/http/redemption.ts";
import type { GivenRedeemer, PaymentIntent } from "#src/wallets/builds/types.ts";
import { ownDrepOf } from "#src/wallets/ownDrep.ts";
import { readAccount } from "#src/wallets/delegation/read.ts";
import { decryptMetadata } from "#src/cardano/metadata/encryption.ts";
import type { z } from "zod";

const params = { walletId };
/** Refusals of builds. */
export const BUILD = {
  403:
    "`not_enough_money`, `inputs_depleted`, `cannot_cover_fee`, `utxo_too_small`, `created_invalid_transaction`, `inputs_not_available`, " +
    "`foreign_change_address` and other reasons why the transaction cannot be built",
};
/** Refusals of submissions. */
export const SUBMIT = {
  403:
    "`foreign_transaction`, `missing_witnesses_in_transaction`, `unsupported_era`; `created_invalid_transaction`: the network rejected it",
  425: "`mempool_is_full`",
};
/** Refusals of signing. */
export const LOCKED = "`no_root_key`, `wrong_encryption_passphrase`, `spending_limit_exceeded`";

/** Construct and decode, for all kinds of wallets. */
export function buildRoutes(app: OpenAPIHono, service: WalletService, served: ServedKind): void {
  const { networkId, builds } = service;
  const at = (rest: string) => `/${served.prefix}/:walletId/${rest}`;
  const entity = (id: string) => ({ kind: served.actor, id });

  route(app, "post", at("transactions-construct"), {
    operation: `construct${served.named}Transaction`,
    summary: "Build an unsigned transaction",
    params,
    body: api.constructBody,
    status: 202,
    answer: api.constructed,
    refusals: BUILD,
  }, async ({ params, body }) => {
    await served.require(params.walletId);
    const intent = await constructIntent(body, networkId);
    const [delegation, ...others] = intent.delegations ?? [];
    // several delegations, or one of another account, are refused as that by the build, whatever their pools
    if (delegation?.pool !== undefined && delegation.index === 0 && others.length === 0) {
      await requirePool(service, delegation.pool);
    }
    const built = answered(await builds.construct(entity(params.walletId), intent, LONGEST_MS));
    return constructedView(built, body.encoding);
  });

  route(app, "post", at("transactions-decode"), {
    operation: `decode${served.named}Transaction`,
    summary: "Decode an unsigned, partially signed or signed transaction",
    params,
    body: api.decodeBody,
    status: 202,
    answer: api.decoded,
    refusals: { 403: "`invalid_metadata_decryption`" },
  }, async ({ params, body }) => {
    await served.require(params.walletId);
    const decoded = answered(await builds.decode(entity(params.walletId), body.transaction, LONGEST_MS));
    const { decrypt_metadata: decrypt } = body;
    const metadata = metadataIn(decoded);
    const shown = decrypt === undefined
      ? metadata
      : answered(await decryptMetadata(metadata ?? new Map(), decrypt.passphrase));
    return decodedView(decoded, shown, served.named === "Shared");
  });
}

/** Sign, submit and balance, for wallets of today with a single owner. */
export function signRoutes(app: OpenAPIHono, service: WalletService, { prefix, kinds }: ServedKind): void {
  const { networkId, builds, store } = service;
  const at = (rest: string) => `/${prefix}/:walletId/${rest}`;

  route(app, "post", at("transactions-sign"), {
    operation: "signTransaction",
    summary: "Sign a transaction with the wallet's keys",
    params,
    body: api.signBody,
    status: 202,
    answer: api.signed,
    refusals: { 403: `${LOCKED}, \`unsupported_era\`` },
  }, async ({ params, body }) => {
    const row = await service.wallet(params.walletId, ...kinds);
    requireAlonzo(body.transaction);
    const signed = answered(
      await readingParts(() => signTransaction(service, row, body.transaction, body.passphrase)),
    );
    return { transaction: encoded(signed, body.encoding) };
  });

  route(app, "post", at("transactions-submit"), {
    operation: "submitTransaction",
    summary: "Submit a signed transaction",
    params,
    body: api.submitBody,
    headers: onceHeader,
    status: 202,
    answer: api.submitted,
    refusals: { ...SUBMIT, ...ONCE },
  }, async ({ params, body, context }) => {
    const { walletId: id } = params;
    const row = await service.wallet(id, ...kinds);
    const transaction = await madeOnce(service, context, id, body, async () => {
      const decoded = answered(await builds.decode(entityOf(id), body.transaction, LONGEST_MS));
      const account = await readAccount(store.sql, id);
      const keys = { account: account?.credential.hash, drep: ownDrepOf(row)?.hash };
      await requireOwnSignatures(service, id, decoded, body.transaction, keys);
      return body.transaction;
    });
    return { id: await submitFor(service, transaction, id) };
  });

  route(app, "post", at("transactions-balance"), {
    operation: "balanceTransaction",
    summary: "Balance a partial transaction: add inputs, change, collateral, execution units and fee",
    params,
    body: api.balanceBody,
    status: 202,
    answer: api.constructed,
    refusals: {
      ...BUILD,
      400: "`bad_request`, `unresolved_inputs`, `redeemer_script_failure` and other errors of its scripts",
    },
  }, async ({ params, body }) => {
    for (const [i, one] of body.inputs.entries()) requireNetwork(one.address, networkId, `inputs[${i}].address`);
    for (const [i, one] of body.redeemers.entries()) {
      if (one.purpose === "rewarding") requireNetwork(one.stake_address, networkId, `redeemers[${i}].stake_address`);
    }
    await service.wallet(params.walletId, ...kinds);
    requireAlonzo(body.transaction);
    const built = answered(await builds.balance(entityOf(params.walletId), balanceInput(body), LONGEST_MS));
    return constructedView(built, body.encoding);
  });
}

/** Fees and payments, for wallets with a single owner. */
export function spendRoutes(app: OpenAPIHono, service: WalletService, { named, prefix, kinds }: ServedKind): void {
  const at = (rest: string) => `/${prefix}/:walletId/${rest}`;
  const send = sender(service, kinds);
  /** Fees and payments; `intentOf` reads the members that both bodies have. */
  const payRoutes = <
    F extends { readonly withdrawal?: WithdrawalBody | undefined },
    S extends F & { readonly passphrase: string },
  >(
    fees: { readonly operation: string; readonly body: z.ZodType<F> },
    sends: { readonly operation: string; readonly body: z.ZodType<S> },
    intentOf: (body: F, service: WalletService) => Promise<PaymentIntent>,
  ) => {
    route(app, "post", at("payment-fees"), { ...FEES, ...fees, params }, async ({ params, body }) => {
      const intent = await intentOf(body, service);
      await service.wallet(params.walletId, ...kinds);
      return feeView(answered(await service.builds.fees(entityOf(params.walletId), intent, LONGEST_MS)));
    });
    route(
      app,
      "post",
      at("transactions"),
      { ...SENDS, ...sends, params },
      async ({ params, body, context }) =>
        await send(
          params.walletId,
          body.passphrase,
          // the idempotency fingerprint uses the stake key, because the mnemonic must not be stored
          { ...body, withdrawal: await withdrawalIntent(service, body.withdrawal) },
          context,
          () => intentOf(body, service),
          (transaction) => signRedemption(service, body.withdrawal, transaction),
        ),
    );
  };
  if (named === "Byron") {
    payRoutes(
      { operation: "postByronTransactionFee", body: api.byronFeesBody },
      { operation: "postByronTransaction", body: api.byronSendBody },
      byronIntent,
    );
  } else {
    payRoutes(
      { operation: "postTransactionFee", body: api.paymentFeesBody },
      { operation: "postTransaction", body: api.sendBody },
      sendIntent,
    );
  }
}

const FEES = {
  summary: "Estimate the fee of a payment",
  status: 202,
  answer: api.fees,
  refusals: BUILD,
} as const;
const SENDS = {
  summary: "Build, sign and submit a payment in one request",
  headers: onceHeader,
  status: 202,
  answer: api.transaction,
  refusals: { ...BUILD, ...SUBMIT, ...ONCE, 403: `${LOCKED}; ${BUILD[403]}` },
} as const;

/** Adds `POST /proxy/transactions`. */
export function proxyRoutes(app: OpenAPIHono, service: WalletService): void {
  route(app, "post", "/proxy/transactions", {
    operation: "postExternalTransaction",
    summary: "Submit a transaction that was signed by another program",
    description: "The transaction is submitted unchanged. Only wallets that it belongs to list it as pending.",
    consumes: "application/octet-stream",
    body: api.rawTransaction,
    headers: onceHeader,
    status: 202,
    answer: api.submitted,
    refusals: { ...SUBMIT, ...ONCE },
  }, async ({ body, context }) => {
    requireAlonzo(body);
    const transaction = await madeOnce(service, context, "proxy", { transaction: body }, () => Promise.resolve(body));
    return { id: await submitFor(service, transaction) };
  });
}

function balanceInput({ transaction, inputs, redeemers }: z.output<typeof api.balanceBody>) {
  return {
    transaction,
    inputs: inputs.map((one) => ({
      ref: { txHash: one.id, index: one.index },
      output: {
        address: one.address.hex,
        value: {
          lovelace: one.amount.quantity,
          assets: new Map(one.assets.map((asset) => [asset.policy_id + asset.asset_name, asset.quantity])),
        },
        ...(one.datum === undefined ? {} : { datumHash: one.datum }),
        raw: new Uint8Array(),
      },
    })),
    redeemers: redeemers.map((one): GivenRedeemer => {
      const { data } = one;
      if (one.purpose === "spending") {
        return { purpose: "spending", data, ref: { txHash: one.input.id, index: one.input.index } };
      }
      return one.purpose === "minting"
        ? { purpose: "minting", data, policy: one.policy_id }
        : { purpose: "rewarding", data, account: one.stake_address.hex };
    }),
  };
}
