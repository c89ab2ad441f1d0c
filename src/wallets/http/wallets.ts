/** Wallets with a single owner: created, listed, changed and deleted. */
import { readOverviews, type WalletOverview } from "#src/wallets/walletReads.ts";
import { GAP } from "#machines/wallet.ts";
import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import { concat, fromHex, utf8 } from "#src/base/bytes.ts";
import type { Eras } from "#src/cardano/eras.ts";
import { walletId } from "#src/wallets/api/params.ts";
import * as api from "#src/wallets/api/wallets.ts";
import { servedKinds } from "#src/wallets/http/kinds.ts";
import { answered } from "#src/wallets/http/status.ts";
import { entityOf, until, type WalletService } from "#src/wallets/http/service.ts";
import { createWallet, passphraseOf, sendCommand, withRootKey } from "#src/wallets/http/createWallet.ts";
import { accountOf } from "#src/wallets/http/accounts.ts";
import { route } from "#src/wallets/http/route.ts";
import { afterIn, firstOf, type PageQuery } from "#src/http/paging.ts";
import { byronView, lastSlot, walletView } from "#src/wallets/http/walletView.ts";
import { walletId as idOf } from "#src/cardano/keys/account.ts";
import { accountPath, policyPath } from "#src/cardano/keys/paths.ts";
import type { PutKey, RecordSealChange, SealChange } from "#src/wallets/vault/vault.ts";
import { appendInputs } from "#src/runtime/inputLog.ts";
import { sealedXprv } from "#src/cardano/keys/seal.ts";
import type { WalletStyle } from "#src/cardano/keys/types.ts";
import { BYRON_KINDS, readWallet, readWallets, type WalletRow } from "#src/wallets/rows.ts";
import type { Json } from "#src/base/json.ts";
import { elementAt } from "#src/base/present.ts";
import type { Queries } from "#src/store/store.ts";
import { reason } from "#src/base/log.ts";
import { respondList } from "#src/http/json.ts";

/** The parts of a new wallet's body beside its keys. */
type NewWalletSettings = Omit<
  Extract<api.WalletBody, { passphrase: string }>,
  "mnemonic_sentence" | "passphrase" | "account_index"
>;

const locked = { 403: "`no_root_key`, `wrong_encryption_passphrase`, `wrong_mnemonic`" };
const exists = { 409: "`wallet_already_exists`" };

/** Adds `/wallets` and `/wallets/{walletId}` with its passphrase, and the same for Byron wallets. */
export function walletRoutes(app: OpenAPIHono, service: WalletService): void {
  creationRoutes(app, service);
  kindRoutes(app, service);
  passphraseRoutes(app, service);
}

/** A wallet as the API shows it. */
const view = (row: WalletRow, overview: WalletOverview, eras: Eras) =>
  (row.kind === "shelley" ? walletView : byronView)(row, overview, eras);

/** A wallet, read now; throws 404 `no_such_wallet`. */
async function showWallet(service: WalletService, id: string, ...kinds: readonly WalletRow["kind"][]) {
  const [row, overviewOf] = await Promise.all([service.wallet(id, ...kinds), readOverviews(service, "wallet", [id])]);
  return view(row, overviewOf(id), await service.eras(lastSlot([id], overviewOf)));
}

/** Creates a wallet through its actor. */
async function createAndShow(
  service: WalletService,
  kind: WalletRow["kind"],
  settings: NewWalletSettings,
  { key, account = 0, policyKey = null, put }: {
    key: string;
    account?: number;
    policyKey?: string | null | undefined;
    put?: PutKey;
  },
) {
  // as in cardano-wallet for the first account; for others as for a wallet from the account's public key
  const id = await idFor(service.store.sql, kind, account === 0 ? put?.root ?? key : key);
  await createWallet(service, entityOf(id), settings.restoration_mode, {
    type: "CREATE",
    kind,
    name: settings.name,
    gap: settings.address_pool_gap,
    key,
    ...(account === 0 ? {} : { account }),
    policyKey,
    attempt: put?.attempt ?? null,
    passphrase: put ? passphraseOf(put) : null,
    oneChange: settings.one_change_address_mode,
    selection: settings.selection,
  }, async () => await readWallet(service.store.sql, id) !== undefined);
  return await showWallet(service, id, kind);
}

/** Creates a wallet with a root key; the first public key is its account's, or it is the root's. */
function withRoot(
  service: WalletService,
  kind: WalletRow["kind"],
  settings: NewWalletSettings,
  root: Parameters<typeof withRootKey>[1],
  account = 0,
) {
  return withRootKey(service, root, (put) => {
    const [key = put.root, policyKey] = put.keys;
    return createAndShow(service, kind, settings, { key, account, policyKey, put });
  });
}

