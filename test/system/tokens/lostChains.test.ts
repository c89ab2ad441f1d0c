/** Chains of pending transactions after a rollback: resubmitted in order, or reported with the transaction that is lost. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Arbor } from "../../support/service/arbor.ts";
import { chosenProvider, startService } from "../../support/service/provider.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { until } from "../../support/base/until.ts";
import { type Answer, http, User } from "../../support/service/user.ts";

// Yaci Store does not say what its node's mempool holds: what was accepted there counts as waiting until its time to live
// ends, also where another transaction overtook it or a rollback dropped it
describe.skipIf(chosenProvider === "yaci")("a chain of transactions of a token", () => {
  let infra: Infra;
  let arbor: Arbor;
  let token: string;
  const [owner, bob] = [new User(), new User()];

  const get = (path: string) => http(arbor.tokens, "GET", path);
  const insert = (key: string) =>
    http(arbor.tokens, "POST", `/transaction/${bob.address}/request-insert/${token}`, { key, newValue: "v" });
  const update = (request: string) => get(`/transaction/${owner.address}/update-token/${token}?request=${request}-0`);
  const submit = (user: User, { body }: Answer) =>
    http(arbor.tokens, "POST", "/transaction", { signedTransaction: user.sign(body.unsignedTransaction) });
  const sent = async (user: User, built: Answer): Promise<string> => {
    expect(built).toMatchObject({ status: 200 });
    const answer = await submit(user, built);
    expect(answer).toMatchObject({ status: 200 });
    return answer.body.txHash;
  };
  const look = (hash: string) => get(`/transaction?txHash=${hash}`);
  const block = async (...hashes: readonly string[]) => {
    expect((await http(arbor.devnet, "POST", "/blocks", { count: 1 })).status).toBe(200);
    for (const hash of hashes) await until(`transaction ${hash}`, async () => (await look(hash)).status === 200);
  };
  /** Rolls the newest blocks back; the network forgets their transactions, or keeps them in its mempool. */
  const rollback = async (blocks = 1, drop = true) =>
    expect((await http(arbor.devnet, "POST", "/rollback", { blocks, drop })).status).toBe(200);
  const allPending = (hashes: readonly string[]) =>
    until("the network has all again", async () => {
      const { body } = await http(arbor.devnet, "GET", "/mempool");
      const known = body.transactions.map(({ hash }: { hash: string }) => hash);
      return hashes.every((hash) => known.includes(hash));
    });
  /** Two requests and an update on each of them, without a block; `first` is the first request. */
  const chain = async (first: Answer, key: string): Promise<string[]> => {
    const hashes = [await sent(bob, first)];
    hashes.push(await sent(owner, await update(hashes[0]!)));
    hashes.push(await sent(bob, await insert(key)));
    hashes.push(await sent(owner, await update(hashes[2]!)));
    return hashes;
  };
  /** The content of a transaction's first event of a transition. */
  const content = async (hash: string, transition: string): Promise<unknown> => {
    const path = `/events?kind=transaction&id=${hash}&transition=${transition}&from=start`;
    const ended = new AbortController();
    const response = await fetch(arbor.operator + path, { signal: ended.signal });
    let text = "";
    for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
      text += part;
      const [, data] = /^data: (.*)$/m.exec(text) ?? [];
      if (data !== undefined) {
        ended.abort();
        return JSON.parse(data).data.content;
      }
    }
    throw new Error(`the stream has no event: ${text}`);
  };

  beforeAll(async () => {
    infra = await sharedInfra();
    arbor = await startService({ infra, blockMs: 0 });
    const paid: string[] = [];
    for (const { address } of [owner, bob]) {
      paid.push((await http(arbor.devnet, "POST", "/faucet", { address, lovelace: 1_000_000_000 })).body.txHash);
    }
    await block(...paid);
    const boot = await get(`/transaction/${owner.address}/boot-token`);
    token = boot.body.value;
    await block(await sent(owner, boot));
  });
  afterAll(async () => {
    await arbor?.end();
    await infra?.stop();
  });

  it("is submitted again in order after a rollback", async () => {
    const hashes = await chain(await insert("one"), "two");
    for (let times = 0; times < 3; times++) {
      await block(...hashes);
      const found = await Promise.all(hashes.map(async (hash) => (await look(hash)).body));
      expect(new Set(found.map((one) => one.block)).size).toBe(1);
      const [first, update, second, last] = found.map((one) => one.index);
      // the second request spends the first one's change, and the last update all that the others make
      expect([first < update, first < second, update < last, second < last]).toEqual([true, true, true, true]);
      await rollback();
      await allPending(hashes);
    }
    await block(...hashes);
    expect((await get(`/token/${token}/facts`)).body).toEqual({ one: "v", two: "v" });
  });

  it("that has lost its first transaction names it for each of the others, and what they spent is free", async () => {
    const [first, rival] = [await insert("three"), await insert("four")];
    const hashes = await chain(first, "five");
    const [root, ...followers] = hashes as [string, ...string[]];
    const winner = await until("the rival is first", async () => {
      await allPending(hashes);
      await block(...hashes);
      await rollback();
      const answer = await submit(bob, rival);
      return answer.status === 200 ? answer.body.txHash as string : undefined;
    });
    await block(winner);
    const lost = await until("the first is lost", async () => {
      const { body } = await look(root);
      return body.details?.status === "expired" ? body.details : undefined;
    });
    expect(lost.causes.map(({ name }: { name: string }) => name)).toEqual(["ConwayMempoolFailure"]);
    for (const hash of followers) {
      const details = await until(`${hash} is lost`, async () => {
        const { body } = await look(hash);
        return body.details?.status === "expired" ? body.details : undefined;
      });
      const cause = { name: "TransactionLost", message: expect.stringContaining(root) };
      expect(details.causes[0]).toEqual(cause);
      expect(await content(hash, "refused")).toMatchObject({ causes: expect.arrayContaining([cause]) });
    }
    expect((await get(`/token/${token}`)).body.requests).toMatchObject([{ outputRef: `${winner}-0` }]);
    // the state, the request and the coins are free
    const last = [await sent(owner, await update(winner)), await sent(bob, await insert("six"))];
    await block(...last);
    expect((await get(`/token/${token}/facts`)).body).toEqual({ one: "v", two: "v", four: "v" });
  });

  it("is in order again after the rollback of the two blocks that held it, dropped or not", async () => {
    const first = [await sent(bob, await insert("seven"))];
    first.push(await sent(owner, await update(first[0]!)));
    await block(...first);
    const second = [await sent(bob, await insert("eight"))];
    second.push(await sent(owner, await update(second[0]!)));
    await block(...second);
    const hashes = [...first, ...second];
    for (const drop of [true, false]) {
      await rollback(2, drop);
      await allPending(hashes);
      await until(
        "the index is rolled back too",
        async () => (await get(`/token/${token}`)).body.pending?.outputRefId === `${hashes.at(-1)}-0`,
      );
      await block(...hashes);
      // one block again, so that two of them are rolled back next
      await block();
      const found = await Promise.all(hashes.map(async (hash) => (await look(hash)).body));
      const [request, update, next, last] = found.map((one) => one.index);
      expect([request < update, request < next, update < last, next < last]).toEqual([true, true, true, true]);
      expect(new Set(found.map((one) => one.block)).size).toBe(1);
    }
    expect((await get(`/token/${token}/facts`)).body).toMatchObject({ seven: "v", eight: "v" });
  });
});
