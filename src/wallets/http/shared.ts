/** Shared wallets over HTTP: created, completed with cosigners' keys, changed, deleted. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { z } from "zod";
import { walletId } from "#src/wallets/api/params.ts";
import * as api from "#src/wallets/api/shared.ts";
import { page, walletChange } from "#src/wallets/api/wallets.ts";
import { toJson } from "#src/base/json.ts";
import { onlyOf } from "#src/base/present.ts";
import { createWallet, sendCommand, type WalletCommand, withRootKey } from "#src/wallets/http/createWallet.ts";
import { accountOf } from "#src/wallets/http/accounts.ts";
import { noSuchWallet, type WalletService } from "#src/wallets/http/service.ts";
import { route } from "#src/wallets/http/route.ts";
import type { ServedKind } from "#src/wallets/http/kinds.ts";
import { firstOf } from "#src/http/paging.ts";
import { SHARED, sharedViews } from "#src/wallets/http/sharedView.ts";
import { answered, refusal } from "#src/wallets/http/status.ts";
import { changeOf, pageIn } from "#src/wallets/http/wallets.ts";
import { accountPath } from "#src/cardano/keys/paths.ts";
import type { Xpub } from "#src/cardano/keys/types.ts";
import { readWallet } from "#src/wallets/rows.ts";
import { sharedWalletId } from "#src/wallets/shared/account.ts";
import { sharedStakePath } from "#src/wallets/shared/ownScripts.ts";
import { readSharedWallet, readSharedWallets, type SharedWalletRow } from "#src/wallets/shared/rows.ts";
import { leavesOf } from "#src/wallets/shared/script.ts";
import type { CredentialType, ScriptTemplate } from "#src/wallets/shared/types.ts";
import { scriptFault, validateTemplates } from "#src/wallets/shared/validate.ts";

/** The method by which the vault seals a new root key. */
const SEAL = "argon2id-v2";

type Body = api.SharedWalletBody;

const params = { walletId };

/** A shared wallet; throws 404 `no_such_wallet`. */
export async function sharedWallet({ store }: Pick<WalletService, "store">, id: string): Promise<SharedWalletRow> {
  const row = await readSharedWallet(store.sql, id);
  if (row === undefined) throw noSuchWallet(id);
  return row;
}

/** A shared wallet whose keys are all there; throws 403 `shared_wallet_incomplete` for another. */
export async function completeWallet(service: Pick<WalletService, "store">, id: string): Promise<SharedWalletRow> {
  const row = await sharedWallet(service, id);
  if (row.sharing.complete) return row;
  throw refusal({
    code: "shared_wallet_incomplete",
    message: "The wallet lacks keys of its cosigners, so it has no addresses and cannot build or sign.",
  });
}

function templateOf(given: z.output<typeof api.givenTemplate>, own: Xpub): ScriptTemplate {
  const keys = Object.entries(given.cosigners).map(([name, key]) => [name, key === "self" ? own : key]);
  return { script: given.template, keys: Object.fromEntries(keys) };
}

/** A template in the actor's form. */
const actorTemplate = ({ script, keys }: ScriptTemplate) => ({
  script: toJson(script),
  names: [...leavesOf(script)],
  keys: { ...keys },
});

/** A shared wallet as the API shows it. */
const showShared = async (service: WalletService, id: string) =>
  (await sharedViews(service, [await sharedWallet(service, id)]))[0];

/** Adds `/shared-wallets` and what belongs to one wallet but its holdings and transactions. */
export function sharedWalletRoutes(app: OpenAPIHono, service: WalletService): void {
  creationRoutes(app, service);

  route(app, "get", "/shared-wallets", {
    operation: "listSharedWallets",
    cache: service.cache,
    summary: "All shared wallets, the oldest first",
    query: page,
    answer: api.sharedWallet.array(),
  }, async ({ query, context }) => {
    const rows = await readSharedWallets(service.store.sql, pageIn(query));
    return await sharedViews(service, firstOf(context, rows, query.limit, ({ id }) => id));
  });

  route(app, "get", "/shared-wallets/:walletId", {
    operation: "getSharedWallet",
    cache: service.cache,
    summary: "A shared wallet",
    params,
    answer: api.sharedWallet,
  }, ({ params }) => showShared(service, params.walletId));

  changeRoutes(app, service);
}

