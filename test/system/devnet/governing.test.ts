/** Governance of a devnet by its own keys, from the command line: representatives, committee and pools of the genesis. */
import { expect, test } from "vitest";
import { PAGES } from "#src/app/pages.ts";
import { silentLog } from "#src/base/log.ts";
import { parseJson } from "#src/base/json.ts";
import { addressText, rewardAddress } from "#src/cardano/address.ts";
import { committeeText } from "#src/cardano/governanceId.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { devnetAccounts, governanceKeys } from "#src/devnet/genesis/accounts.ts";
import { devkitParametersAt } from "#src/devnet/genesis/yaciDevkit.ts";
import { devnetApp } from "#src/devnet/serve/admin/app.ts";
import type { DevnetOptions } from "#src/devnet/options.ts";
import { serve } from "#src/http/serve.ts";
import { governanceOf } from "#src/ledger/governance/actions.ts";
import { mainnetParametersAt } from "#src/ledger/parameters.ts";
import { evaluateScripts } from "#src/plutus/evaluate.ts";
import { runCli } from "../../support/cli/arborCli.ts";
import { allLovelace, ledgerInRows, ledgerOf } from "../../support/devnet/devnet.ts";
import { indexRows, rebuiltRows } from "../../support/devnet/devnetIndex.ts";
import { devnetWorld, makeBlock, valueOf } from "../../support/devnet/devnetWorld.ts";

const ada = 1_000_000n;
const world = devnetWorld();
const start = (options: DevnetOptions = {}) =>
  world.start(
    {
      epochLength: 100,
      pools: 2,
      parameters: mainnetParametersAt(10),
      treasury: 1_000_000n * ada,
      dreps: 2,
      committee: 3,
      ...options,
    },
    async (input) => evaluateScripts(input),
  );

/** Runs `arbor gov` against a devnet; what it prints as JSON. */
async function withCli(devnet: Devnet, work: (gov: Gov) => Promise<void>): Promise<void> {
  const { store, rows: port } = world;
  const run = () => Promise.reject(new Error("no script runs"));
  const explorer = { builders: { run }, pages: PAGES, index: true, wallet: false };
  const app = devnetApp({ devnet, store, port, files: [], health: () => {}, log: silentLog, explorer });
  const listener = await serve(app, { host: "127.0.0.1", port: 0 });
  try {
    await work(async (...args) => {
      const url = `http://127.0.0.1:${listener.port}`;
      const { stdout, stderr, code } = await runCli(["--json", "--devnet", url, "gov", ...args]);
      if (code !== 0) return { refused: stderr };
      return parseJson(stdout) as GovOutput;
    });
  } finally {
    await listener.stop();
  }
}

interface GovOutput {
  readonly id?: string;
  readonly voters?: readonly { readonly role: string }[];
  readonly refused?: string;
}
type Gov = (...args: string[]) => Promise<GovOutput>;

/** Proposes, votes yes with everyone who has a say, and enters two epochs. */
async function carryOut(devnet: Devnet, gov: Gov, ...args: string[]): Promise<string> {
  const { id, refused } = await gov("propose", ...args);
  expect(refused).toBeUndefined();
  await makeBlock(devnet);
  expect(await gov("vote", id!, "yes")).toMatchObject({ voters: expect.anything() });
  await makeBlock(devnet);
  for (let epoch = 0; epoch < 2; epoch++) valueOf(await devnet.enterNextEpoch(0));
  return id!;
}

