/** Public keys of sequential wallets, their policy keys and policies, and signatures of metadata. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { HARD } from "#src/cardano/keys/derivation.ts";
import { blake2b256 } from "#src/cardano/hash.ts";
import * as api from "#src/wallets/api/keys.ts";
import { index, role, ROLES, walletId } from "#src/wallets/api/params.ts";
import type { Json } from "#src/base/json.ts";
import { z } from "zod";
import { onlyOf } from "#src/base/present.ts";
import { entityOf, isGone, noSuchWallet, until, type WalletService } from "#src/wallets/http/service.ts";
import { route } from "#src/wallets/http/route.ts";
import { accountOf } from "#src/wallets/http/accounts.ts";
import { answered, refusal, softIndexRequired } from "#src/wallets/http/status.ts";
import { NO_POLICY_KEY, policyKeyHash, policyOfTemplate } from "#src/wallets/builds/policy.ts";
import { childOf } from "#src/cardano/keys/account.ts";
import type { Path, Xpub } from "#src/cardano/keys/types.ts";
import { accountPath, policyPath } from "#src/cardano/keys/paths.ts";
import { accountKeyText, childKeyText, policyKeyText } from "#src/cardano/keys/text.ts";
import { readMetadata } from "#src/cardano/metadata/json.ts";
import { encodeMetadata } from "#src/cardano/metadata/metadatum.ts";

const locked = { 403: "`no_root_key`, `wrong_encryption_passphrase`" };
const SHARED = HARD + 1854;

/** Adds `…/keys` and `…/signatures`. */
export function keyRoutes(app: OpenAPIHono, service: WalletService): void {
  route(app, "get", "/wallets/:walletId/keys", {
    operation: "getAccountKey",
    summary: "The account's public key",
    params: { walletId },
    query: api.keysQuery,
    answer: api.keyText,
  }, async ({ params, query }) => {
    const { key } = await service.wallet(params.walletId, "shelley");
    return accountKeyText(key, { shared: false, format: query.format ?? "extended" });
  });

  route(app, "post", "/wallets/:walletId/keys/:index", {
    operation: "postAccountKey",
    summary: "The public key of any account of the wallet's root",
    params: { walletId, index },
    body: api.accountKeyOfPurposeBody,
    status: 202,
    answer: api.keyText,
    refusals: { 403: "`no_root_key`, `wrong_encryption_passphrase`, `hardened_derivation_required`" },
  }, async ({ params, body }) => {
    await service.wallet(params.walletId, "shelley");
    const usual = accountPath("shelley", accountOf(params.index));
    const path = body.purpose === undefined ? usual : [HARD + accountOf(body.purpose), ...usual.slice(1)];
    const key = await publicKeyAt(service, params.walletId, body.passphrase, path);
    return accountKeyText(key, { shared: path[0] === SHARED, format: body.format });
  });

  route(app, "get", "/wallets/:walletId/keys/:role/:index", {
    operation: "getWalletKey",
    summary: "A public key of the wallet",
    params: { walletId, role, index },
    query: api.hashQuery,
    answer: api.keyText,
    refusals: { 403: "`soft_derivation_required`" },
  }, async ({ params, query }) => {
    const { key } = await service.wallet(params.walletId, "shelley");
    return roleKeyText(key, params, { shared: false, hash: query.hash });
  });

  route(app, "post", "/wallets/:walletId/signatures/:role/:index", {
    operation: "signMetadata",
    summary: "Sign metadata with a key of the wallet",
    description: "Returns a signature of 64 bytes over the hash of the metadata (blake2b-256 of its CBOR).",
    params: { walletId, role, index },
    body: api.signMetadataBody,
    produces: "application/octet-stream",
    answer: z.string().meta({ format: "binary" }),
    refusals: { 403: `${locked[403]}, \`soft_derivation_required\`` },
  }, async ({ params, body, context }) => {
    const row = await service.wallet(params.walletId, "shelley");
    const metadata = answered(readMetadata(body.metadata as Json));
    const path = [...accountPath("shelley", row.account), softRole(params.role, params.index), params.index];
    const message = blake2b256(encodeMetadata(metadata));
    const input = { passphrase: body.passphrase, message, paths: [path] };
    const { signature } = onlyOf(answered(await service.vault.sign(params.walletId, input, until())));
    return context.body(new Uint8Array(signature), 200, { "content-type": "application/octet-stream" });
  });
}

