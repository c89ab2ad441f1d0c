/** Governance of a devnet by its own keys, from the command line: representatives, committee and pools of the genesis. */
import { expect, test } from "vitest";
import { PAGES } from "#src/app/pages.ts";
import { silentLog } from "#src/base/log.ts";
import { parseJson } from "#src/base/json.ts";
import { addressText, rewardAddress } from "#src/cardano/address.ts";
import { committeeText } from "#src/cardano/governanceId.ts";
import { DevnetClient } from "#src/client/devnet.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { devnetAccounts, governanceKeys } from "#src/devnet/genesis/accounts.ts";
import { devkitParametersAt } from "#src/devnet/genesis/yaciDevkit.ts";
import { devnetApp } from "#src/devnet/serve/admin/app.ts";
import { blockfrostApp } from "#src/devnet/serve/blockfrost/app.ts";
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

/** A devnet over HTTP: its client, its URL, and `arbor gov` against it. */
async function served(devnet: Devnet, work: (client: DevnetClient, gov: Gov) => Promise<void>): Promise<void> {
  const { store, rows: port } = world;
  const run = () => Promise.reject(new Error("no script runs"));
  const explorer = { builders: { run }, pages: PAGES, index: true, wallet: false };
  const app = devnetApp({ devnet, store, port, files: [], health: () => {}, log: silentLog, explorer });
  const listener = await serve(app, { host: "127.0.0.1", port: 0 });
  try {
    const url = `http://127.0.0.1:${listener.port}`;
    await work(new DevnetClient(url), async (...args) => {
      const { stdout, stderr, code } = await runCli(["--json", "--devnet", url, "gov", ...args]);
      return code === 0 ? parseJson(stdout) as GovOutput : { refused: stderr };
    });
  } finally {
    await listener.stop();
  }
}

/** What a command prints as JSON, or its refusal. */
interface GovOutput {
  readonly id?: string;
  readonly voters?: readonly { readonly role: string }[];
  readonly refused?: string;
}
type Gov = (...args: string[]) => Promise<GovOutput>;

/** Reads Blockfrost's API of a devnet. */
function blockfrostOf(devnet: Devnet): (path: string) => Promise<unknown> {
  const measure = () => Promise.reject(new Error("no script is measured"));
  const app = blockfrostApp({ devnet, store: world.store, measure, log: silentLog });
  return async (path) => parseJson(await (await app.request(`/api/v0${path}`)).text());
}

/** Proposes, makes a block, votes yes with everyone who has a say, and enters two epochs. */
async function carryOut(
  devnet: Devnet,
  client: DevnetClient,
  propose: () => Promise<{ readonly id?: string }>,
): Promise<string> {
  const { id = "" } = await propose();
  await makeBlock(devnet);
  expect((await client.vote(id, "yes")).voters.length).toBeGreaterThan(0);
  await makeBlock(devnet);
  for (let epoch = 0; epoch < 2; epoch++) valueOf(await devnet.enterNextEpoch(0));
  return id;
}

