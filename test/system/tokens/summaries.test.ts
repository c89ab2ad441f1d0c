/**
 * What is told beside every transaction that is built, and what any transaction does, over HTTP with a real ledger
 * below.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { encode } from "#src/cardano/cbor.ts";
import { transactionHash } from "#src/cardano/transaction.ts";
import { checkSummary, exactSummary, fromTransactions, type Intent, type Summary } from "#src/client/summary.ts";
import { TokenClient } from "#src/client/tokens.ts";
import { Arbor } from "../../support/arbor.ts";
import { bound, elements, taken } from "../../support/editable_transactions.ts";
import { sharedInfra } from "../../support/infra.ts";
import { type Answer, fund, http, land, User } from "../../support/user.ts";

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

  /**
   * A transaction as it was built: what is told of it is what the client finds by itself; then it is signed and lands.
   */
  const carry = async (built: Answer, intent: Intent, ...signers: User[]): Promise<Summary> => {
    expect([built.status, built.body.error]).toEqual([200, undefined]);
    const { unsignedTransaction } = built.body as { unsignedTransaction: string };
    const summary = exactSummary(built.body.summary);
    // outputs of transactions that were made here before need nobody's word
    const resolve = fromTransactions(landed);
    const checked = await checkSummary({ unsignedTransaction, summary }, intent, { resolve });
    expect(checked).toEqual({ ok: true, value: expect.objectContaining({ hash: summary.hash, unknown: [] }) });
    const believed = await checkSummary({ unsignedTransaction, summary }, intent);
    expect(believed.ok).toBe(intent.type !== "apply" && intent.type !== "transfer");
    expect(await explain(unsignedTransaction, intent.address)).toEqual(summary);
    const signed = signers.reduce((transaction, user) => user.sign(transaction), unsignedTransaction);
    const told = await explain(signed, intent.address);
    expect(told.signers.map(({ signed }) => signed)).toEqual(told.signers.map(() => true));
    await land(arbor.tokens, signed);
    landed.push(signed);
    return summary;
  };

  beforeAll(async () => {
    infra = await sharedInfra();
    arbor = await Arbor.start({ infra });
    for (const user of [owner, other, next]) await fund(arbor.devnet, arbor.tokens, user);
  });
  afterAll(async () => {
    await arbor?.end();
    await infra?.stop();
  });

  it("tells and checks a token's life", async () => {
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
    const asked = await carry(await ask("update", update2), { type: "update", token, ...update2, ...theirs }, other);
    const retract = await get(`/transaction/${other.address}/retract-change/${asked.hash}-0`);
    const back = await carry(retract, { type: "retract", request: `${asked.hash}-0`, ...theirs }, other);
    expect(back.retracts).toMatchObject([{ outputRef: `${asked.hash}-0`, tokenId: token }]);

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

    // what is spent is known as long as it is kept
    const past = await explain(landed[2]!, owner.address);
    expect([past.unknown, past.net]).toEqual([[], applied.net]);
  });

  it("says what it does not know", async () => {
    const bent = taken(fromHex(landed[0]!));
    elements(bent.body, 0n).push([new Uint8Array(32).fill(9), 3n]);
    elements(bent.body, 4n).push([2n, [0n, new Uint8Array(28)], new Uint8Array(28)]);
    bent.body.set(22n, 1n);
    const told = await explain(toHex(bound(bent)));
    expect(told.unknown.map(({ code }) => code).sort()).toEqual(["certificate", "donation", "input_unknown"]);
    expect([told.address, told.net, told.balanced]).toEqual([null, null, null]);
    const failed = taken(fromHex(landed[0]!));
    failed.valid = false;
    const forfeit = await explain(toHex(bound(failed)), owner.address);
    expect(forfeit).toMatchObject({ valid: false, tokens: [], mints: [], unknown: [] });
    expect(forfeit.net).toEqual({ lovelace: -forfeit.fee, assets: {} });
    expect(forfeit.hash).toBe(transactionHash(fromHex(landed[0]!)));
  });

  it("refuses what is no transaction", async () => {
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
