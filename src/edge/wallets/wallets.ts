/** Sequential wallets: created, listed, changed and deleted. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { fromHex } from "#src/base/bytes.ts";
import type { Eras } from "#src/cardano/eras.ts";
import { walletId } from "#src/api/wallets/params.ts";
import * as api from "#src/api/wallets/wallets.ts";
import { answered, refusal } from "#src/edge/wallets/status.ts";
import { birthOf } from "#src/edge/wallets/startPoint.ts";
import {
  type Desk,
  entityOf,
  isGone,
  LONGEST_MS,
  noSuchWallet,
  until,
  walletAlreadyExists,
} from "#src/edge/wallets/context.ts";
import { create, refuseUnlessThere } from "#src/edge/wallets/create.ts";
import { route } from "#src/edge/wallets/service.ts";
import { linkNext, readCursorText } from "#src/edge/paging.ts";
import { byronView, lastSlot, tellOf, type Told, walletView } from "#src/edge/wallets/walletView.ts";
import { walletId as idOf } from "#src/wallet/keys/account.ts";
import { accountPath } from "#src/wallet/keys/paths.ts";
import type { PutKey, RecordSealChange, SealChange } from "#src/vault/vault.ts";
import { appendInputs } from "#src/runtime/turns/inputLog.ts";
import type { WalletStyle } from "#src/wallet/keys/types.ts";
import { readWallet, readWallets, type WalletRow } from "#src/wallet/rows.ts";
import type { Json } from "#src/base/json.ts";
import { reason } from "#src/base/log.ts";
import { HttpFailure } from "#src/edge/errors.ts";
import { respondList } from "#src/edge/json.ts";

/** What a new wallet's command says beside its keys. */
type Given = Omit<Extract<api.WalletBody, { passphrase: string }>, "mnemonic_sentence" | "passphrase">;

const locked = { 403: "`no_root_key`, `wrong_encryption_passphrase`, `wrong_mnemonic`" };
const exists = { 409: "`wallet_already_exists`" };

