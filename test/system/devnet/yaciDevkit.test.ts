/** A devnet whose genesis is like that of Yaci DevKit: its pool makes the blocks and earns for those who delegate. */
import { expect, test } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { devkitGenesis, devkitParametersAt } from "#src/devnet/genesis/yaciDevkit.ts";
import { blockfrostApp } from "#src/devnet/serve/blockfrost/app.ts";
import { measureRedeemers } from "#src/plutus/measurement.ts";
import { BlockfrostApi } from "../../support/blockfrost/blockfrostApi.ts";
import { indexRows, rebuiltRows } from "../../support/devnet/devnetIndex.ts";
import { devnetWorld, makeBlock, valueOf } from "../../support/devnet/devnetWorld.ts";

const POOL = "pool1wvqhvyrgwch4jq9aa84hc8q4kzvyq2z3xr6mpafkqmx9wce39zy";
const world = devnetWorld();
const like = { like: "yaci-devkit", ...devkitGenesis, parameters: devkitParametersAt(11) } as const;

test("its only pool makes the blocks, earns, and is in an index that is built again", async () => {
  const devnet = await world.start({ ...like, epochLength: 20, securityParameter: 200 });
  await makeBlock(devnet);
  const api = new BlockfrostApi(blockfrostApp({
    devnet,
    store: world.store,
    measure: async (input) => measureRedeemers(input),
    log: silentLog,
  }));
  expect(await api.get("/blocks/latest")).toMatchObject({ slot_leader: POOL });
  expect(await api.get("/pools")).toEqual([POOL]);
  expect(await api.get(`/pools/${POOL}`)).toMatchObject({
    live_stake: "300000000000",
    declared_pledge: "0",
    fixed_cost: "340000000",
    margin_cost: 0,
    owners: [],
    live_delegators: 1,
  });
  const [delegator] = await api.get(`/pools/${POOL}/delegators`) as { address: string; live_stake: string }[];
  for (let epoch = 0; epoch < 4; epoch++) valueOf(await devnet.enterNextEpoch(5));
  expect(await api.get(`/accounts/${delegator!.address}`)).toMatchObject({ pool_id: POOL });
  expect(await api.get(`/pools/${POOL}/history`)).toEqual(
    expect.arrayContaining([expect.objectContaining({ epoch: 1, delegators_count: 1 })]),
  );
  const { rewards_sum } = await api.get(`/accounts/${delegator!.address}`) as { rewards_sum: string };
  expect(BigInt(rewards_sum)).toBeGreaterThan(0n);
  const rows = await indexRows(world.store);
  await devnet.stop();
  expect(rows).toEqual(await rebuiltRows(world.store));
});

test("a start again needs no option", async () => {
  const devnet = await world.start({ ...like });
  await makeBlock(devnet);
  await devnet.stop();
  const again = await world.start();
  expect(again.genesis.like).toBe("yaci-devkit");
  expect(again.genesis.pools.map(({ registered }) => registered.terms.pledge)).toEqual([0n]);
  expect(again.ignoredOptions).toBeUndefined();
});