function creationRoutes(app: OpenAPIHono, service: WalletService): void {
  const createAndShow = async (body: Body, own: Xpub, attempt: string | null) => {
    const payment = templateOf(body.payment_script_template, own);
    const delegation = body.delegation_script_template && templateOf(body.delegation_script_template, own);
    answered(validateTemplates({ payment, delegation }, own, body.script_validation));
    const id = sharedWalletId(own, payment.script, delegation?.script);
    await createWallet(service, { kind: SHARED, id }, body.restoration_mode, {
      type: "CREATE",
      name: body.name,
      gap: body.address_pool_gap,
      key: own,
      attempt,
      passphrase: attempt === null ? null : { at: service.clock.now(), method: SEAL },
      oneChange: body.one_change_address_mode,
      selection: body.selection,
      account: accountOf(body.account_index),
      payment: actorTemplate(payment),
      delegation: delegation ? actorTemplate(delegation) : null,
    }, async () => await readWallet(service.store.sql, id, ["shared"]) !== undefined);
    return await showShared(service, id);
  };

  route(app, "post", "/shared-wallets", {
    operation: "postSharedWallet",
    summary: "Create or restore a shared wallet",
    description: "The wallet is `incomplete` until all keys of its cosigners are added by PATCH.",
    body: api.sharedWalletBody,
    status: 201,
    answer: api.sharedWallet,
    refusals: {
      403: "`shared_wallet_script_template_invalid`, `hardened_derivation_required`",
      404: "`unexpected_error`: no such block",
      409: "`wallet_already_exists`",
    },
  }, async ({ body }) => {
    const path = accountPath("shared", accountOf(body.account_index));
    // before the costly derivation of a root key
    for (const given of [body.payment_script_template, body.delegation_script_template]) {
      if (given && scriptFault(given.template, body.script_validation) !== undefined) {
        return await createAndShow(body, "", null);
      }
    }
    if ("account_public_key" in body) return await createAndShow(body, body.account_public_key, null);
    const { mnemonic_sentence: words, mnemonic_second_factor: second, passphrase } = body;
    const mnemonic = { style: "shared" as const, words, ...(second ? { secondFactor: second } : {}) };
    const input = { mnemonic, passphrase, paths: [path] };
    return await withRootKey(service, input, ({ keys, attempt }) => createAndShow(body, onlyOf(keys), attempt));
  });
}

function changeRoutes(app: OpenAPIHono, service: WalletService): void {
  const command = async (id: string, event: WalletCommand, isDone?: () => Promise<boolean>) => {
    await sharedWallet(service, id);
    await sendCommand(service, { kind: SHARED, id }, event, isDone);
  };

  route(
    app,
    "delete",
    "/shared-wallets/:walletId",
    {
      operation: "deleteSharedWallet",
      summary: "Delete a shared wallet, with its keys",
      params,
      status: 204,
    },
    ({ params: { walletId: id } }) =>
      command(id, { type: "DELETE" }, async () => await readSharedWallet(service.store.sql, id) === undefined),
  );

  route(app, "put", "/shared-wallets/:walletId", {
    operation: "putSharedWallet",
    summary: "Change the name and the build settings of a shared wallet",
    params,
    body: walletChange,
    answer: api.sharedWallet,
  }, async ({ params: { walletId: id }, body }) => {
    const change = changeOf(body);
    if (change !== undefined) await command(id, change);
    return await showShared(service, id);
  });

  for (const credential of ["payment", "delegation"] satisfies CredentialType[]) {
    route(app, "patch", `/shared-wallets/:walletId/${credential}-script-template`, {
      operation: `patchSharedWalletIn${credential === "payment" ? "Payment" : "Delegation"}`,
      summary: `Add keys of cosigners for ${credential}`,
      description: "Keys of other cosigners can be replaced while the wallet is incomplete.",
      params,
      body: api.cosignerKeys,
      answer: api.sharedWallet,
      refusals: {
        403: "`shared_wallet_active`, `shared_wallet_no_such_cosigner`, `shared_wallet_cannot_update_key`, " +
          "`shared_wallet_key_already_exists`, `shared_wallet_no_delegation_template`",
      },
    }, async ({ params, body }) => {
      // the last key makes the wallet derive its addresses, which may take longer than a call
      await command(params.walletId, { type: "ADD_KEYS", credential, keys: body }, async () => {
        const { sharing } = await sharedWallet(service, params.walletId);
        const known = sharing[credential]?.keys ?? {};
        return sharing.complete && Object.entries(body).every(([name, key]) => known[name] === key);
      });
      return await showShared(service, params.walletId);
    });
  }
}

/** Shared wallets, for the endpoints that all kinds share. */
export const servedShared = (service: Pick<WalletService, "store">): ServedKind => ({
  prefix: "shared-wallets",
  named: "Shared",
  actor: SHARED,
  kinds: ["shared"],
  stakePath: async (id) => sharedStakePath(await sharedWallet(service, id)),
  require: (id) => sharedWallet(service, id),
});