function creationRoutes(app: OpenAPIHono, service: WalletService): void {
  route(app, "post", "/wallets", {
    operation: "postWallet",
    summary: "Create or restore a wallet",
    body: api.walletBody,
    status: 201,
    answer: api.wallet,
    refusals: { ...exists, 404: "`unexpected_error`: no such block" },
  }, async ({ body }) => {
    const account = accountOf(body.account_index);
    if ("mnemonic_sentence" in body) {
      const { mnemonic_sentence: sentence, mnemonic_second_factor: second, passphrase } = body;
      return await withRoot(service, "shelley", body, {
        mnemonic: { style: "shelley", words: sentence, ...(second ? { secondFactor: second } : {}) },
        passphrase,
        paths: [accountPath("shelley", account), policyPath()],
      }, account);
    }
    return await createAndShow(service, "shelley", body, { key: body.account_public_key, account });
  });

  route(app, "post", "/byron-wallets", {
    operation: "postByronWallet",
    summary: "Create or restore a Byron wallet",
    body: api.byronWalletBody,
    status: 201,
    answer: api.byronWallet,
    refusals: { ...exists, 404: "`unexpected_error`: no such block" },
  }, async ({ body }) => {
    const settings = {
      name: body.name,
      address_pool_gap: GAP.usual,
      restoration_mode: "from_genesis",
      one_change_address_mode: false,
      selection: "per-output",
    } as const;
    if ("account_public_key" in body) {
      const { account_public_key: key, ...chosen } = body;
      return await createAndShow(service, "icarus", { ...settings, ...chosen }, { key });
    }
    if ("passphrase_hash" in body) {
      const { encrypted_root_private_key: key, passphrase_hash: hash } = body;
      const sealed = sealedXprv(fromHex(key.toLowerCase()), fromHex(hash.toLowerCase()));
      return await withRoot(service, "random", settings, { style: "random", sealed });
    }
    const { mnemonic_sentence: words, passphrase } = body;
    const style = byronStyle(body);
    return await withRoot(service, style === "random" ? "random" : "icarus", settings, {
      mnemonic: { style, words },
      passphrase,
      paths: style === "random" ? [] : [accountPath(style)],
    });
  });
}

/**
 * The id of a new wallet, or of the one of its kind with this public key. A wallet of today and one of Byron may have
 * the same words, as in Yoroi, and cardano-wallet then gives both the same id. Ids are unique here: the later one gets
 * another.
 */
async function idFor(sql: Queries, kind: WalletRow["kind"], xpub: string): Promise<string> {
  const bytes = fromHex(xpub);
  const known = await Promise.all([bytes, concat(bytes, utf8(kind))].map(async (hashed) => {
    const id = idOf(hashed);
    return { id, kind: (await readWallet(sql, id))?.kind };
  }));
  const found = known.find((one) => one.kind === kind) ?? known.find((one) => one.kind === undefined);
  return (found ?? elementAt(known, 0)).id;
}

/** Style by which the root key is derived: cardano-wallet derives that of a Trezor as Icarus does. */
function byronStyle(
  { style, trezor_derivation: derivation }: Extract<api.ByronWalletBody, { mnemonic_sentence: string[] }>,
): WalletStyle {
  return style === "trezor" && derivation !== "device" ? "icarus" : style;
}

/** Lists, shows, deletes and changes wallets, of today and of the Byron era. */
function kindRoutes(app: OpenAPIHono, service: WalletService): void {
  const { store } = service;
  for (const { prefix, named, kinds } of servedKinds(service)) {
    const answer = named === "Byron" ? api.byronWallet : api.wallet;
    const params = { walletId };

    route(app, "get", `/${prefix}`, {
      operation: `list${named}Wallets`,
      cache: service.cache,
      summary: "All wallets, the oldest first",
      query: api.page,
      answer: answer.array(),
    }, async ({ query, context }) => {
      const rows = await readWallets(store.sql, kinds, pageIn(query));
      const some = firstOf(context, rows, query.limit, ({ id }) => id);
      const ids = some.map(({ id }) => id);
      const overviewOf = await readOverviews(service, "wallet", ids);
      const eras = await service.eras(lastSlot(ids, overviewOf));
      return await respondList(context, some, (row) => view(row, overviewOf(row.id), eras));
    });

    route(app, "get", `/${prefix}/:walletId`, {
      operation: `get${named}Wallet`,
      cache: service.cache,
      summary: "A wallet",
      params,
      answer,
    }, ({ params }) => showWallet(service, params.walletId, ...kinds));

    route(app, "delete", `/${prefix}/:walletId`, {
      operation: `delete${named}Wallet`,
      summary: "Delete a wallet, with its keys",
      params,
      status: 204,
    }, async ({ params }) => {
      const { id } = await service.wallet(params.walletId, ...kinds);
      const isGone = async () => await readWallet(store.sql, id) === undefined;
      await sendCommand(service, entityOf(id), { type: "DELETE" }, isGone);
    });

    route(app, "put", `/${prefix}/:walletId`, {
      operation: `put${named}Wallet`,
      summary: "Change the name and the build settings of a wallet",
      params,
      body: api.walletChange,
      answer,
    }, async ({ params, body }) => {
      await service.wallet(params.walletId, ...kinds);
      const change = changeOf(body);
      if (change !== undefined) await sendCommand(service, entityOf(params.walletId), change);
      return await showWallet(service, params.walletId, ...kinds);
    });
  }
}

