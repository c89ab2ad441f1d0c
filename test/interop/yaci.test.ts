/**
 * yaci-cli (Java) as a client of the devnet's socket: it reads the ledger's state, builds a transaction from it, and
 * submits it.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { addressText, parseAddress, readAddressHex } from "#src/cardano/address.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import type { Parameters, Ratio } from "#src/cardano/parameters.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { devnetWorld, give, makeBlock, valueOf } from "../support/devnet/devnetWorld.ts";
import { until } from "../support/base/until.ts";
import { person } from "../support/wallets/person.ts";
import { chainOf, following } from "./following.ts";
import { hasYaci, startYaci, type Yaci } from "./yaci.ts";

const ada = 1_000_000n;
const bob = person("bob");
const text = (hex: string) => addressText(valueOf(readAddressHex(hex)));

const world = devnetWorld();
let devnet: Devnet;
let yaci: Yaci;

interface YaciResult {
  readonly tx_hash: string;
  readonly output_index: number;
  readonly amount: readonly { readonly unit: string; readonly quantity: number }[];
}

const share = ({ numerator, denominator }: Ratio) => Number(numerator) / Number(denominator);

/** Parameters with yaci-cli's names and units. */
function asTold(of: Parameters) {
  const models = [...of.costModels].map(([language, costs]) => {
    const digits = (index: number) => String(index).padStart(3, "0");
    return [`PlutusV${language + 1}`, Object.fromEntries(costs.map((cost, i) => [digits(i), Number(cost)]))] as const;
  });
  return {
    min_fee_a: Number(of.feePerByte),
    min_fee_b: Number(of.feeFixed),
    max_block_size: of.maxBlockBodySize,
    max_tx_size: of.maxTxSize,
    max_block_header_size: of.maxBlockHeaderSize,
    key_deposit: String(of.keyDeposit),
    pool_deposit: String(of.poolDeposit),
    e_max: of.poolRetirementBound,
    n_opt: of.desiredPools,
    a0: share(of.pledgeInfluence),
    rho: share(of.monetaryExpansion),
    tau: share(of.treasuryGrowth),
    protocol_major_ver: of.protocolVersion.major,
    protocol_minor_ver: of.protocolVersion.minor,
    min_pool_cost: String(of.minPoolCost),
    coins_per_utxo_size: String(of.utxoCostPerByte),
    cost_models: Object.fromEntries(models),
    price_mem: share(of.prices.memory),
    price_step: share(of.prices.steps),
    max_tx_ex_mem: String(of.maxTxUnits.memory),
    max_tx_ex_steps: String(of.maxTxUnits.steps),
    max_block_ex_mem: String(of.maxBlockUnits.memory),
    max_block_ex_steps: String(of.maxBlockUnits.steps),
    max_val_size: String(of.maxValueSize),
    collateral_percent: of.collateralPercentage,
    max_collateral_inputs: of.maxCollateralInputs,
  };
}

/** The answer of its service. Occasionally it loses its position in the protocol, so that the request is repeated. */
async function readYaci(at: string): Promise<unknown> {
  let answer = await yaci.http("GET", at);
  await until(`yaci-cli's answer to ${at}`, async () => {
    if (answer.status !== 200) answer = await yaci.http("GET", at);
    return answer.status === 200;
  }, 20_000);
  return answer.body;
}

/** The outputs that it finds at an address: reference and lovelace of each. */
async function found(address: string): Promise<Record<string, number>> {
  const outputs = (await readYaci(`/addresses/${address}/utxos`) as readonly YaciResult[]).map((one) => {
    const { quantity } = one.amount.find(({ unit }) => unit === "lovelace")!;
    return [`${one.tx_hash}#${one.output_index}`, quantity] as const;
  });
  return Object.fromEntries(outputs);
}

describe.skipIf(!hasYaci)("yaci-cli on the devnet's socket", () => {
  beforeEach(async () => {
    devnet = await world.start({ epochLength: 40 });
    const { path } = await world.serve(devnet);
    for (let i = 0; i < 50; i++) await makeBlock(devnet);
    let starting = true;
    const blocks = (async () => {
      for (; starting; await new Promise((resolve) => setTimeout(resolve, 500))) await makeBlock(devnet);
    })();
    yaci = await startYaci(path).finally(() => starting = false);
    await blocks;
  });
  afterEach(() => yaci?.stop());

  test("reads tip, epoch and parameters, finds outputs, submits a payment, detects a rollback", async () => {
    expect(new Set(yaci.versions)).toEqual(new Set([17]));
    const tip = devnet.tip();
    let said = "";
    await until("the tip", async () => /Hash/.test(said = await yaci.command("tip", /devnet:default>/)), 20_000, 500);
    expect(said).toMatch(new RegExp(`Block#\\] ${tip.height}\\s[^]*Slot#\\] ${tip.slot}\\s[^]*${tip.hash}`));
    expect(await readYaci("/epochs/latest")).toMatchObject({ epoch: Math.floor(tip.slot / 40) });
    expect(await readYaci("/epochs/parameters")).toMatchObject(asTold(devnet.genesis.parameters));

    const faucets = await yaci.command("show-faucet-addresses", /(addr_test1v\w+[^]*){3}devnet:default>/);
    const faucet = /addr_test1v\w+/.exec(faucets)![0];
    const coin = await give(devnet, valueOf(parseAddress(faucet)).hex, 1_000n * ada);
    await makeBlock(devnet);
    expect(await found(faucet)).toEqual({ [`${coin.ref.txHash}#${coin.ref.index}`]: 1_000_000_000 });

    const paying = yaci.http("POST", "/addresses/topup", { address: text(bob.enterprise), adaAmount: 5 });
    await until("the payment in the mempool", async () => devnet.mempool().length === 1, 20_000);
    const { hash } = devnet.mempool()[0]!.transaction;
    expect(await found(text(bob.enterprise))).toEqual({});
    const block = await makeBlock(devnet);
    // its own answer does not matter: it may have lost its position while it waited for the block
    await paying;
    const paid = async () => (await found(text(bob.enterprise)))[`${hash}#0`] === 5_000_000;
    await until("the payment at its address", paid, 20_000);
    const follow = following(world.rows, [tip]);
    await until("the block", async () => chainOf(follow.steps).at(-1) === block.hash, 10_000);
    await follow.stop();
    const last = follow.steps.at(-1)!;
    expect(last.type === "forward" && scanBlock(last.block).transactions.map(({ hash }) => hash)).toEqual([hash]);

    valueOf(await devnet.rollback({ blocks: 1 }));
    await until("the address to be empty", async () => !await paid(), 20_000);
    await makeBlock(devnet);
    await until("the payment at its address again", paid, 20_000);
  });
});
