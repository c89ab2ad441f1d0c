/**
 * Chains that another node's transaction has overtaken: the service says who must sign again, and builds what was lost
 * again on what holds.
 */
import { connect, type NatsConnection } from "nats";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { bound, taken } from "../../support/ledger/editableTransactions.ts";
import type { Arbor } from "../../support/service/arbor.ts";
import { chosenProvider, startService } from "../../support/service/provider.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { until } from "../../support/base/until.ts";
import { type Answer, http, User } from "../../support/service/user.ts";

// Yaci Store does not say what its node's mempool holds: what was accepted there counts as waiting until its time to live
// ends, also where another transaction overtook it or a rollback dropped it
describe.skipIf(chosenProvider === "yaci")("a chain that another node's transaction has overtaken", () => {
  let infra: Infra;
  let arbor: Arbor;
  let nats: NatsConnection;
  let token: string;
  const [owner, bob, carol] = [new User(), new User(), new User()];

  const get = (path: string) => http(arbor.tokens, "GET", path);
  const build = (user: User, action: string, subject: string) =>
    get(`/transaction/${user.address}/${action}/${subject}`);
  const insert = (user: User, key: string) =>
    http(arbor.tokens, "POST", `/transaction/${user.address}/request-insert/${token}`, { key, newValue: "v" });
  const update = (...requests: readonly string[]) =>
    build(owner, "update-token", `${token}?${requests.map((hash) => `request=${hash}-0`).join("&")}`);
  const rebuild = (hash: string) => get(`/transaction/${hash}/rebuild`);
  const signed = (built: Answer, ...users: readonly User[]): string => {
    expect(built).toMatchObject({ status: 200 });
    return users.reduce((text, user) => user.sign(text), built.body.unsignedTransaction as string);
  };
  const sent = async (built: Answer, ...users: readonly User[]): Promise<string> => {
    const answer = await http(arbor.tokens, "POST", "/transaction", { signedTransaction: signed(built, ...users) });
    expect(answer).toMatchObject({ status: 200 });
    return answer.body.txHash;
  };
  const block = async (...hashes: readonly string[]) => {
    expect((await http(arbor.devnet, "POST", "/blocks", { count: 1 })).status).toBe(200);
    for (const hash of hashes) {
      await until(`transaction ${hash}`, async () => (await get(`/transaction?txHash=${hash}`)).status === 200);
    }
  };
  const snapshot = async (name: string) =>
    expect((await http(arbor.devnet, "POST", "/snapshots", { name, replace: true })).status).toBe(201);
  const restore = async (name: string) =>
    expect((await http(arbor.devnet, "POST", `/snapshots/${name}/restore`)).status).toBe(200);
  /** Submits `chain` here while another node has `rival` in its mempool, and lets that node make the next block. */
  const overtaken = async (rival: string, chain: () => Promise<readonly string[]>) => {
    await snapshot("here");
    const response = await fetch(`${arbor.places.get("Blockfrost API of the devnet")}/tx/submit`, {
      method: "POST",
      headers: { "content-type": "application/cbor" },
      body: Uint8Array.from(rival.match(/../g)!, (byte) => parseInt(byte, 16)),
    });
    expect(response.status).toBe(202);
    const winner = await response.json() as string;
    await snapshot("there");
    await restore("here");
    const hashes = await chain();
    await restore("there");
    await block(winner);
    return { winner, hashes };
  };
  /** What the service says of a lost transaction. */
  const lost = (hash: string) =>
    until(`${hash} is lost`, async () => {
      const { body } = await get(`/transaction?txHash=${hash}`);
      return body.details?.status === "expired" ? body.details : undefined;
    });
  /** The content of the event `refused` of a transaction, by server-sent events. */
  const refusal = async (hash: string) => {
    const path = `/events?kind=transaction&id=${hash}&transition=refused&from=start`;
    const ended = new AbortController();
    const response = await fetch(arbor.operator + path, { signal: ended.signal });
    let text = "";
    for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
      text += part;
      const [, data] = /^data: (.*)$/m.exec(text) ?? [];
      if (data === undefined) continue;
      ended.abort();
      return JSON.parse(data).data.content;
    }
    throw new Error(`the stream has no event: ${text}`);
  };

  beforeAll(async () => {
    infra = await sharedInfra();
    arbor = await startService({ infra, blockMs: 0 });
    nats = await connect({ servers: infra.natsUrl, ...(infra.natsToken ? { token: infra.natsToken } : {}) });
    const paid: string[] = [];
    for (const { address } of [owner, bob, carol]) {
      paid.push((await http(arbor.devnet, "POST", "/faucet", { address, lovelace: 1_000_000_000 })).body.txHash);
    }
    await block(...paid);
    const boot = await get(`/transaction/${owner.address}/boot-token`);
    token = boot.body.value;
    await block(await sent(boot, owner));
  });
  afterAll(async () => {
    await nats?.close();
    await arbor?.end();
    await infra?.stop();
  });

  it("by a retract: the signers are named, and the updates are built again without the request", async () => {
    const made: string[] = [];
    for (const [user, key] of [[bob, "one"], [carol, "two"], [carol, "three"]] as const) {
      made.push(await sent(await insert(user, key), user));
    }
    await block(...made);
    const [one, two, three] = made as [string, string, string];
    const messages: unknown[] = [];
    nats.subscribe("arbor.event.transaction.*.refused", {
      callback: (_, message) => void messages.push(message.json()),
    });
    const retract = signed(await build(bob, "retract-change", `${one}-0`), bob);
    let four = "";
    const { hashes } = await overtaken(retract, async () => {
      const first = await sent(await update(one, two), owner);
      four = await sent(await insert(carol, "four"), carol);
      const second = await sent(await update(three, four), owner);
      expect((await get(`/token/${token}`)).body.pending).toMatchObject({
        status: "live",
        outputRefId: `${second}-0`,
        requests: { made: [], spent: expect.arrayContaining([{ request: `${four}-0`, txHash: second }]) },
      });
      expect(await rebuild(first)).toMatchObject({
        status: 409,
        body: { code: "transaction_not_lost", details: { status: "pending" } },
      });
      return [first, second];
    });
    const [first, second] = hashes as [string, string];
    // the index knows at once what holds; the actors of the transactions hear of it later
    const { body: { root, outputRefId, pending } } = await get(`/token/${token}`);
    expect(pending).toEqual({
      status: "live",
      owner: owner.keyHash,
      root,
      outputRefId,
      transactions: [four],
      requests: { made: [`${four}-0`], spent: [] },
    });

    const signers = [owner.keyHash];
    const { causes: [cause], ...details } = await lost(second);
    expect(cause).toEqual({ name: "TransactionLost", message: expect.stringContaining(first) });
    expect(details).toMatchObject({
      signers,
      dependents: [],
      rebuild: `/transaction/${second}/rebuild`,
    });
    expect(await lost(first)).toMatchObject({
      causes: expect.arrayContaining([expect.objectContaining({ name: "BadInputsUTxO" })]),
      signers,
      dependents: [{ txHash: second, signers }],
      rebuild: `/transaction/${first}/rebuild`,
    });
    expect(await refusal(first)).toMatchObject({ signers, dependents: [second] });
    expect(await refusal(second)).toMatchObject({ signers, dependents: [] });
    await until(
      "both are published",
      () =>
        Promise.resolve(
          [first, second].every((hash) =>
            messages.some((message) => JSON.stringify(message).includes(`"id":"${hash}"`))
          ),
        ),
    );
    expect(messages).toEqual(expect.arrayContaining([
      expect.objectContaining({ data: expect.objectContaining({ content: expect.objectContaining({ signers }) }) }),
    ]));

    const again = await rebuild(first);
    expect(again).toMatchObject({
      status: 200,
      body: {
        replaces: first,
        action: "update",
        address: owner.address,
        applied: [`${two}-0`],
        left: [{ request: `${one}-0`, code: "request_unknown" }],
        summary: { signers: expect.arrayContaining([expect.objectContaining({ key: owner.keyHash })]) },
      },
    });
    const replaced = [await sent(again, owner)];
    const next = await rebuild(second);
    expect(next.body).toMatchObject({ left: [], applied: expect.arrayContaining([`${three}-0`, `${four}-0`]) });
    replaced.push(await sent(next, owner));
    expect(await rebuild(first)).toMatchObject({ status: 409, body: { code: "requests_fail" } });
    await block(...replaced);
    expect((await get(`/token/${token}/facts`)).body).toEqual({ two: "v", three: "v", four: "v" });
    expect((await get(`/token/${token}`)).body).not.toHaveProperty("pending");
    expect(await rebuild(replaced[0]!)).toMatchObject({
      status: 409,
      body: { code: "transaction_not_lost", details: { status: "in_ledger" } },
    });
    expect(await rebuild("ab".repeat(32))).toMatchObject({ status: 404, body: { code: "transaction_unknown" } });
  });

  it("by a retract that is pending when the owner submits: the refused update is built again without it", async () => {
    const made = [];
    for (const [user, key] of [[bob, "eight"], [carol, "nine"], [bob, "ten"]] as const) {
      made.push(await sent(await insert(user, key), user));
    }
    await block(...made);
    const which = `request=${made[0]}-0&request=${made[1]}-0&refuse=${made[2]}-0`;
    const built = await build(owner, "update-token", `${token}?${which}`);
    const retract = await sent(await build(bob, "retract-change", `${made[0]}-0`), bob);
    const signedTransaction = signed(built, owner);
    const refused = await http(arbor.tokens, "POST", "/transaction", { signedTransaction });
    expect(refused).toMatchObject({ status: 422, body: { code: "refused_by_ledger" } });
    expect(refused.body.details[0].name).toBe("BadInputsUTxO");
    const { hash } = built.body.summary;
    expect(await get(`/transaction/${hash}/rebuild?address=${bob.address}`)).toMatchObject({
      status: 403,
      body: { code: "not_owner" },
    });
    expect(await get(`/transaction/${hash}/rebuild?wallet=${"ab".repeat(20)}`)).toMatchObject({
      status: 404,
      body: { code: "no_such_wallet" },
    });
    const again = await rebuild(hash);
    expect(again.body).toMatchObject({
      action: "update",
      applied: [`${made[1]}-0`],
      refused: [`${made[2]}-0`],
      left: [{ request: `${made[0]}-0`, code: "request_pending", message: expect.stringContaining(retract) }],
    });
    await block(retract, await sent(again, owner));
    expect((await get(`/token/${token}/facts`)).body).toEqual({ two: "v", three: "v", four: "v", nine: "v" });
  });

  it("by an update of the same state: the refusal says that it has moved, and what builds the other one again", async () => {
    const made = [await sent(await insert(bob, "moved-1"), bob), await sent(await insert(carol, "moved-2"), carol)];
    await block(...made);
    const { outputRefId } = (await get(`/token/${token}`)).body;
    const [late, first] = [await update(made[1]!), await update(made[0]!)];
    const done = await sent(first, owner);
    // the same inputs, of which none is left
    const twin = taken(fromHex(first.body.unsignedTransaction));
    const to = twin.body.get(3n);
    if (typeof to !== "bigint") throw new Error("it has no end");
    twin.body.set(3n, to - 1n);
    expect(
      await http(arbor.tokens, "POST", "/transaction", { signedTransaction: owner.sign(toHex(bound(twin))) }),
    ).toMatchObject({ status: 409, body: { code: "state_moved", details: { tokenId: token, spent: outputRefId } } });
    const signedTransaction = signed(late, owner);
    const { hash } = late.body.summary;
    const path = `/transaction/${hash}/rebuild`;
    for (const confirm of [() => Promise.resolve(), () => block(done)]) {
      await confirm();
      expect(await http(arbor.tokens, "POST", "/transaction", { signedTransaction })).toMatchObject({
        status: 409,
        body: { code: "state_moved", details: { tokenId: token, spent: outputRefId, txHash: hash, rebuild: path } },
      });
      const known = await get(`/transaction?txHash=${hash}`);
      expect(known).toMatchObject({
        status: 404,
        body: { code: "transaction_unknown", details: { status: "refused", signers: [owner.keyHash], rebuild: path } },
      });
      expect(known.body.details.causes[0].name).toBe("BadInputsUTxO");
    }
    await block(await sent(await rebuild(hash), owner));
    expect((await get(`/token/${token}/facts`)).body).toMatchObject({ "moved-1": "v", "moved-2": "v" });
  });

  it("by a payment: each kind of transaction is built again, and coins and requests are free", async () => {
    const mine = await sent(await insert(owner, "five"), owner);
    await block(mine);
    const rival = signed(await insert(owner, "six"), owner);
    let booted = "";
    const { hashes } = await overtaken(rival, async () => {
      const boot = await get(`/transaction/${owner.address}/boot-token`);
      booted = boot.body.value;
      const chain = [await sent(boot, owner)];
      chain.push(await sent(await insert(owner, "seven"), owner));
      chain.push(await sent(await build(owner, "retract-change", `${mine}-0`), owner));
      chain.push(await sent(await build(owner, "transfer-token", `${token}?to=${bob.address}`), owner, bob));
      chain.push(await sent(await build(bob, "end-token", token), bob));
      return chain;
    });
    for (const hash of hashes) await lost(hash);
    const [root] = hashes as [string];
    expect((await lost(root)).dependents).toEqual([
      { txHash: hashes[1], signers: [owner.keyHash] },
      { txHash: hashes[2], signers: [owner.keyHash] },
      { txHash: hashes[3], signers: expect.arrayContaining([owner.keyHash, bob.keyHash]) },
      { txHash: hashes[4], signers: [bob.keyHash] },
    ]);
    const { body } = await get(`/token/${token}`);
    expect(body).not.toHaveProperty("pending");
    expect(body.requests.map(({ outputRefId }: { outputRefId: string }) => outputRefId)).toContain(`${mine}-0`);
    const again: string[] = [];
    const expected = [
      ["boot", owner, [owner]],
      ["request", owner, [owner]],
      ["retract", owner, [owner]],
      ["transfer", owner, [owner, bob]],
      ["end", bob, [bob]],
    ] as const;
    for (const [i, [action, { address }, users]] of expected.entries()) {
      const built = await rebuild(hashes[i]!);
      expect(built).toMatchObject({ status: 200, body: { action, address, replaces: hashes[i] } });
      if (action === "boot") expect(built.body.value).not.toBe(booted);
      again.push(await sent(built, ...users));
    }
    await block(...again);
    expect(await get(`/token/${token}`)).toMatchObject({ status: 404, body: { code: "token_ended" } });
    expect(await get(`/token/${booted}`)).toMatchObject({ status: 404, body: { code: "token_unknown" } });
  });
});