test("a parameter, the committee, the treasury and the protocol version change by commands", async () => {
  const devnet = await start();
  const supply = await devnet.query(allLovelace);
  expect(supply).toBe(devnet.genesis.terms.maxSupply);
  await served(devnet, async (client, gov) => {
    const propose = (...args: string[]) => carryOut(devnet, client, () => gov("propose", ...args));
    const { voters } = await gov("voters");
    expect(voters?.map(({ role }) => role)).toEqual([
      ...["drep", "drep"],
      ...["committee", "committee", "committee"],
      ...["pool", "pool"],
    ]);

    await propose("parameters", '{"desiredPools":77,"govActionLifetime":2}');
    expect(await devnet.query(({ parameters }) => parameters)).toMatchObject({
      desiredPools: 77,
      govActionLifetime: 2,
    });

    const [account] = devnetAccounts(1);
    const stake = addressText(rewardAddress(0, { kind: "key", hash: account!.stake }));
    const balance = () => devnet.query(({ accounts }) => accounts.get(`k${account!.stake}`)!.balance);
    const before = (await balance())!;
    await propose("treasury", stake, "5000", "--account", stake);
    // the deposit returns to the same account
    expect(await balance()).toBe(before + 105_000n * ada);
    expect(await blockfrostOf(devnet)(`/accounts/${stake}`)).toMatchObject({
      withdrawable_amount: String(before + 105_000n * ada),
      treasury_sum: String(5_000n * ada),
    });

    const cold = (index: number) => committeeText("cold", { kind: "key", hash: governanceKeys(index).cold.hash });
    const elected = await propose("committee", "--add", `${cold(9)}:90`, "--remove", cold(2), "--quorum", "1/2");
    const { enacted, quorum } = (await devnet.query(governanceOf))!;
    expect(quorum).toEqual({ numerator: 1n, denominator: 2n });
    expect(enacted.committee).toBeDefined();
    expect(await devnet.query(({ committee }) => committee.get(`k${governanceKeys(9).cold.hash}`))).toEqual({
      elected: true,
      until: 90,
    });
    expect(await gov("show", elected)).toMatchObject({ kind: "committee", enacted: 6 });

    await propose("hard-fork", "11");
    expect(await devnet.query(({ parameters }) => parameters.protocolVersion)).toEqual({ major: 11, minor: 0 });
    await propose("constitution", "https://example.com/constitution", "ab".repeat(32));
    expect((await devnet.query(governanceOf))!.constitution.anchor.url).toBe("https://example.com/constitution");
    await propose("no-confidence");
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
  await served(devnet, async (client, gov) => {
    const { id } = await gov("propose", "info");
    expect(await gov("vote", id!, "no", "--as", "drep")).toMatchObject({
      voters: [{ role: "drep" }, { role: "drep" }],
    });
    await makeBlock(devnet);
    expect(await client.governanceAction(id!)).toMatchObject({ votes: { drep: { no: 2 }, pool: { no: 0 } } });
    const byCommand: [string[], string][] = [
      [["vote", id!, "maybe"], "bad_vote"],
      [["propose", "parameters", "77"], "bad_parameters"],
      [["propose", "info", "--document-url", "https://example.com"], "bad_options"],
    ];
    for (const [args, code] of byCommand) {
      expect((await gov(...args)).refused, args.join(" ")).toContain(`"code":"${code}"`);
    }
    const parameters = (changes: Record<string, unknown>) => client.propose({ kind: "parameters", changes });
    const refused: [() => Promise<unknown>, string][] = [
      [() => client.vote("gov_action1", "yes"), "bad_id"],
      [() => client.vote(`${"ab".repeat(32)}#0`, "yes"), "action_unknown"],
      [() => client.vote(id!, "yes", { as: ["drep1xyz"] }), "voter_without_key"],
      [() => parameters({ desiredPool: 1 }), "bad_parameters"],
      [() => parameters({ protocolVersion: { major: 11, minor: 0 } }), "bad_parameters"],
      [() => parameters({ maxTxSize: 0 }), "not_accepted"],
      [
        () => client.propose({ kind: "treasury", payments: [{ account: "stake_test1uz", lovelace: 5n }] }),
        "bad_address",
      ],
      [() => client.propose({ kind: "hard fork", version: { major: 12, minor: 0 } }), "not_accepted"],
    ];
    for (const [call, code] of refused) await expect(call()).rejects.toMatchObject({ code });
  });
});

test("a devnet like Yaci DevKit runs its guardrails script for a proposal", async () => {
  const devnet = await start({ like: "yaci-devkit", parameters: devkitParametersAt(10), pools: 1 });
  await served(devnet, async (client) => {
    // the cold key of its pool is not known
    expect(new Set((await client.ownVoters()).map(({ role }) => role))).toEqual(new Set(["drep", "committee"]));
    const action = { kind: "parameters", changes: { desiredPools: 77 } } as const;
    await carryOut(devnet, client, () => client.propose(action));
    expect(await devnet.query(({ parameters }) => parameters.desiredPools)).toBe(77);
  });
});

test("how an action stands by stake, and what the next boundary does, is shown before it comes", async () => {
  const devnet = await start({ accountFunds: 20_000n * ada });
  await served(devnet, async (client, gov) => {
    const read = async () => parseJson(await (await fetch(`${client.base}/governance`)).text());
    const { id } = await client.propose({ kind: "parameters", changes: { maxTxSize: 16_000 } });
    await makeBlock(devnet);
    const [first] = await client.ownVoters();
    await client.vote(id, "yes", { as: [first!.id, "committee"] });
    await makeBlock(devnet);
    const share = (numerator: number, denominator: number) => ({ numerator, denominator });
    const standingOf = async () => (await client.governanceAction(id)).standing;
    const standing = await standingOf();
    // the deposit counts for the account that it returns to, which is that of one of the two
    expect(standing).toMatchObject({
      committee: { yes: 3, all: 3, threshold: share(2, 3), reached: true },
      drep: { all: 140_000_000_000, threshold: share(67, 100) },
      pool: { yes: 0, threshold: share(51, 100), reached: false },
      next: "open",
    });
    await gov("vote", id, "yes");
    await makeBlock(devnet);
    expect(await standingOf()).toMatchObject({
      drep: { yes: standing!.drep.all, reached: true },
      pool: { reached: true },
      next: "ratified",
    });
    expect(await read()).toMatchObject({
      committee: { quorum: share(2, 3), members: [0, 1, 2].map(() => ({ state: "in office", until: 1_000_000 })) },
      next: [{ id, kind: "parameters", step: "ratified" }],
    });
    valueOf(await devnet.enterNextEpoch(0));
    expect(await gov("show", id)).toMatchObject({ standing: { next: "enacted" } });
    valueOf(await devnet.enterNextEpoch(0));
    expect(await standingOf()).toBeUndefined();
    expect(await read()).toMatchObject({ next: [] });
  });
});

test("Blockfrost's committee is the ledger's, and its votes are found by hot and cold credentials", async () => {
  const devnet = await start();
  const blockfrost = blockfrostOf(devnet);
  const get = (path: string) => blockfrost(`/governance${path}`);
  const keys = governanceKeys(1);
  const [cold, hot] = (["cold", "hot"] as const).map((of) => committeeText(of, { kind: "key", hash: keys[of].hash }));
  await served(devnet, async (client) => {
    expect(await get("/committee")).toMatchObject({
      gov_action_id: null,
      is_dissolved: false,
      quorum: { numerator: 2, denominator: 3 },
      members: expect.arrayContaining([{
        cc_cold_id: cold,
        cc_cold_hex: keys.cold.hash,
        cc_cold_has_script: false,
        cc_hot_id: hot,
        cc_hot_hex: keys.hot.hash,
        cc_hot_has_script: false,
        status: "authorized",
        expiration_epoch: 1_000_000,
      }]),
    });
    for (const drep of ["drep_always_abstain", "drep_always_no_confidence"]) {
      expect(await get(`/dreps/${drep}`)).toMatchObject({ drep_id: drep, amount: "0", retired: false });
    }
    const { id } = await client.propose({ kind: "info" });
    await client.vote(id, "abstain", { as: [hot!] });
    await makeBlock(devnet);
    const vote = { voter_hot_id: hot, proposal_id: id, vote: "abstain" };
    for (const credential of [hot, cold]) expect(await get(`/committee/${credential}/votes`)).toMatchObject([vote]);
    await carryOut(devnet, client, () => client.propose({ kind: "no confidence" }));
    expect(await get("/committee")).toMatchObject({ is_dissolved: true, members: [] });
  });
});

test("without voters in the genesis nothing can vote but pools", async () => {
  const devnet = await start({ dreps: 0, committee: 0, pools: 1 });
  await served(devnet, async (client) => {
    const constitution = { url: "https://example.com", hash: "ab".repeat(32) };
    const { id } = await client.propose({ kind: "constitution", anchor: constitution });
    await expect(client.vote(id, "yes")).rejects.toMatchObject({ code: "no_voter" });
    const { id: motion } = await client.propose({ kind: "no confidence" });
    expect((await client.vote(motion, "yes")).voters).toMatchObject([{ role: "pool" }]);
  });
});
