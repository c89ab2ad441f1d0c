/** The summary of every transaction that is built, and of any other transaction, over HTTP on a real ledger. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { encode } from "#src/cardano/cbor.ts";
import { transactionHash } from "#src/cardano/transaction.ts";
import { checkSummary, exactSummary, fromTransactions, type Intent, type Summary } from "#src/client/summary.ts";
import { TokenClient } from "#src/client/tokens.ts";
import type { Arbor } from "../../support/service/arbor.ts";
import { startService } from "../../support/service/provider.ts";
import { bound, elements, taken } from "../../support/ledger/editableTransactions.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { type Answer, fund, http, land, User } from "../../support/service/user.ts";

describe("summaries", () => {
  let infra: Awaited<ReturnType<typeof sharedInfra>>;
  let arbor: Arbor;
  const owner = new User("base");
  const other = new User("enterprise");
  const next = new User("base");
  const landed: string[] = [];
  let token: string;

  const get = (path: string) => http(arbor.tokens, "GET", path);
  const post = (path: string, body: unknown) => http(arbor.tokens, "POST", path, body);
  const explain = async (transaction: string, address?: string) => {
    return await new TokenClient(arbor.tokens).explain(transaction, address);
  };

  /** A built transaction: its summary is what the client computes by itself; then it is signed and included. */
  const carry = async (built: Answer, intent: Intent, ...signers: User[]): Promise<Summary> => {
    expect([built.status, built.body.error]).toEqual([200, undefined]);
    const { unsignedTransaction } = built.body as { unsignedTransaction: string };
    const summary = exactSummary(built.body.summary);
    // outputs of earlier transactions of this test need no trust in the service
    const resolve = fromTransactions(landed);
    const checked = await checkSummary({ unsignedTransaction, summary }, intent, { resolve });
    expect(checked).toEqual({ ok: true, value: expect.objectContaining({ hash: summary.hash, unknown: [] }) });
    // the requester's coins are the collateral too: the ledger vouches for their value
    expect(await checkSummary({ unsignedTransaction, summary }, intent)).toMatchObject({ ok: true });
    expect(await explain(unsignedTransaction, intent.address)).toEqual(summary);
    const signed = signers.reduce((transaction, user) => user.sign(transaction), unsignedTransaction);
    const explained = await explain(signed, intent.address);
    expect(explained.signers.map(({ signed }) => signed)).toEqual(explained.signers.map(() => true));
    await land(arbor.tokens, signed);
    landed.push(signed);
    return summary;
  };

  beforeAll(async () => {
    infra = await sharedInfra();
    arbor = await startService({ infra });
    for (const user of [owner, other, next]) await fund(arbor.devnet, arbor.tokens, user);
  });
  afterAll(async () => {
    await arbor?.end();
    await infra?.stop();
  });

  it("describes and checks a token's life", async () => {
    const mine = { address: owner.address };
    const theirs = { address: other.address };
    const boot = await get(`/transaction/${owner.address}/boot-token`);
    token = boot.body.value;
    const booted = await carry(boot, { type: "boot", token, ...mine }, owner);
    expect(booted.tokens).toMatchObject([{ tokenId: token, booted: true, ended: false, proven: true }]);

    const ask = (type: string, body: unknown) => post(`/transaction/${other.address}/request-${type}/${token}`, body);
    const inserted = await carry(await ask("insert", { key: "2024", newValue: "ü" }), {
      type: "insert",
      token,
      key: "2024",
      newValue: "ü",
      ...theirs,
    }, other);
    const [{ locked, offered }] = inserted.requests as [Summary["requests"][number]];
    expect(inserted.net).toEqual({ lovelace: -locked.lovelace - inserted.fee, assets: {} });

    const request = `${inserted.hash}-0`;
    const update = await get(`/transaction/${owner.address}/update-token/${token}?request=${request}`);
    const root = update.body.mpfRoot as string;
    const applied = await carry(update, { type: "apply", token, requests: [request], root, ...mine }, owner);
    expect(applied.tokens).toMatchObject([{
      root: { before: "0".repeat(64), after: root },
      applies: [{ outputRef: request, change: { type: "insert", key: "2024", oldValue: null, newValue: "ü" } }],
    }]);
    expect(applied.refunds).toMatchObject([{ request, address: other.address, lovelace: locked.lovelace - offered }]);
    expect(applied.validity.until!.time).toMatch(/^\d{4}-/);

    const update2 = { key: "2024", oldValue: "ü", newValue: "" };
    const requested = await carry(
      await ask("update", update2),
      { type: "update", token, ...update2, ...theirs },
      other,
    );
    const retract = await get(`/transaction/${other.address}/retract-change/${requested.hash}-0`);
    const back = await carry(retract, { type: "retract", request: `${requested.hash}-0`, ...theirs }, other);
    expect(back.retracts).toMatchObject([{ outputRef: `${requested.hash}-0`, tokenId: token }]);

    await carry(await ask("delete", { key: "2024", oldValue: "ü" }), {
      type: "delete",
      token,
      key: "2024",
      oldValue: "ü",
      ...theirs,
    }, other);
    const rest = await get(`/transaction/${owner.address}/update-token/${token}`);
    await carry(rest, { type: "apply", token, ...mine }, owner);

    const transfer = await get(`/transaction/${owner.address}/transfer-token/${token}?to=${next.address}`);
    const given = await carry(transfer, { type: "transfer", token, to: next.address, ...mine }, owner, next);
    expect(given.tokens).toMatchObject([{ owner: { before: owner.keyHash, after: next.keyHash } }]);

    const end = await get(`/transaction/${next.address}/end-token/${token}`);
    const ended = await carry(end, { type: "end", token, address: next.address }, next);
    expect(ended.mints).toEqual([expect.objectContaining({ tokenId: token, quantity: -1n, meaning: "end" })]);

    // inputs are known as long as they are kept
    const past = await explain(landed[2]!, owner.address);
    expect([past.unknown, past.net]).toEqual([[], applied.net]);
  });

  it("states what it does not know", async () => {
    const edited = taken(fromHex(landed[0]!));
    elements(edited.body, 0n).push([new Uint8Array(32).fill(9), 3n]);
    elements(edited.body, 4n).push([2n, [0n, new Uint8Array(28)], new Uint8Array(28)]);
    edited.body.set(22n, 1n);
    const explained = await explain(toHex(bound(edited)));
    expect(explained.unknown.map(({ code }) => code).sort()).toEqual(["certificate", "donation", "input_unknown"]);
    expect([explained.address, explained.net, explained.balanced]).toEqual([null, null, null]);
    const failed = taken(fromHex(landed[0]!));
    failed.valid = false;
    const forfeit = await explain(toHex(bound(failed)), owner.address);
    expect(forfeit).toMatchObject({ valid: false, tokens: [], mints: [], unknown: [] });
    expect(forfeit.net).toEqual({ lovelace: -forfeit.fee, assets: {} });
    expect(forfeit.hash).toBe(transactionHash(fromHex(landed[0]!)));
  });

  it("refuses bytes that are not a transaction", async () => {
    for (const transaction of ["00", "80", toHex(encode([new Map(), new Map(), true, null])), "ff".repeat(100)]) {
      const answer = await post("/transaction/explain", { transaction });
      expect(answer).toMatchObject({ status: 400, body: { code: "undecodable" } });
    }
    for (const body of [{}, { transaction: "xyz" }, { transaction: "84", address: 5 }]) {
      expect(await post("/transaction/explain", body)).toMatchObject({ status: 400, body: { code: "bad_request" } });
    }
    const stranger = { transaction: landed[0], address: "addr_nonsense" };
    expect(await post("/transaction/explain", stranger)).toMatchObject({ status: 400, body: { code: "bad_address" } });
  });
});
