/** Typed queries and rejections between a client and a server over a real socket. */
import { afterEach, describe, expect, it } from "vitest";
import { ok } from "#src/base/result.ts";
import { decode, encode } from "#src/cardano/cbor.ts";
import { readOutput } from "#src/cardano/output.ts";
import { connectNode, type NodeConnection } from "#src/node/client/connection.ts";
import { answerQuery, type QueryHandlers } from "#src/node/queries/answering.ts";
import { sendEraQuery, sendQuery } from "#src/node/queries/sendQuery.ts";
import { timeOfSlot } from "#src/cardano/eras.ts";
import { systemStart } from "#src/node/queries/history.ts";
import { decodeAnswer } from "#src/node/queries/result.ts";
import { decodeRejection, encodeRejection } from "#src/node/rejections/rejections.ts";
import { serveNode } from "#src/node/server/server.ts";
import { socketPath } from "../../../support/chain/nodeChain.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const ref = { txHash: "ab".repeat(32), index: 7 };
const address = "60" + "0b".repeat(28);
const output = readOutput(decode(encode([Uint8Array.from(address.match(/../g)!, (pair) => parseInt(pair, 16)), 5n])));
const credential = { kind: "key" as const, hash: "0c".repeat(28) };
const start = systemStart(Date.UTC(2026, 10, 21));

const answers: QueryHandlers = {
  era: 6,
  systemStart: () => start,
  height: () => 12,
  point: () => ({ slot: 40, hash: "cd".repeat(32) }),
  eraHistory: () => [{
    start: { time: 0n, slot: 0, epoch: 0 },
    end: undefined,
    terms: { epochLength: 100, slotLength: 1_000, safeZone: undefined, genesisWindow: 36 },
  }],
  epoch: () => 3,
  utxoByInput: ({ inputs }) => inputs.map((ref) => ({ ref, output })),
  delegations: async ({ credentials }) => ({
    pools: [],
    rewards: credentials.map((credential) => ({ credential, lovelace: 9n })),
  }),
  stakeDistribution: () => ({ pools: [], total: 1n }),
  raw: ({ query }) => query,
};

async function connect(versions?: readonly number[]): Promise<NodeConnection> {
  const at = { path: socketPath() };
  const server = await serveNode(at, {
    magic: 2,
    acquire: () =>
      Promise.resolve(
        ok({
          query: (query: Uint8Array, version: number, signal: AbortSignal) =>
            answerQuery(answers, query, version, signal),
        }),
      ),
    submit: () => Promise.resolve(encodeRejection([{ name: "BadInputsUTxO", inputs: [ref] }])),
  });
  if (!server.ok) throw new Error(server.error.message);
  closing.push(() => server.value.close());
  const connection = await connectNode(at, { magic: 2, ...(versions ? { versions } : {}) });
  if (!connection.ok) throw new Error(connection.error.message);
  closing.push(() => connection.value.close());
  return connection.value;
}

async function session(versions?: readonly number[]) {
  const acquired = await (await connect(versions)).acquire("tip");
  if (!acquired.ok) throw new Error(acquired.error.message);
  return acquired.value;
}

describe("ask and answerQuery", () => {
  it("carry values through a socket", async () => {
    const state = await session();
    expect(await sendQuery(state, { kind: "currentEra" })).toEqual(ok(6));
    expect(await sendQuery(state, { kind: "systemStart" })).toEqual(ok(start));
    expect(await sendQuery(state, { kind: "height" })).toEqual(ok(12));
    expect(await sendQuery(state, { kind: "point" })).toEqual(ok({ slot: 40, hash: "cd".repeat(32) }));
    const history = await sendQuery(state, { kind: "eraHistory" });
    expect(history.ok && timeOfSlot(history.value, 40)).toEqual(ok(40_000));
    expect(await sendQuery(state, { kind: "epoch", era: 6 })).toEqual(ok(ok(3)));
    expect(await sendEraQuery(state, { kind: "epoch", era: 6 })).toEqual(ok(3));
    expect(await sendEraQuery(state, { kind: "utxoByInput", era: 6, inputs: [ref] })).toEqual(ok([{ ref, output }]));
    expect(await sendEraQuery(state, { kind: "delegations", era: 6, credentials: [credential] }))
      .toEqual(ok({ pools: [], rewards: [{ credential, lovelace: 9n }] }));
    expect(await sendEraQuery(state, { kind: "raw", era: 6, query: Uint8Array.of(0x81, 0x18, 0x1b) }))
      .toEqual(ok(Uint8Array.of(0x81, 0x18, 0x1b)));
  });

  it("wrap the answer to any query", async () => {
    const query = { kind: "utxoByInput" as const, era: 6, inputs: [ref] };
    const state = await session();
    const bytes = await sendEraQuery(state, { kind: "wrapped", era: 6, query });
    expect(bytes.ok && decodeAnswer(query, bytes.value, state.version)).toEqual([{ ref, output }]);
  });

  it("give an era mismatch as a value", async () => {
    const state = await session();
    expect(await sendQuery(state, { kind: "epoch", era: 5 }))
      .toMatchObject({ ok: true, value: { ok: false, error: { code: "era_mismatch" } } });
    expect(await sendEraQuery(state, { kind: "epoch", era: 5 })).toMatchObject({
      ok: false,
      error: { code: "era_unknown", message: "This is for the era Babbage, and the ledger is in the era Conway." },
    });
    expect(await sendQuery(state, { kind: "epoch", era: 6 })).toEqual(ok(ok(3)));
  });

  it("depend on the negotiated version", async () => {
    const old = await session([16]);
    expect(await sendEraQuery(old, { kind: "stakeDistribution", era: 6 })).toEqual(ok({ pools: [], total: undefined }));
    expect(await sendQuery(old, { kind: "maxMajorVersion", era: 6 })).toMatchObject({
      error: { code: "unsupported_version" },
    });
    expect(await sendEraQuery(await session([23]), { kind: "stakeDistribution", era: 6 })).toEqual(
      ok({ pools: [], total: 1n }),
    );
  });

  it("end the connection at an unsupported query", async () => {
    const state = await session();
    expect(await sendQuery(state, { kind: "accountState", era: 6 })).toMatchObject({
      ok: false,
      error: { code: "connection_lost" },
    });
  });

  it("report an invalid answer as a protocol violation", async () => {
    const carrier = { version: 23, query: () => Promise.resolve(ok(Uint8Array.of(0x82, 0x01, 0x02))) };
    expect(await sendQuery(carrier, { kind: "epoch", era: 6 })).toMatchObject({
      error: { code: "protocol_violation" },
    });
  });
});

describe("a rejection", () => {
  it("is decoded into the ledger's failures", async () => {
    const refused = await (await connect()).submit(Uint8Array.of(0x80));
    if (!refused.ok || refused.value.accepted) throw new Error("accepted");
    expect(decodeRejection(refused.value.reason)).toEqual([{ name: "BadInputsUTxO", inputs: [ref] }]);
  });
});
