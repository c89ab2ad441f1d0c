/** Submission, mempool and ledger states between a client and a server over a real socket. */
import { afterEach, describe, expect, it } from "vitest";
import { origin } from "#src/cardano/block.ts";
import { fail, ok } from "#src/base/result.ts";
import { encode } from "#src/cardano/cbor.ts";
import { connectNode, type NodeConnection } from "#src/node/client/connection.ts";
import type { NodeError } from "#src/node/errors.ts";
import { type NodeServer, serveNode } from "#src/node/server/server.ts";
import type { NodeHandlers, ServedMempool, ServedState, ServedTransaction } from "#src/node/server/handlers.ts";
import type { StateTarget } from "#src/node/protocols/stateQuery.ts";
import { socketPath } from "../../support/chain/nodeChain.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const ended: NodeError[] = [];

async function serve(handlers: Omit<NodeHandlers, "magic">): Promise<{ path: string; server: NodeServer }> {
  const at = { path: socketPath() };
  const server = await serveNode(at, { magic: 2, ...handlers }, { onEnd: (reason) => ended.push(reason) });
  if (!server.ok) throw new Error(server.error.message);
  closing.push(() => server.value.close());
  return { ...at, server: server.value };
}

async function connect(path: string, versions?: readonly number[]): Promise<NodeConnection> {
  const connection = await connectNode({ path }, { magic: 2, ...(versions ? { versions } : {}) });
  if (!connection.ok) throw new Error(connection.error.message);
  closing.push(() => connection.value.close());
  return connection.value;
}