/** Adds `…/policy-key` and `…/policy-id`. */
export function policyRoutes(app: OpenAPIHono, service: WalletService): void {
  route(app, "get", "/wallets/:walletId/policy-key", {
    operation: "getPolicyKey",
    summary: "The policy key of the wallet, used for minting",
    params: { walletId },
    query: api.hashQuery,
    answer: api.keyText,
    refusals: { 403: "`missing_policy_public_key`" },
  }, async ({ params, query }) => {
    const { policyKey } = await service.wallet(params.walletId, "shelley");
    if (policyKey === undefined) throw missingPolicyKey();
    return policyKeyText(policyKey, query.hash ? "hash" : "key");
  });

  route(app, "post", "/wallets/:walletId/policy-key", {
    operation: "postPolicyKey",
    summary: "Create the policy key of the wallet, used for minting",
    params: { walletId },
    query: api.hashQuery,
    body: api.policyKeyBody,
    status: 202,
    answer: api.keyText,
    refusals: locked,
  }, async ({ params: { walletId: id }, query, body }) => {
    await service.wallet(id, "shelley");
    const key = await publicKeyAt(service, id, body.passphrase, policyPath());
    const answer = await service.ask(entityOf(id), { type: "POLICY_KEY_SET", key });
    if (!answer.ok) throw isGone(answer.error) ? noSuchWallet(id) : refusal(answer.error);
    return policyKeyText(key, query.hash ? "hash" : "key");
  });

  route(app, "post", "/wallets/:walletId/policy-id", {
    operation: "postPolicyId",
    summary: "The policy id of a script with the wallet's policy key",
    params: { walletId },
    body: api.policyIdBody,
    status: 202,
    answer: api.policyIdAnswer,
    refusals: { 403: "`missing_policy_public_key`, `created_wrong_policy_script_template`" },
  }, async ({ params, body }) => {
    const row = await service.wallet(params.walletId, "shelley");
    if (row.policyKey === undefined) throw missingPolicyKey();
    const policy = policyOfTemplate(
      body.policy_script_template,
      policyKeyHash(row),
      "It looks like policy id is requested for a policy script",
    );
    return { policy_id: answered(policy).id };
  });
}

const missingPolicyKey = () => refusal(NO_POLICY_KEY);

/** The public key at a path from a wallet's root key; throws 403 where the passphrase does not open that. */
export async function publicKeyAt(
  { vault }: Pick<WalletService, "vault">,
  id: string,
  passphrase: string,
  path: Path,
): Promise<Xpub> {
  return onlyOf(answered(await vault.publicKeys(id, { passphrase, paths: [path] }, until())));
}

/** The key of a role at a soft index below an account's key; throws 403 for a hard one. */
export function roleKeyText(
  account: Xpub,
  { role, index }: { readonly role: (typeof ROLES)[number]; readonly index: number },
  { shared, hash }: { readonly shared: boolean; readonly hash: boolean | undefined },
): string {
  const name = role === "mutable_account" ? "stake" : "addr";
  const child = childOf(account, softRole(role, index), index);
  return childKeyText(child.key, { name, shared, shape: hash ? "hash" : "key" });
}

/** The index of a role; throws 403 for keys that need the root key. */
function softRole(name: (typeof ROLES)[number], index: number): number {
  if (index < HARD) return ROLES.indexOf(name);
  throw softIndexRequired();
}
