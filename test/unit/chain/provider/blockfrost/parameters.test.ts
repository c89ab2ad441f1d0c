/** Protocol parameters through a Blockfrost service. */
import { afterEach, describe, expect, it } from "vitest";
import { toJson } from "#src/base/json.ts";
import { silentLog } from "#src/base/log.ts";
import { ok } from "#src/base/result.ts";
import type { Parameters, Ratio } from "#src/cardano/parameters.ts";
import { ratioOf } from "#src/chain/provider/blockfrost/documents.ts";
import { type BlockfrostPort, blockfrostPort } from "#src/chain/provider/blockfrost/port.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { serveBlockfrost, type Served } from "../../../../support/blockfrost/blockfrostServer.ts";
import { parametersDocument } from "../../../../support/blockfrost/blockfrostDocuments.ts";
import { MemoryChain, memoryPort } from "../../../../support/chain/memoryChain.ts";
import { until } from "../../../../support/base/until.ts";

let served: Served;
let port: BlockfrostPort;

afterEach(async () => {
  port.close();
  expect(served.problems).toEqual([]);
  await served.close();
});

const chain = new MemoryChain();
chain.add();

async function serve(parameters: Parameters): Promise<void> {
  const memory = memoryPort(chain, { random: () => 0.5 });
  const { slot, hash } = chain.tip;
  const answer = () => Promise.resolve(ok({ point: { slot, hash }, value: parameters }));
  served = await serveBlockfrost({ ...memory, parameters: answer });
  port = blockfrostPort({ url: served.url, magic: 42, log: silentLog, firstWaitMs: 1, attempts: 2 });
  await until("the service", async () => served.reached(chain.tip.hash));
}

const lowest = ({ numerator, denominator }: Ratio) => ratioOf(String(Number(numerator) / Number(denominator)))!;

/** The same parameters, their fractions in lowest terms. */
function inLowestTerms(of: Parameters): Parameters {
  return {
    ...of,
    pledgeInfluence: lowest(of.pledgeInfluence),
    monetaryExpansion: lowest(of.monetaryExpansion),
    treasuryGrowth: lowest(of.treasuryGrowth),
    prices: { memory: lowest(of.prices.memory), steps: lowest(of.prices.steps) },
    refScriptCostPerByte: lowest(of.refScriptCostPerByte),
  };
}

describe("protocol parameters", () => {
  it("are exactly the network's, also beyond the range of a number", async () => {
    const costModels = new Map(mainnetParameters.costModels).set(2, [1n, 9_223_372_036_854_775_807n, -5n]);
    const parameters = { ...mainnetParameters, costModels, govActionDeposit: 2n ** 60n + 1n };
    await serve(parameters);
    const { slot, hash } = chain.tip;
    expect(await port.parameters()).toEqual(ok({ point: { slot, hash }, value: inLowestTerms(parameters) }));
  });

  it("are decoded if amounts are numbers and counts are strings", async () => {
    await serve(mainnetParameters);
    const document = Object.entries(parametersDocument(mainnetParameters)).map(([name, value]) => {
      if (typeof value === "number") return [name, String(value)];
      return [name, typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value];
    });
    const body = toJson(Object.fromEntries(document));
    served.fault = (path) => path.includes("parameters") ? { body } : undefined;
    const answer = await port.parameters();
    expect(answer.ok && answer.value.value).toEqual(inLowestTerms(mainnetParameters));
  });

  it.each([
    ["without raw cost models", { cost_models_raw: null }, /cost_models_raw/],
    ["without the deposit of a DRep", { drep_deposit: null }, /drep_deposit/],
    ["of an era before Conway", { protocol_major_ver: 8 }, /protocol version 8/],
  ])("are not guessed: a response %s is refused", async (_what, change, message) => {
    await serve(mainnetParameters);
    const body = toJson({ ...parametersDocument(mainnetParameters), ...change });
    served.fault = (path) => path.includes("parameters") ? { body } : undefined;
    const answer = await port.parameters();
    expect(answer).toMatchObject({ ok: false, error: { message: expect.stringMatching(message) } });
  });

  it("have exact decimal fractions", async () => {
    await serve(mainnetParameters);
    expect(ratioOf("0.0577")).toEqual({ numerator: 577n, denominator: 10_000n });
    expect(ratioOf("7.21e-5")).toEqual({ numerator: 721n, denominator: 10_000_000n });
    expect(ratioOf(String(0.0000001))).toEqual({ numerator: 1n, denominator: 10_000_000n });
    expect(ratioOf("15")).toEqual({ numerator: 15n, denominator: 1n });
    expect(ratioOf("1.5e3")).toEqual({ numerator: 1_500n, denominator: 1n });
    expect(ratioOf("0")).toEqual({ numerator: 0n, denominator: 1n });
    for (const none of ["", ".", "1/2", "-1", "NaN", "1e999", "0x10"]) expect(ratioOf(none)).toBeUndefined();
  });
});
