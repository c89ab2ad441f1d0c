/**
 * An existing node: `ARBOR_INTEROP_SOCKET` names its socket, `ARBOR_INTEROP_MAGIC` its network. Nothing is changed on
 * it.
 */
import process from "node:process";
import { expect, test } from "vitest";
import { connectNode } from "#src/node/client/connection.ts";
import { silentLog } from "#src/base/log.ts";
import { nodePort } from "#src/chain/provider/node/port.ts";
import { valueOf } from "../support/devnet/devnetWorld.ts";
import { survey } from "./survey.ts";

const path = process.env.ARBOR_INTEROP_SOCKET;
const magic = Number(process.env.ARBOR_INTEROP_MAGIC ?? 42);
if (path === undefined) console.warn("SKIPPED: no ARBOR_INTEROP_SOCKET names the socket of a node to look at.");

test.skipIf(path === undefined)("a node's socket supports what the services need", async () => {
  const seen = await survey(path!, magic);
  console.info(JSON.stringify(seen, undefined, 2));
  expect(seen.blocks).toBeGreaterThan(0);
  expect(seen.refusal.length).toBeGreaterThan(0);
  const needed = [
    "systemStart",
    "eraHistory",
    "genesis",
    "parameters",
    "utxoByAddress",
    "utxoByInput",
    "height",
    "point",
  ];
  expect(needed.filter((kind) => seen.queries[kind] !== "answers")).toEqual([]);
  expect(await connectNode({ path: path! }, { magic: magic + 1 })).toMatchObject({ ok: false });
  const port = nodePort({ address: { path: path! }, magic, log: silentLog });
  try {
    expect(valueOf(await port.tip()).height).toBeGreaterThanOrEqual(0);
    expect(valueOf(await port.inMempool("00".repeat(32)))).toBe(false);
  } finally {
    port.close();
  }
});