/** Adds `/wallets` and `/wallets/{walletId}` with its passphrase, and the same for wallets of the first era. */
export function walletRoutes(app: OpenAPIHono, desk: Desk): void {
  const { store, vault } = desk;

  const view = (row: WalletRow, told: Told, eras: Eras) =>
    (row.kind === "random" ? byronView : walletView)(row, told, eras);
  const one = async (id: string, kind: WalletRow["kind"]) => {
    const [row, told] = await Promise.all([desk.wallet(id, kind), tellOf(desk, "wallet", [id])]);
    return view(row, told(id), await desk.eras(lastSlot([id], told)));
  };

  /** Has the actor begin a wallet. */
  const begin = async (kind: WalletRow["kind"], id: string, given: Given, key: string, put?: PutKey) => {
    if (await readWallet(store.sql, id)) throw walletAlreadyExists(id);
    const birth = await birthOf(given.restoration_mode, desk);
    // what the answer needs of the network: refused before the wallet is there
    await desk.eras(birth.slot);
    const answer = await create(desk, entityOf(id), {
      type: "CREATE",
      kind,
      name: given.name,
      gap: given.address_pool_gap,
      key,
      policyKey: null,
      attempt: put?.attempt ?? null,
      passphrase: put ? { at: put.state.updatedAt, method: put.state.method } : null,
      birth: { slot: birth.slot, hash: birth.hash },
      oneChange: given.one_change_address_mode,
      selection: given.selection,
    }, async () => await readWallet(store.sql, id) !== undefined);
    if (answer.ok) return await one(id, kind);
    if (isGone(answer.error)) throw walletAlreadyExists(id);
    await refuseUnlessThere(answer.error, async () => await readWallet(store.sql, id) !== undefined);
    return await one(id, kind);
  };
  const fromWords = async (
    kind: WalletRow["kind"],
    style: WalletStyle,
    given: Given,
    { sentence, second, passphrase }: { sentence: string[]; second?: string[] | undefined; passphrase: string },
  ) => {
    const put = answered(
      await vault.put({
        mnemonic: { style, words: sentence, ...(second ? { secondFactor: second } : {}) },
        passphrase,
        paths: style === "random" ? [] : [accountPath(style)],
      }, until()),
    );
    try {
      return await begin(kind, idOf(fromHex(put.root)), given, put.keys[0] ?? put.root, put);
    } catch (error) {
      // refused for sure; where nobody knows, a wallet may come to adopt the key, and a sweep looks later
      if (error instanceof HttpFailure && error.status < 500) await vault.erase(put.attempt).catch(() => {});
      throw error;
    }
  };

  route(app, {
    method: "post",
    path: "/wallets",
    operation: "postWallet",
    summary: "Create or restore a wallet",
    body: api.walletBody,
    status: 201,
    answer: api.wallet,
    refusals: { ...exists, 404: "`unexpected_error`: no such block" },
  }, async ({ body }) => {
    if ("mnemonic_sentence" in body) {
      const { mnemonic_sentence: sentence, mnemonic_second_factor: second, passphrase } = body;
      return await fromWords("shelley", "shelley", body, { sentence, second, passphrase });
    }
    const key = body.account_public_key;
    return await begin("shelley", idOf(fromHex(key)), body, key);
  });

  route(app, {
    method: "post",
    path: "/byron-wallets",
    operation: "postByronWallet",
    summary: "Create or restore a wallet of the first era",
    body: api.byronWalletBody,
    status: 201,
    answer: api.byronWallet,
    refusals: { ...exists, 501: "`not_implemented`" },
  }, async ({ body }) => {
    const { style, name, mnemonic_sentence: sentence, passphrase } = body;
    if (style !== "random") {
      throw refusal({ code: "not_implemented", message: `Wallets of the style ${style} are not served yet.` });
    }
    const given = {
      name,
      address_pool_gap: 20,
      restoration_mode: "from_genesis",
      one_change_address_mode: false,
      selection: "per-output",
    } as const;
    return await fromWords("random", "random", given, { sentence, passphrase });
  });

  for (const { kind, prefix, named, answer } of KINDS) {
    const params = { walletId };

    route(app, {
      method: "get",
      path: `/${prefix}`,
      operation: `list${named}Wallets`,
      keep: desk.keep,
      summary: "All wallets, the oldest first",
      query: api.page,
      answer: answer.array(),
    }, async ({ query, context }) => {
      const { limit } = query;
      const after = query.after === undefined ? undefined : readCursorText(query.after, idIn);
      const rows = await readWallets(store.sql, [kind], {
        ...(after === undefined ? {} : { after }),
        ...(limit === undefined ? {} : { limit: limit + 1 }),
      });
      const some = limit === undefined ? rows : rows.slice(0, limit);
      linkNext(context, some.length < rows.length ? some.at(-1)!.id : undefined);
      const ids = some.map(({ id }) => id);
      const told = await tellOf(desk, "wallet", ids);
      const eras = await desk.eras(lastSlot(ids, told));
      return await respondList(context, some, (row) => view(row, told(row.id), eras));
    });

    route(app, {
      method: "get",
      path: `/${prefix}/:walletId`,
      operation: `get${named}Wallet`,
      keep: desk.keep,
      summary: "A wallet",
      params,
      answer,
    }, ({ params }) => one(params.walletId, kind));

    route(app, {
      method: "delete",
      path: `/${prefix}/:walletId`,
      operation: `delete${named}Wallet`,
      summary: "Delete a wallet, with its keys",
      params,
      status: 204,
    }, async ({ params }) => {
      await desk.wallet(params.walletId, kind);
      await told(
        params.walletId,
        { type: "DELETE" },
        async () => await readWallet(store.sql, params.walletId) === undefined,
      );
    });

    route(app, {
      method: "put",
      path: `/${prefix}/:walletId`,
      operation: `put${named}Wallet`,
      summary: "Name a wallet, and set how it builds",
      params,
      body: api.walletChange,
      answer,
    }, async ({ params, body }) => {
      await desk.wallet(params.walletId, kind);
      const change = changeOf(body);
      if (change !== undefined) await told(params.walletId, change);
      return await one(params.walletId, kind);
    });
  }

  /** Sends a command to a wallet that exists; `isDone` says whether its turn was written although no reply came in time. */
  const told = async (id: string, event: { type: string; [name: string]: Json }, isDone = async () => false) => {
    const answer = await desk.ask(entityOf(id), event, { deadlineMs: LONGEST_MS });
    if (answer.ok) return;
    if (isGone(answer.error)) throw noSuchWallet(id);
    await refuseUnlessThere(answer.error, isDone);
  };
  /**
   * Changes the passphrase in the vault. The actor's event is committed with the new seal, in the input log, so that from then on the answer
   * is a good one, whether the actor is paused or its worker away; whoever reads the wallet next sees the change once the actor has it.
   */
  const setPassphrase = async (
    id: string,
    change: (record: RecordSealChange) => ReturnType<typeof vault.changePassphrase | typeof vault.resetPassphrase>,
  ) => {
    const entity = entityOf(id);
    const changed = answered<SealChange>(
      await change((sql, change) => appendInputs(sql, [{ entity, event: passphraseChanged(change) }])),
    );
    desk.ring([entity]);
    await desk.ask(entity, passphraseChanged(changed), { deadlineMs: APPLIED_MS }).catch((error) =>
      desk.log.warn("the actor applies a change of passphrase later", { wallet: id, reason: reason(error) })
    );
  };

  route(app, {
    method: "put",
    path: "/wallets/:walletId/passphrase",
    operation: "putWalletPassphrase",
    summary: "Set another passphrase",
    params: { walletId },
    body: api.passphraseChange,
    status: 204,
    refusals: locked,
  }, async ({ params: { walletId: id }, body }) => {
    await desk.wallet(id, "shelley");
    if ("old_passphrase" in body) {
      const { old_passphrase: old, new_passphrase: next } = body;
      return await setPassphrase(id, (record) => vault.changePassphrase(id, { old, next, record }, until()));
    }
    const { mnemonic_sentence: words, mnemonic_second_factor: secondFactor, new_passphrase: next } = body;
    const mnemonic = { words, ...(secondFactor ? { secondFactor } : {}) };
    await setPassphrase(id, (record) => vault.resetPassphrase(id, { mnemonic, next, record }, until()));
  });

  route(app, {
    method: "put",
    path: "/byron-wallets/:walletId/passphrase",
    operation: "putByronWalletPassphrase",
    summary: "Set another passphrase",
    params: { walletId },
    body: api.byronPassphraseChange,
    status: 204,
    refusals: locked,
  }, async ({ params: { walletId: id }, body }) => {
    await desk.wallet(id, "random");
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

/** The one command that makes a change, so that all of it is applied or nothing; `undefined` for an empty change. */
export function changeOf({ name, one_change_address_mode: oneChange, selection }: api.WalletChange) {
  const given = Object.entries({ name, oneChange, selection }).filter(([, value]) => value !== undefined);
  if (given.length === 0) return undefined;
  const isRename = given.length === 1 && name !== undefined;
  return { type: isRename ? "RENAME" : "SETTINGS", ...Object.fromEntries(given) as Record<string, Json> };
}

const idIn = (value: Json) => typeof value === "string" && /^[0-9a-f]{40}$/.test(value) ? value : undefined;

const KINDS = [
  { kind: "shelley", prefix: "wallets", named: "", answer: api.wallet },
  { kind: "random", prefix: "byron-wallets", named: "Byron", answer: api.byronWallet },
] as const;
