/** The crate ogmios-client (Rust) on the devnet's Ogmios API: its own types read every answer. */
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import { addressText, readAddressHex } from "#src/cardano/address.ts";
import { spend } from "../support/devnet/devnet.ts";
import { valueOf } from "../support/devnet/devnetWorld.ts";
import { http } from "../support/service/user.ts";
import { person } from "../support/wallets/person.ts";
import type {} from "./build.ts";
import { type LibraryWorld, type Peer, REDEEMER, startPeer, startWorld, validator } from "./library.ts";
import { unlocking } from "./unlocking.ts";

const program = inject("rustClients");
const alice = person("alice");
const address = addressText(valueOf(readAddressHex(alice.enterprise)));
const script = validator(3);

describe.skipIf(program === "")("the crate ogmios-client", () => {
  let world: LibraryWorld;
  let peer: Peer;
  const call = <T>(name: string, args: object = {}) => peer.call<T>(`ogmios.${name}`, args);

  beforeAll(async () => {
    world = await startWorld();
    const settings = { utxorpc: world.utxorpc, ogmiosPort: Number(new URL(world.ogmios).port) };
    peer = startPeer({ program, args: [], cwd: "." }, settings);
    await world.fund(address, 100);
  });
  afterAll(async () => {
    await peer?.stop();
    await world?.stop();
  });

  test("reads health and the network", async () => {
    expect(await call("health")).toMatchObject({ synchronization: 1, version: expect.stringMatching(/^v?6\.14/) });
    const { body } = await http(world.devnet, "GET", "/tip");
    expect(new Date(await call<string>("startTime")).getTime()).toBe(body.genesisTime);
    expect(await call("epoch")).toBeGreaterThanOrEqual(0);
    expect(await call("height")).toBeGreaterThanOrEqual(body.height);
  });

  test("submits a payment and evaluates a script", async () => {
    const inputs = await world.outputs(address);
    const made = spend({ from: alice, inputs, outputs: [[alice.enterprise, 98_000_000n]] });
    expect(await call("submit", { cbor: toHex(made.cbor) })).toBe(made.hash);
    await world.landed(made.hash);
    await expect(call("submit", { cbor: toHex(made.cbor) })).rejects.toThrow(/3117|3997|unknown|already/i);
    await world.fund(script.address, 10);
    const [locked] = await world.outputs(script.address);
    const coins = await world.outputs(address);
    const evaluate = (redeemer: number) => {
      const { hex } = unlocking({ by: alice, script, locked: locked!, coins, redeemer: BigInt(redeemer) });
      return call("evaluate", { cbor: hex });
    };
    expect(await evaluate(REDEEMER)).toMatchObject([{ validator: { purpose: "spend" } }]);
    await expect(evaluate(REDEEMER + 1)).rejects.toThrow(/3010|script/i);
  });

  test("follows the chain from the origin, and reads the mempool", async () => {
    const blocks = await call<{ hash: string; height: number }[]>("chain", { count: 20 });
    expect(blocks.map(({ height }) => height)).toEqual([...Array(20).keys()]);
    expect(await call("mempool")).toEqual([]);
  });

  test("has other types than Ogmios' schema for ada, outputs, eras, the tip and hasTransaction", async () => {
    await expect(call("parameters")).rejects.toThrow(/missing field `lovelace`/);
    await expect(call("eras")).rejects.toThrow(/invalid type: map, expected f64/);
    await expect(call("tip")).rejects.toThrow(/untagged enum Tip/);
    await expect(call("utxos", { address })).rejects.toThrow(/missing field `index`/);
    await expect(call("hasTransaction", { hash: "00".repeat(32) })).rejects.toThrow(/expected struct Response/);
  });
});
