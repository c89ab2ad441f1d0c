/** `/config` of the token service: the contract of its network. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { fail, ok } from "#src/base/result.ts";
import { cageScripts } from "#src/contract/script.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import { healthRoutes } from "#src/http/health.ts";
import { tokenApp } from "#src/tokens/http/app.ts";
import type { TokenEdgeOptions } from "#src/tokens/http/options.ts";
import { mainnetParametersAt } from "#src/ledger/parameters.ts";

/** The answer on a network with these parameters. */
async function configOn(parameters: ChainPort["parameters"]) {
  const health = healthRoutes({ health: { name: "one", roles: [], since: 0, checks: new Map() } });
  // all that the answer depends on
  const network = () => Promise.resolve({ slots: { zeroSlot: 0, zeroTime: 1_700_000_000_000, slotLength: 1_000 } });
  const port = { parameters, network };
  const options = { networkId: 0, networkMagic: 42, log: silentLog, store: {}, port, health };
  return await tokenApp(options as unknown as TokenEdgeOptions).request("/config");
}

const parametersAt = (major: 10 | 11) =>
  Promise.resolve(ok({ point: { slot: 1, hash: "00" }, value: mainnetParametersAt(major) }));

test.each([[10, "2.0.0"], [11, "3.0.0"]] as const)(
  "at protocol version %i the contract is that of new tokens there, %s",
  async (major, version) => {
    const answer = await configOn(() => parametersAt(major));
    const { address, policyId, plutus, versions } = await answer.json();
    const { hash } = cageScripts.find((one) => one.version === version)!;
    expect([answer.status, policyId, plutus.preamble.version]).toEqual([200, hash, version]);
    for (const validator of plutus.validators) expect(validator.hash).toBe(hash);
    expect(versions.find((one: { address: string }) => one.address === address)).toMatchObject({ version });
    expect(versions.map((one: { version: string }) => one.version)).toEqual(cageScripts.map((one) => one.version));
  },
);

/** Characters of the code in the example: all of it would be most of the document. */
const CODE_SHOWN = 200;

test("the example in the document is the answer of a devnet; `vitest -u` writes it", async () => {
  const file = fileURLToPath(new URL("../../../../src/tokens/http/examples.json", import.meta.url));
  const answer = await (await configOn(() => parametersAt(11))).json();
  for (const validator of answer.plutus.validators) {
    validator.compiledCode = validator.compiledCode.slice(0, CODE_SHOWN);
  }
  const examples = { ...JSON.parse(readFileSync(file, "utf8")), "GET /config": { answer } };
  await expect(JSON.stringify(examples, null, 2) + "\n").toMatchFileSnapshot(file);
});

test("it is unavailable for a moment while the network is away", async () => {
  const answer = await configOn(() => Promise.resolve(fail("network_unreachable", "It is away.")));
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, expect.stringMatching(/^\d+$/)]);
  expect(await answer.json()).toMatchObject({ code: "network_unreachable" });
});
