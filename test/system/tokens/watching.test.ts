/**
 * A transaction watched from the mempool into the ledger, out of it and back; a token's events as a stream. Blocks are
 * made on request.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TokenClient, type TokenEvent } from "#src/client/tokens.ts";
import type { Arbor } from "../../support/service/arbor.ts";
import { startService } from "../../support/service/provider.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { until } from "../../support/base/until.ts";
import { http, User } from "../../support/service/user.ts";

describe("watching", () => {
  let infra: Awaited<ReturnType<typeof sharedInfra>>;
  let arbor: Arbor;
  let client: TokenClient;
  const owner = new User("base");

  const order = async (path: string, body: unknown) => {
    const done = await http(arbor.devnet, "POST", path, body);
    expect(done.status, JSON.stringify(done.body)).toBe(200);
    return done.body;
  };
  const block = (count = 1) => order("/blocks", { count });
  const outside = (hash: string, query = "") => http(arbor.tokens, "GET", `/transaction?txHash=${hash}${query}`);
  const read = async () => {
    const { body } = await http(arbor.devnet, "GET", "/tip");
    await until("all blocks are read", async () => {
      const { indexerStatus } = await client.tokens();
      return indexerStatus.indexerTip === body.slot;
    });
  };
  const sent = async ({ unsignedTransaction }: { readonly unsignedTransaction: string }) =>
    await client.submit(owner.sign(unsignedTransaction));

  beforeAll(async () => {
    infra = await sharedInfra();
    arbor = await startService({ infra, blockMs: 0 });
    client = new TokenClient(arbor.tokens);
    for (let i = 0; i < 2; i++) await order("/faucet", { address: owner.address, lovelace: 500_000_000 });
    await block();
    await read();
  });
  afterAll(async () => {
    await arbor?.end();
    await infra?.stop();
  });

  it("distinguishes the mempool, the depth, and a rollback", async () => {
    const strange = "ab".repeat(32);
    expect(await outside(strange)).toMatchObject({ status: 404, body: { details: { status: "unknown" } } });
    const hash = await sent(await client.boot(owner.address));
    const pending = await outside(hash);
    expect(pending).toMatchObject({
      status: 404,
      body: { code: "transaction_unknown", details: { status: "mempool" } },
    });
    expect(JSON.stringify(pending.body)).toContain("404 Not Found");

    const waiting = client.transaction(hash, { waitMs: 60_000 });
    const deep = client.transaction(hash, { waitMs: 60_000, depth: 2 });
    await block();
    expect(await waiting).toMatchObject({ hash, status: "in_ledger", depth: 0 });
    await block();
    await read();
    // the time may end before it is as deep as requested: the current depth is returned
    expect(await client.transaction(hash, { waitMs: 1, depth: 2 })).toMatchObject({ depth: 1 });
    await block();
    expect(await deep).toMatchObject({ depth: 2 });

    await read();
    const found = await client.transaction(hash);
    await order("/rollback", { blocks: 3, drop: true });
    await until("the rollback is read", async () => (await outside(hash)).status === 404);
    const gone = (await outside(hash)).body.details;
    // the sweep resubmits it, sooner or later
    expect(["rolled_back", "mempool"]).toContain(gone.status);
    expect(gone.rolledBackFrom).toBe(Number(found!.slot));
    await until("it is resubmitted", async () => (await outside(hash)).body.details.status === "mempool");
    await block();
    expect(await client.transaction(hash, { waitMs: 60_000 })).toMatchObject({ status: "in_ledger", depth: 0 });
  });

  it("waits no longer than requested, and refuses an invalid number", async () => {
    const strange = "cd".repeat(32);
    expect(await outside(strange, "&wait=50")).toMatchObject({ status: 404 });
    for (const query of ["&wait=-1", "&wait=60001", "&wait=x", "&depth=-1", "&depth=1.5"]) {
      expect(await outside(strange, query)).toMatchObject({ status: 400, body: { code: "bad_request" } });
    }
    // many wait for one and for different ones, and all are answered
    const hash = await sent(await client.boot(owner.address));
    const all = Array.from(
      { length: 100 },
      (_, i) =>
        i % 2
          ? client.transaction(hash, { waitMs: 60_000 })
          : client.transaction(`${i}`.padStart(64, "0"), { waitMs: 500 }),
    );
    await block();
    const answers = await Promise.all(all);
    expect(answers.map((one) => one?.hash)).toEqual(all.map((_, i) => i % 2 ? hash : undefined));
  });

  it("streams a token's events, also missed ones", async () => {
    const { value: token, ...boot } = await client.boot(owner.address);
    await sent(boot);
    await block();
    await read();
    const received: TokenEvent[] = [];
    const ends = new AbortController();
    const follow = async (after?: string) => {
      for await (const one of client.events(token, { signal: ends.signal, ...(after ? { after } : {}) })) {
        received.push(one);
      }
    };
    const reading = follow();
    const types = () => received.map(({ type }) => type);
    await until("the stream is open", async () => types().includes("opened"));
    await until("the actor knows its token", async () => {
      const { body } = await http(arbor.operator, "GET", `/actors/token/${token}`);
      return body.state === "live";
    });
    const before = received.length;
    const request = await sent(await client.insert(owner.address, token, "k", "v"));
    await block();
    await until("the request is reported", async () => types().slice(before).includes("requested"));
    await read();
    const { mpfRoot, ...update } = await client.apply(owner.address, token, [`${request}-0`]);
    await sent(update);
    await block();
    await until("the update is reported", async () => types().includes("updated"));
    const updated = received.find(({ type }) => type === "updated") as TokenEvent & { token: object };
    expect(updated.token).toMatchObject({ tokenId: token, status: "live", root: mpfRoot, owner: owner.keyHash });
    ends.abort();
    await reading;

    // away during a rollback; a client that returns gets the missed events
    const last = received.at(-1)!.id;
    await order("/rollback", { blocks: 1, drop: false });
    await until("the rollback is read", async () => (await client.token(token)).root !== mpfRoot);
    received.length = 0;
    const again = new AbortController();
    const back = (async () => {
      for await (const one of client.events(token, { signal: again.signal, after: last })) received.push(one);
    })();
    await until("the rollback is reported", async () => types().includes("rolled-back"));
    again.abort();
    await back;

    const events = (path: string, last?: string) =>
      fetch(`${arbor.tokens}${path}`, last === undefined ? {} : { headers: { "last-event-id": last } });
    for (
      const [path, place, status] of [
        [`/token/${token}/events`, "nonsense", 400],
        [`/token/${token}/events`, "9999999999999999:1", 400],
        [`/token/${"0".repeat(64)}/events`, undefined, 404],
      ] as const
    ) {
      const answer = await events(path, place);
      expect([path, answer.status]).toEqual([path, status]);
      await answer.body?.cancel();
    }
  });
});