function passphraseRoutes(app: OpenAPIHono, service: WalletService): void {
  const { vault } = service;

  /**
   * Changes the passphrase in the vault. The actor's event is committed with the new seal, in the input log: from then
   * on the change is certain, also while the actor is paused or its worker is away, and the wallet shows it once the
   * actor has read it.
   */
  const setPassphrase = async (
    id: string,
    change: (record: RecordSealChange) => ReturnType<typeof vault.changePassphrase | typeof vault.resetPassphrase>,
  ) => {
    const entity = entityOf(id);
    const changed = answered<SealChange>(
      await change((sql, change) => appendInputs(sql, [{ entity, event: passphraseChanged(change) }])),
    );
    service.ring([entity]);
    await service.ask(entity, passphraseChanged(changed), { deadlineMs: APPLIED_MS }).catch((error) =>
      service.log.warn("the change of the passphrase is applied later", { wallet: id, reason: reason(error) })
    );
  };

  route(app, "put", "/wallets/:walletId/passphrase", {
    operation: "putWalletPassphrase",
    summary: "Change the passphrase",
    params: { walletId },
    body: api.passphraseChange,
    status: 204,
    refusals: locked,
  }, async ({ params: { walletId: id }, body }) => {
    await service.wallet(id, "shelley");
    if ("old_passphrase" in body) {
      const { old_passphrase: old, new_passphrase: next } = body;
      return await setPassphrase(id, (record) => vault.changePassphrase(id, { old, next, record }, until()));
    }
    const { mnemonic_sentence: words, mnemonic_second_factor: secondFactor, new_passphrase: next } = body;
    const mnemonic = { words, ...(secondFactor ? { secondFactor } : {}) };
    await setPassphrase(id, (record) => vault.resetPassphrase(id, { mnemonic, next, record }, until()));
  });

  route(app, "put", "/byron-wallets/:walletId/passphrase", {
    operation: "putByronWalletPassphrase",
    summary: "Change the passphrase",
    params: { walletId },
    body: api.byronPassphraseChange,
    status: 204,
    refusals: locked,
  }, async ({ params: { walletId: id }, body }) => {
    await service.wallet(id, ...BYRON_KINDS);
    const { old_passphrase: old = "", new_passphrase: next } = body;
    await setPassphrase(id, (record) => vault.changePassphrase(id, { old, next, record }, until()));
  });
}

/** How long the answer to a change of passphrase waits for the actor, in milliseconds. */
const APPLIED_MS = 2_000;

const passphraseChanged = ({ attempt, updatedAt, method }: SealChange) => ({
  type: "PASSPHRASE_CHANGED" as const,
  attempt,
  passphrase: { at: updatedAt, method },
});

/** The one command of a change, so that it is applied as a whole; `undefined` for an empty change. */
export function changeOf({ name, one_change_address_mode: oneChange, selection }: api.WalletChange) {
  const settings: Record<string, Json> = {};
  for (const [key, value] of Object.entries({ name, oneChange, selection })) {
    if (value !== undefined) settings[key] = value;
  }
  const names = Object.keys(settings);
  if (names.length === 0) return undefined;
  return { ...settings, type: names.length === 1 && name !== undefined ? "RENAME" : "SETTINGS" };
}

/** The rows of a page of wallets to be read: one more than requested shows whether there is a next page. */
export const pageIn = ({ limit, after }: PageQuery) => ({
  after: afterIn(after, z.string().regex(/^[0-9a-f]{40}$/)),
  limit: limit === undefined ? undefined : limit + 1,
});
