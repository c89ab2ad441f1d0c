/** Keys of shared wallets, and signatures beside those of others. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import * as api from "#src/api/wallets/keys.ts";
import { index, role, ROLES, walletId } from "#src/api/wallets/params.ts";
import { signBody, signed } from "#src/api/wallets/transactions.ts";
import { fromHex } from "#src/base/bytes.ts";
import { CborError } from "#src/cardano/cbor.ts";
import { HARD } from "#src/cardano/derivation.ts";
import { addWitness } from "#src/cardano/transaction.ts";
import { type Desk, until } from "#src/edge/wallets/desk.ts";
import { route } from "#src/edge/wallets/frame.ts";
import { completeWallet, sharedWallet } from "#src/edge/wallets/shared.ts";
import { answered, refusal } from "#src/edge/wallets/status.ts";
import { transactionText } from "#src/edge/wallets/transactionText.ts";
import { ownersOf } from "#src/wallet/index/readAddresses.ts";
import { childHash, childOf } from "#src/wallet/keys/account.ts";
import { accountPath } from "#src/wallet/keys/paths.ts";
import { accountKeyText, childKeyText } from "#src/wallet/keys/text.ts";
import type { Path } from "#src/wallet/keys/types.ts";
import { stakeCredential } from "#src/wallet/shared/account.ts";
import type { SharedWalletRow } from "#src/wallet/shared/rows.ts";
import { type OwnScript, toSign, type Unsigned, unsigned } from "#src/wallet/shared/sign.ts";

const params = { walletId };
const locked = "`no_root_key`, `wrong_encryption_passphrase`";

/** Adds `…/keys` and `…/transactions-sign` of shared wallets. */
export function sharedKeyRoutes(app: OpenAPIHono, desk: Desk): void {
  const { vault } = desk;

  route(app, {
    method: "get",
    path: "/shared-wallets/:walletId/keys",
    operation: "getAccountKeyShared",
    summary: "The account's public key: what cosigners are given",
    params,
    query: api.keysQuery,
    answer: api.keyText,
  }, async ({ params, query }) => {
    const { key } = await sharedWallet(desk, params.walletId);
    return accountKeyText(key, { shared: true, format: query.format ?? "extended" });
  });

  route(app, {
    method: "post",
    path: "/shared-wallets/:walletId/keys/:index",
    operation: "postAccountKeyShared",
    summary: "The public key of any account of the wallet's root",
    params: { walletId, index },
    body: api.accountKeyBody,
    status: 202,
    answer: api.keyText,
    refusals: { 403: `${locked}, \`hardened_derivation_required\`` },
  }, async ({ params, body }) => {
    await sharedWallet(desk, params.walletId);
    if (params.index < HARD) {
      throw refusal({ code: "hardened_derivation_required", message: "Accounts have hard indices, such as 0H." });
    }
    const paths = [accountPath("shared", params.index - HARD)];
    const [key] = answered(await vault.publicKeys(params.walletId, { passphrase: body.passphrase, paths }, until()));
    return accountKeyText(key!, { shared: true, format: body.format });
  });

  route(app, {
    method: "get",
    path: "/shared-wallets/:walletId/keys/:role/:index",
    operation: "getSharedWalletKey",
    summary: "A public key of the wallet's own",
    params: { walletId, role, index },
    query: api.hashQuery,
    answer: api.keyText,
    refusals: { 403: "`soft_derivation_required`" },
  }, async ({ params, query }) => {
    const { key } = await sharedWallet(desk, params.walletId);
    if (params.index >= HARD) {
      throw refusal({ code: "soft_derivation_required", message: "Keys of a role have soft indices, such as 0." });
    }
    const child = childOf(key, ROLES.indexOf(params.role), params.index);
    const name = params.role === "mutable_account" ? "stake" : "addr";
    return childKeyText(child.key, { name, shared: true, shape: query.hash ? "hash" : "key" });
  });

  route(app, {
    method: "post",
    path: "/shared-wallets/:walletId/transactions-sign",
    operation: "signSharedTransaction",
    summary: "Sign a transaction beside those who signed it before",
    description:
      "Nothing is added for scripts that the signatures there already satisfy: the fee is for as many as are needed.",
    params,
    body: signBody,
    status: 202,
    answer: signed,
    refusals: { 403: `${locked}, \`shared_wallet_incomplete\`` },
  }, async ({ params, body }) => {
    const row = await completeWallet(desk, params.walletId);
    const { transaction, passphrase, encoding } = body;
    const read = readUnsigned(transaction);
    const paths = toSign(read, await ownScripts(desk, row, read));
    const input = { passphrase, message: fromHex(read.hash), paths };
    const signatures = answered(await vault.sign(row.id, input, until()));
    return { transaction: transactionText(addWitness(transaction, ...signatures), encoding) };
  });
}

function readUnsigned(transaction: Uint8Array): Unsigned {
  try {
    return unsigned(transaction);
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    throw refusal({
      code: "bad_request",
      message: `Error in $.transaction: these bytes are no transaction: ${error.message}`,
    });
  }
}

/** The wallet's scripts among those of a transaction. */
async function ownScripts({ store }: Desk, row: SharedWalletRow, read: Unsigned): Promise<OwnScript<Path>[]> {
  const { sharing, key, id } = row;
  const hashes = [...read.scripts.keys()];
  const owners = await ownersOf(store.sql, hashes.map((hash) => `script-${hash}`));
  const stake = stakeCredential(sharing.delegation)?.hash;
  return hashes.flatMap((script) => {
    const owner = owners.get(`script-${script}`)?.find(({ wallet }) => wallet === id);
    const path = owner?.path ?? (script === stake ? [...accountPath("shared", sharing.account), STAKE, 0] : undefined);
    return path ? [{ script, path, key: childHash(key, path.at(-2)!, path.at(-1)!) }] : [];
  });
}

const STAKE = ROLES.indexOf("mutable_account");