test("a parameter, the committee, the treasury and the protocol version change by commands", async () => {
  const devnet = await start();
  const supply = await devnet.query(allLovelace);
  expect(supply).toBe(devnet.genesis.terms.maxSupply);
  await withCli(devnet, async (gov) => {
    const { voters } = await gov("voters");
    expect(voters?.map(({ role }) => role)).toEqual([
      ...["drep", "drep"],
      ...["committee", "committee", "committee"],
      ...["pool", "pool"],
    ]);

    await carryOut(devnet, gov, "parameters", '{"desiredPools":77,"govActionLifetime":2}');
    expect(await devnet.query(({ parameters }) => parameters)).toMatchObject({
      desiredPools: 77,
      govActionLifetime: 2,
    });

    const [account] = devnetAccounts(1);
    const stake = addressText(rewardAddress(0, { kind: "key", hash: account!.stake }));
    const balance = () => devnet.query(({ accounts }) => accounts.get(`k${account!.stake}`)!.balance);
    const before = (await balance())!;
    const treasury = ["treasury", stake, "5000", "--account", stake];
    await carryOut(devnet, gov, ...treasury);
    // the deposit returns to the same account
    expect(await balance()).toBe(before + 5_000n * ada + 100_000n * ada);

    const cold = (index: number) => committeeText("cold", { kind: "key", hash: governanceKeys(index).cold.hash });
    const election = ["--add", `${cold(9)}:90`, "--remove", cold(2), "--quorum", "1/2"];
    const elected = await carryOut(devnet, gov, "committee", ...election);
    const { enacted, quorum } = (await devnet.query(governanceOf))!;
    expect(quorum).toEqual({ numerator: 1n, denominator: 2n });
    expect(enacted.committee).toBeDefined();
    expect(await devnet.query(({ committee }) => committee.get(`k${governanceKeys(9).cold.hash}`))).toEqual({
      elected: true,
      until: 90,
    });
    expect(await gov("show", elected)).toMatchObject({ kind: "committee", enacted: 6 });

    await carryOut(devnet, gov, "hard-fork", "11");
    expect(await devnet.query(({ parameters }) => parameters.protocolVersion)).toEqual({ major: 11, minor: 0 });
    await carryOut(devnet, gov, "constitution", "https://example.com/constitution", "ab".repeat(32));
    expect((await devnet.query(governanceOf))!.constitution.anchor.url).toBe("https://example.com/constitution");
    await carryOut(devnet, gov, "no-confidence");
    expect((await devnet.query(governanceOf))!.quorum).toBeUndefined();
  });
  expect(await devnet.query(allLovelace)).toBe(supply);
  expect(await ledgerInRows(world.store)).toEqual(await devnet.query(ledgerOf));
  expect(await indexRows(world.store)).toEqual(await rebuiltRows(world.store));
});

test("who governs is kept by a restart, and what cannot be done is refused", async () => {
  await start();
  await world.running.splice(0)[0]!.stop();
  const devnet = await start();
  expect(devnet.ignoredOptions).toBeUndefined();
  await withCli(devnet, async (gov) => {
    const { id } = await gov("propose", "info");
    expect(await gov("vote", id!, "no", "--as", "drep")).toMatchObject({
      voters: [{ role: "drep" }, { role: "drep" }],
    });
    await makeBlock(devnet);
    expect(await gov("show", id!)).toMatchObject({ votes: { drep: { no: 2 }, pool: { no: 0 } } });
    const refusals: [string[], string][] = [
      [["vote", "gov_action1", "yes"], "bad_id"],
      [["vote", `${"ab".repeat(32)}#0`, "yes"], "action_unknown"],
      [["vote", id!, "yes", "--as", "drep1xyz"], "voter_without_key"],
      [["vote", id!, "maybe"], "bad_vote"],
      [["propose", "parameters", '{"desiredPool":1}'], "bad_parameters"],
      [["propose", "parameters", '{"protocolVersion":{"major":11,"minor":0}}'], "bad_parameters"],
      [["propose", "parameters", "77"], "bad_parameters"],
      [["propose", "parameters", '{"maxTxSize":0}'], "not_accepted"],
      [["propose", "treasury", "stake_test1uz", "5"], "bad_address"],
      [["propose", "hard-fork", "12"], "not_accepted"],
      [["propose", "info", "--document-url", "https://example.com"], "bad_options"],
    ];
    for (const [args, code] of refusals) {
      expect((await gov(...args)).refused, args.join(" ")).toContain(`"code":"${code}"`);
    }
  });
});

test("a devnet like Yaci DevKit runs its guardrails script for a proposal", async () => {
  const devnet = await start({ like: "yaci-devkit", parameters: devkitParametersAt(10), pools: 1 });
  await withCli(devnet, async (gov) => {
    const { voters } = await gov("voters");
    // the cold key of its pool is not known
    expect(new Set(voters?.map(({ role }) => role))).toEqual(new Set(["drep", "committee"]));
    await carryOut(devnet, gov, "parameters", '{"desiredPools":77}');
    expect(await devnet.query(({ parameters }) => parameters.desiredPools)).toBe(77);
  });
});

test("without voters in the genesis nothing can vote but pools", async () => {
  const devnet = await start({ dreps: 0, committee: 0, pools: 1 });
  await withCli(devnet, async (gov) => {
    const { id } = await gov("propose", "constitution", "https://example.com", "ab".repeat(32));
    expect((await gov("vote", id!, "yes")).refused).toContain('"code":"no_voter"');
    const { id: motion } = await gov("propose", "no-confidence");
    expect(await gov("vote", motion!, "yes")).toMatchObject({ voters: [{ role: "pool" }] });
  });
});