/** The value of a good result. */
function value<T>(result: { ok: true; value: T } | { ok: false; error: { message: string } }): T {
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

/** A promise that is resolved from outside. */
function gate(): { readonly passed: Promise<void>; open: () => void } {
  let open!: () => void;
  return { passed: new Promise((resolve) => open = resolve), open };
}

describe("submission", () => {
  it("sends the transaction's own bytes and its era, and gives the verdict", async () => {
    const seen: unknown[] = [];
    const reason = encode([[6, [[7, "no"]]]]);
    const { path } = await serve({
      submit: ({ era, bytes }) => {
        seen.push([era, bytes]);
        return Promise.resolve(bytes[0] === 1 ? undefined : reason);
      },
    });
    const connection = await connect(path);
    expect(await connection.submit(Uint8Array.of(1, 2))).toEqual(ok({ accepted: true }));
    expect(await connection.submit(Uint8Array.of(2), { era: 5 })).toEqual(ok({ accepted: false, reason }));
    expect(seen).toEqual([[6, Uint8Array.of(1, 2)], [5, Uint8Array.of(2)]]);
    const large = new Uint8Array(200_000).fill(1);
    expect(await connection.submit(large)).toEqual(ok({ accepted: true }));
    expect(Buffer.compare((seen[2] as [number, Uint8Array])[1], large)).toBe(0);
  });

  it("answers many concurrent submissions in order", async () => {
    let open = 0;
    const { path } = await serve({
      submit: async ({ bytes }) => {
        if (open++ > 0) throw new Error("two at once");
        await new Promise((resolve) => setTimeout(resolve, 1));
        open--;
        return bytes[0]! % 2 ? undefined : encode(bytes[0]!);
      },
    });
    const connection = await connect(path);
    const answers = await Promise.all([...Array(20).keys()].map((i) => connection.submit(Uint8Array.of(i))));
    expect(answers).toEqual(
      [...Array(20).keys()].map((i) => ok(i % 2 ? { accepted: true } : { accepted: false, reason: encode(i) })),
    );
  });

  it("ends when the caller aborts; the next one waits for that answer and gets its own", async () => {
    const { passed, open } = gate();
    const { path } = await serve({
      submit: async ({ bytes }) => {
        if (bytes[0] === 1) await passed;
        return bytes[0] === 1 ? encode("first") : undefined;
      },
    });
    const connection = await connect(path);
    const stop = new AbortController();
    const first = connection.submit(Uint8Array.of(1), { signal: stop.signal });
    const second = connection.submit(Uint8Array.of(2));
    const third = connection.submit(Uint8Array.of(3), { signal: stop.signal });
    setTimeout(() => stop.abort(), 10);
    expect(await first).toMatchObject({ ok: false, error: { code: "aborted" } });
    expect(await third).toMatchObject({ ok: false, error: { code: "aborted" } });
    open();
    expect(await second).toEqual(ok({ accepted: true }));
    expect(await connection.submit(Uint8Array.of(4), { signal: AbortSignal.abort() })).toMatchObject({
      error: { code: "aborted" },
    });
    expect(await connection.submit(Uint8Array.of(5))).toEqual(ok({ accepted: true }));
  });

  it("ends only its own connection when a handler throws", async () => {
    const { path } = await serve({
      submit: ({ bytes }) => bytes[0] === 1 ? Promise.reject(new Error("broken")) : Promise.resolve(undefined),
    });
    const [one, other] = [await connect(path), await connect(path)];
    ended.length = 0;
    const all = await Promise.all([
      one.submit(Uint8Array.of(1)),
      one.submit(Uint8Array.of(0)),
    ]);
    for (const answer of all) expect(answer).toMatchObject({ ok: false, error: { code: "connection_lost" } });
    expect(ended.map(({ message }) => message)).toContain("A handler failed: broken.");
    expect(await other.submit(Uint8Array.of(0))).toEqual(ok({ accepted: true }));
  });

  it("ends the connection of a client that uses a protocol which is not served", async () => {
    const { path } = await serve({ submit: () => Promise.resolve(undefined) });
    const connection = await connect(path);
    expect(await connection.mempool()).toMatchObject({ error: { code: "connection_lost" } });
  });
});

describe("ledger states", () => {
  const point = { slot: 5, hash: "aa".repeat(32) };
  const old = { slot: 1, hash: "bb".repeat(32) };

  function states() {
    const log: unknown[] = [];
    const { passed, open } = gate();
    const acquire = (target: StateTarget) => {
      log.push(target);
      if (target === old) return Promise.resolve(fail("point_too_old", ""));
      if (typeof target === "object" && target.slot === old.slot) return Promise.resolve(fail("point_too_old", ""));
      if (typeof target === "object" && target.slot !== 5) return Promise.resolve(fail("point_not_on_chain", ""));
      const state: ServedState = {
        query: async (query, version) => {
          if (query[0] === 9) await passed;
          if (query[0] === 8) throw new Error("unknown query");
          return encode([version, query]);
        },
        release: () => void log.push("released"),
      };
      return Promise.resolve(ok(state));
    };
    return { log, open, acquire };
  }

  it("are acquired at a point, at the tip and at the immutable tip, queried, reacquired and released", async () => {
    const { log, acquire } = states();
    const { path } = await serve({ acquire });
    const connection = await connect(path, [16, 19]);
    const session = value(await connection.acquire(point));
    expect(session.version).toBe(19);
    expect(await session.query(encode(1))).toEqual(ok(encode([19, encode(1)])));
    expect(await session.reacquire("tip")).toEqual(ok(undefined));
    expect(await session.reacquire("immutable")).toEqual(ok(undefined));
    const waiting = connection.acquire("immutable");
    session.release();
    session.release();
    const next = value(await waiting);
    expect(await session.query(encode(1))).toMatchObject({ error: { code: "session_ended" } });
    next.release();
    expect(log).toEqual([point, "released", "tip", "released", "immutable", "released", "immutable"]);
  });

  it("are refused if too old or not on the chain, first or while acquired; the next caller may try", async () => {
    const { path } = await serve({ acquire: states().acquire });
    const connection = await connect(path);
    expect(await connection.acquire(old)).toMatchObject({ ok: false, error: { code: "point_too_old" } });
    expect(await connection.acquire(origin)).toMatchObject({
      error: { message: "The node's chain does not have the origin." },
    });
    const elsewhere = { slot: 7, hash: "cc".repeat(32) };
    expect(await connection.acquire(elsewhere)).toMatchObject({ ok: false, error: { code: "point_not_on_chain" } });
    const session = value(await connection.acquire("tip"));
    expect(await session.reacquire(elsewhere)).toMatchObject({ error: { code: "point_not_on_chain" } });
    expect(await session.query(encode(1))).toMatchObject({ error: { code: "session_ended" } });
    value(await connection.acquire(point)).release();
  });

  it("end for a caller that aborts during a query, and are free once it is answered", async () => {
    const { open, acquire, log } = states();
    const { path } = await serve({ acquire });
    const connection = await connect(path);
    const session = value(await connection.acquire("tip"));
    const stop = new AbortController();
    const query = session.query(encode(9), stop.signal);
    const queued = session.query(encode(1));
    setTimeout(() => stop.abort(), 10);
    expect(await query).toMatchObject({ error: { code: "aborted" } });
    expect(await queued).toMatchObject({ error: { code: "session_ended" } });
    const next = connection.acquire("tip");
    open();
    expect(value(await value(await next).query(encode(2)))).toEqual(encode([23, encode(2)]));
    expect(log).toEqual(["tip", "released", "tip"]);
  });

  it("end the connection at an unknown query, as a node does", async () => {
    const { path } = await serve({ acquire: states().acquire });
    const connection = await connect(path);
    const session = value(await connection.acquire("tip"));
    expect(await session.query(encode(8))).toMatchObject({ error: { code: "connection_lost" } });
    expect(connection.ended.aborted).toBe(true);
    expect(await connection.acquire("tip")).toMatchObject({ error: { code: "connection_lost" } });
  });

  it("carry answers of several megabytes, while other protocols continue", async () => {
    const large = encode(new Uint8Array(5_000_000).map((_, i) => i));
    const { path } = await serve({
      acquire: () => Promise.resolve(ok({ query: () => Promise.resolve(large) })),
      submit: () => Promise.resolve(undefined),
    });
    const connection = await connect(path);
    const session = value(await connection.acquire("tip"));
    let done = false;
    const answer = session.query(encode(0)).then((result) => {
      done = true;
      return value(result);
    });
    expect(await connection.submit(Uint8Array.of(1))).toEqual(ok({ accepted: true }));
    expect(done).toBe(false);
    expect(Buffer.compare(await answer, large)).toBe(0);
  });
});

describe("the mempool", () => {
  const tx = (n: number): ServedTransaction => ({
    era: 6,
    hash: `${n}`.repeat(64),
    bytes: new Uint8Array(10).fill(n),
  });

  async function pool(versions?: readonly number[]) {
    let now: ServedMempool = { slot: 7, capacity: 178_176, transactions: [tx(1), tx(2)] };
    let change = gate();
    const { path } = await serve({
      mempool: async (snapshot) => {
        if (snapshot === now) await change.passed;
        return now;
      },
    });
    const set = (slot: number, ...transactions: ServedTransaction[]) => {
      now = { ...now, slot, transactions };
      change.open();
      change = gate();
    };
    return { connection: await connect(path, versions), set };
  }

  it("is read as a snapshot", async () => {
    const { connection, set } = await pool();
    const snapshot = value(await connection.mempool());
    expect(snapshot.slot).toBe(7);
    set(8, tx(3));
    expect(value(await snapshot.next())).toEqual({ era: 6, bytes: tx(1).bytes });
    expect(value(await snapshot.next())).toEqual({ era: 6, bytes: tx(2).bytes });
    expect(value(await snapshot.next())).toBeUndefined();
    expect(value(await snapshot.has({ era: 6, hash: tx(2).hash }))).toBe(true);
    expect(value(await snapshot.has({ era: 6, hash: tx(3).hash }))).toBe(false);
    expect(value(await snapshot.sizes())).toEqual({ capacity: 178_176, size: 20, transactions: 2 });
    expect(value(await snapshot.measures())).toEqual({
      transactions: 2,
      measures: new Map([["transaction_bytes", { size: 20n, capacity: 178_176n }]]),
    });
    expect(await snapshot.change()).toEqual(ok(undefined));
    expect(snapshot.slot).toBe(8);
    expect(value(await snapshot.next())).toEqual({ era: 6, bytes: tx(3).bytes });
    const waiting = snapshot.change();
    setTimeout(() => set(9), 10);
    expect(await waiting).toEqual(ok(undefined));
    expect(value(await snapshot.next())).toBeUndefined();
    snapshot.release();
    expect(value(await connection.mempool()).slot).toBe(9);
  });

  it("has no measures before version 20, and no wait after an abort", async () => {
    const { connection, set } = await pool([19]);
    const snapshot = value(await connection.mempool());
    expect(await snapshot.measures()).toMatchObject({ error: { code: "unsupported_version" } });
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 10);
    expect(await snapshot.change(stop.signal)).toMatchObject({ error: { code: "aborted" } });
    const next = connection.mempool();
    set(11);
    expect(value(await next).slot).toBe(11);
  });
});
