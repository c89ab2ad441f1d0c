/** Accounts and DReps as a Blockfrost service reports them. */
import { afterEach, describe, expect, it } from "vitest";
import { concat, fromHex } from "#src/base/bytes.ts";
import { silentLog } from "#src/base/log.ts";
import { toBech32 } from "#src/cardano/bech32.ts";
import { drepOf } from "#src/chain/provider/blockfrost/ledger.ts";
import { type BlockfrostPort, blockfrostPort } from "#src/chain/provider/blockfrost/port.ts";
import { serveBlockfrost, type Served } from "../../../../support/blockfrost/blockfrostServer.ts";
import { MemoryChain, memoryPort } from "../../../../support/chain/memoryChain.ts";
import { until } from "../../../../support/base/until.ts";

const HASH = "1b".repeat(28);

describe("the id of a DRep", () => {
  it.each([
    ["of CIP-129, a key", toBech32("drep", concat(Uint8Array.of(0x22), fromHex(HASH))), { kind: "key", hash: HASH }],
    ["of CIP-129, a script", toBech32("drep", concat(Uint8Array.of(0x23), fromHex(HASH))), {
      kind: "script",
      hash: HASH,
    }],
    ["of CIP-105, a key", toBech32("drep", fromHex(HASH)), { kind: "key", hash: HASH }],
    ["of CIP-105, a key by its hash", toBech32("drep_vkh", fromHex(HASH)), { kind: "key", hash: HASH }],
    ["of CIP-105, a script", toBech32("drep_script", fromHex(HASH)), { kind: "script", hash: HASH }],
    ["for abstaining", "drep_always_abstain", { kind: "abstain" }],
    ["for no confidence", "drep_always_no_confidence", { kind: "no confidence" }],
  ])("is read %s", (_what, text, drep) => expect(drepOf(text)).toEqual(drep));

  it.each([
    "",
    "drep1",
    toBech32("pool", fromHex(HASH)),
    toBech32("drep", concat(Uint8Array.of(0x13), fromHex(HASH))),
    toBech32("drep_script", fromHex(HASH + "00")),
  ])("is undefined for %j", (text) => expect(() => drepOf(text)).toThrow(/invalid DRep id/));
});

describe("an account", () => {
  let served: Served | undefined;
  let port: BlockfrostPort | undefined;
  afterEach(async () => {
    port?.close();
    await served?.close();
  });

  it("is the service's current state, whatever it was before", async () => {
    const chain = new MemoryChain();
    chain.add();
    served = await serveBlockfrost(memoryPort(chain, { random: () => 0.5 }));
    await until("the service", async () => served!.reached(chain.tip.hash));
    port = blockfrostPort({ url: served.url, magic: 42, log: silentLog, firstWaitMs: 1 });
    const credential = { kind: "key", hash: HASH } as const;
    const document = {
      withdrawable_amount: "7",
      pool_id: toBech32("pool", fromHex(HASH)),
      drep_id: "drep_always_abstain",
    };
    const say = (more: object) => {
      served!.fault = (path) =>
        path.includes("/accounts/") ? { body: JSON.stringify({ ...document, ...more }) } : undefined;
    };
    const account = { credential, deposit: undefined };
    const gone = { ...account, registered: false, rewards: 0n, pool: undefined, drep: undefined };
    const here = { ...account, registered: true, rewards: 7n, pool: HASH, drep: { kind: "abstain" } };
    for (
      const [more, expected] of [
        [{ active: true }, here],
        [{ active: false, registered: true }, here],
        [{ active: true, registered: false }, gone],
        [{ active: false }, gone],
      ] as const
    ) {
      say(more);
      expect(await port.accounts([credential])).toMatchObject({ ok: true, value: { value: [expected] } });
    }
    say({ active: true, pool_id: "pool1nonsense" });
    expect(await port.accounts([credential])).toMatchObject({ ok: false, error: { code: "network_unreachable" } });
  });
});
