/** Keys of shared wallets, signing by cosigners, and submission by any of them. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import * as api from "#src/wallets/api/keys.ts";
import { index, role, walletId } from "#src/wallets/api/params.ts";
import { signBody, signed, submitBody, submitted } from "#src/wallets/api/transactions.ts";
import { fromHex } from "#src/base/bytes.ts";
import { addWitness } from "#src/cardano/transaction.ts";
import { until, type WalletService } from "#src/wallets/http/service.ts";
import { route } from "#src/wallets/http/route.ts";
import { madeOnce, ONCE, onceHeader } from "#src/wallets/http/idempotency.ts";
import { publicKeyAt, roleKeyText } from "#src/wallets/http/keys.ts";
import { completeWallet, sharedWallet } from "#src/wallets/http/shared.ts";
import { accountOf } from "#src/wallets/http/accounts.ts";
import {
  foreignTransaction,
  missingWitnesses,
  readingParts,
  requireAlonzo,
  submitFor,
} from "#src/wallets/http/submission.ts";
import { answered } from "#src/wallets/http/status.ts";
import { encoded } from "#src/wallets/http/builtViews.ts";
import { SUBMIT } from "#src/wallets/http/transactions.ts";
import { attempted } from "#src/wallets/builds/decode.ts";
import { accountPath } from "#src/cardano/keys/paths.ts";
import { accountKeyText } from "#src/cardano/keys/text.ts";
import { readOwnScripts } from "#src/wallets/shared/ownScripts.ts";
import type { SharedWalletRow } from "#src/wallets/shared/rows.ts";
import { scriptsIn } from "#src/wallets/shared/sign.ts";
import type { SharedSigning } from "#src/wallets/shared/types.ts";

const params = { walletId };
const locked = "`no_root_key`, `wrong_encryption_passphrase`";

/** Adds `…/keys` of shared wallets. */
export function sharedKeyRoutes(app: OpenAPIHono, service: WalletService): void {
  route(app, "get", "/shared-wallets/:walletId/keys", {
    operation: "getAccountKeyShared",
    summary: "The account's public key, to share with the cosigners",
    params,
    query: api.keysQuery,
    answer: api.keyText,
  }, async ({ params, query }) => {
    const { key } = await sharedWallet(service, params.walletId);
    return accountKeyText(key, { shared: true, format: query.format ?? "extended" });
  });

  route(app, "post", "/shared-wallets/:walletId/keys/:index", {
    operation: "postAccountKeyShared",
    summary: "The public key of any account of the wallet's root",
    params: { walletId, index },
    body: api.accountKeyBody,
    status: 202,
    answer: api.keyText,
    refusals: { 403: `${locked}, \`hardened_derivation_required\`` },
  }, async ({ params, body }) => {
    await sharedWallet(service, params.walletId);
    const path = accountPath("shared", accountOf(params.index));
    const key = await publicKeyAt(service, params.walletId, body.passphrase, path);
    return accountKeyText(key, { shared: true, format: body.format });
  });

  route(app, "get", "/shared-wallets/:walletId/keys/:role/:index", {
    operation: "getSharedWalletKey",
    summary: "A public key of this wallet",
    params: { walletId, role, index },
    query: api.hashQuery,
    answer: api.keyText,
    refusals: { 403: "`soft_derivation_required`" },
  }, async ({ params, query }) => {
    const { key } = await sharedWallet(service, params.walletId);
    return roleKeyText(key, params, { shared: true, hash: query.hash });
  });
}

/** Adds `…/transactions-sign` and `…/transactions-submit` of shared wallets. */
export function sharedSigningRoutes(app: OpenAPIHono, service: WalletService): void {
  route(app, "post", "/shared-wallets/:walletId/transactions-sign", {
    operation: "signSharedTransaction",
    summary: "Add this wallet's signatures to a transaction",
    description:
      "No signature is added for scripts that are already satisfied: the fee covers only the required number of signatures.",
    params,
    body: signBody,
    status: 202,
    answer: signed,
    refusals: { 403: `${locked}, \`shared_wallet_incomplete\`, \`unsupported_era\`` },
  }, async ({ params, body }) => {
    const row = await completeWallet(service, params.walletId);
    const { transaction, passphrase, encoding } = body;
    requireAlonzo(transaction);
    const { hash, paths } = await signing(service, row, transaction);
    const input = { passphrase, message: fromHex(hash), paths };
    const signatures = answered(await service.vault.sign(row.id, input, until()));
    if (paths.length > 0) answered(await service.countSpending(row.id, [transaction]));
    return await readingParts(async () => ({
      transaction: encoded(addWitness(transaction, ...signatures), encoding),
    }));
  });

  route(app, "post", "/shared-wallets/:walletId/transactions-submit", {
    operation: "submitSharedTransaction",
    summary: "Submit a transaction that enough cosigners have signed",
    params,
    body: submitBody,
    headers: onceHeader,
    status: 202,
    answer: submitted,
    refusals: {
      ...SUBMIT,
      ...ONCE,
      403: `\`shared_wallet_incomplete\`, ${SUBMIT[403]}`,
    },
  }, async ({ params: { walletId: id }, body, context }) => {
    const row = await completeWallet(service, id);
    requireAlonzo(body.transaction);
    const transaction = await madeOnce(service, context, id, body, async () => {
      assertSigned(await signing(service, row, body.transaction));
      return body.transaction;
    });
    return { id: await submitFor(service, transaction, id) };
  });
}

/** Throws 403 for a transaction without a script of the wallet's, or with one that still lacks signatures. */
function assertSigned({ own, agrees, expected, detected }: SharedSigning & { readonly own: number }): void {
  if (own === 0) throw foreignTransaction();
  if (!agrees) throw missingWitnesses(expected, detected);
}

/**
 * The signatures of a transaction and those still needed, with the number of the wallet's scripts in it; throws 400 for
 * other bytes.
 */
async function signing(service: WalletService, row: SharedWalletRow, transaction: Uint8Array) {
  const own = await readOwnScripts(service.store.sql, row, answered(attempted(() => scriptsIn(transaction))));
  const state = answered(await service.builders.run("sharedSigning", { transaction, account: row.key, own }, until()));
  return { ...state, own: own.length };
}
