/** Governance on the devnet: what is proposed and voted takes force, expires and is refunded, over restarts and rollbacks. */
import { expect, test } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { type Encodable, Tagged } from "#src/cardano/cbor.ts";
import type { OutRef } from "#src/cardano/output.ts";
import { PAGES } from "#src/app/pages.ts";
import { parseJson } from "#src/base/json.ts";
import { silentLog } from "#src/base/log.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { devnetApp } from "#src/devnet/serve/admin/app.ts";
import { blockfrostApp } from "#src/devnet/serve/blockfrost/app.ts";
import type { DevnetOptions } from "#src/devnet/options.ts";
import { serve } from "#src/http/serve.ts";
import { governanceOf } from "#src/ledger/governance/actions.ts";
import { mainnetParametersAt } from "#src/ledger/parameters.ts";
import {
  allLovelace,
  ANCHOR,
  checkRows,
  ledgerInRows,
  ledgerOf,
  PROPOSAL_DEPOSIT,
} from "../../support/devnet/devnet.ts";
import { indexRows, rebuiltRows } from "../../support/devnet/devnetIndex.ts";
import { runCli } from "../../support/cli/arborCli.ts";
import { devnetWorld, valueOf } from "../../support/devnet/devnetWorld.ts";
import { alice, POOL_VOTE, Voter } from "../../support/devnet/voter.ts";
import { person } from "../../support/wallets/person.ts";

const ada = 1_000_000n;
const EPOCH = 100;
const bob = person("bob");
const REWARD = "e0" + alice.stake;

const world = devnetWorld();
const start = (options: DevnetOptions = {}) =>
  world.start({
    epochLength: EPOCH,
    pools: 1,
    parameters: mainnetParametersAt(10),
    faucetLimit: 10_000_000n * ada,
    ...options,
  });

const idOf = ({ txHash, index }: OutRef): Encodable => [fromHex(txHash), index];
const keyOf = ({ txHash, index }: OutRef) => `${txHash}#${index}`;
const inForce = (devnet: Devnet) => devnet.query((state) => governanceOf(state));
const parametersOf = async (devnet: Devnet) => (await devnet.query(({ parameters }) => parameters))!;
const openActions = async (devnet: Devnet) =>
  (await devnet.query(({ proposals }) => [...proposals.entries()].map(([key]) => key)))!;
const balanceOf = async (devnet: Devnet) =>
  (await devnet.query(({ accounts }) => accounts.get(`k${alice.stake}`)!.balance))!;
const nextEpoch = async (devnet: Devnet) => valueOf(await devnet.enterNextEpoch(0));
function adminOf(devnet: Devnet) {
  const { store, rows: port } = world;
  const run = () => Promise.reject(new Error("no script runs"));
  const explorer = { builders: { run }, pages: PAGES, index: true, wallet: false };
  return devnetApp({ devnet, store, port, files: [], health: () => {}, log: silentLog, explorer });
}

/** The epochs of an action in the explorer and in the Blockfrost API, which are the same. */
async function outcomeOf(devnet: Devnet, { txHash, index }: OutRef): Promise<Record<string, number>> {
  const { store } = world;
  const admin = adminOf(devnet);
  const measure = () => Promise.reject(new Error("no script is measured"));
  const blockfrost = blockfrostApp({ devnet, store, measure, log: silentLog });
  const read = async (response: Response | Promise<Response>) =>
    parseJson(await (await response).text()) as Record<string, unknown>;
  const action = await read(admin.request(`/governance/actions/${encodeURIComponent(`${txHash}#${index}`)}`));
  const proposal = await read(blockfrost.request(`/api/v0/governance/proposals/${txHash}/${index}`));
  const epochs = ["ratified", "enacted", "expired", "dropped"].flatMap((name) => {
    expect(proposal[`${name}_epoch`] ?? undefined).toBe(action[name]);
    return typeof action[name] === "number" ? [[name, action[name]] as const] : [];
  });
  return Object.fromEntries(epochs);
}

async function checkLedger(devnet: Devnet): Promise<void> {
  await checkRows(world.store);
  const ledger = await devnet.query(ledgerOf);
  expect(await ledgerInRows(world.store)).toEqual(ledger);
}

test("parameters change, the treasury pays and the constitution is replaced, in the ledger's order", async () => {
  const devnet = await start();
  const supply = (await devnet.query(allLovelace))!;
  const voter = await Voter.of(devnet);
  await voter.send({ fields: [[22, 9n * ada]] });
  const actions = await voter.propose(
    [0, null, new Map([[8, 77]]), null],
    [2, new Map([[fromHex(REWARD), 5n * ada]]), null],
    [5, null, [ANCHOR, null]],
  );
  const base = devnet.tip();
  const ledger = await devnet.query(ledgerOf);
  await voter.vote(actions);

  await nextEpoch(devnet);
  // the constitution delays what comes after it
  expect((await inForce(devnet))!.decided).toEqual({ enacted: [keyOf(actions[2]!)], expired: [] });
  expect((await parametersOf(devnet)).desiredPools).toBe(500);
  await nextEpoch(devnet);
  expect((await inForce(devnet))!).toMatchObject({
    constitution: { anchor: { url: "https://example.com/document" } },
    enacted: { constitution: keyOf(actions[2]!) },
    decided: { enacted: [keyOf(actions[0]!), keyOf(actions[1]!)] },
  });
  expect(await openActions(devnet)).toEqual([keyOf(actions[0]!), keyOf(actions[1]!)]);
  const before = await balanceOf(devnet);
  await checkLedger(devnet);

  // what was decided survives a restart
  await devnet.stop();
  world.running.splice(0);
  const again = await start();
  expect(await again.query(ledgerOf)).toEqual(await ledgerInRows(world.store));
  await nextEpoch(again);
  expect((await parametersOf(again)).desiredPools).toBe(77);
  expect(valueOf(await world.rows.parameters()).value.desiredPools).toBe(77);
  expect(await openActions(again)).toEqual([]);
  const outcomes = await Promise.all(actions.map((action) => outcomeOf(again, action)));
  expect(outcomes).toEqual([{ ratified: 2, enacted: 3 }, { ratified: 2, enacted: 3 }, { ratified: 1, enacted: 2 }]);
  expect(await indexRows(world.store)).toEqual(await rebuiltRows(world.store));
  expect(await balanceOf(again) - before).toBeGreaterThanOrEqual(2n * PROPOSAL_DEPOSIT + 5n * ada);
  expect(await again.query(allLovelace)).toBe(supply);
  await checkLedger(again);

  valueOf(await again.rollback({ height: base.height }));
  expect(await again.query(ledgerOf)).toEqual(ledger);
  expect(await outcomeOf(again, actions[2]!)).toEqual({});
  expect((await parametersOf(again)).desiredPools).toBe(500);
  await checkLedger(again);
});

test("a committee is elected, votes, and is dismissed; a hard fork brings protocol version 11", async () => {
  const devnet = await start();
  const voter = await Voter.of(devnet);
  const [election] = await voter.propose([
    4,
    null,
    new Tagged(258, []),
    new Map([[[0, fromHex(bob.stake)] as Encodable, 50]]),
    new Tagged(30, [2, 3]),
  ]);
  const authorize = () =>
    voter.send({
      certificates: [[14, [0, fromHex(bob.stake)], [0, fromHex(bob.key)]]],
      signers: [alice.stakeSeed, bob.stakeSeed],
    });
  const member = () => devnet.query(({ committee }) => committee.get(`k${bob.stake}`));
  // who is proposed may name a key before the election: it holds if the epoch ends with it
  await authorize();
  await voter.vote([election!], POOL_VOTE);
  expect(await member()).toEqual({ hot: `k${bob.key}` });
  await nextEpoch(devnet);
  expect(await member()).toEqual({});
  await authorize();
  await nextEpoch(devnet);
  expect(await member()).toEqual({ hot: `k${bob.key}`, elected: true, until: 50 });
  expect((await inForce(devnet))!.quorum).toEqual({ numerator: 2n, denominator: 3n });

  const [fork] = await voter.propose([1, null, [11, 0]]);
  await voter.vote([fork!], POOL_VOTE);
  await nextEpoch(devnet);
  // the committee has not voted
  expect((await inForce(devnet))!.decided.enacted).toEqual([]);
  await voter.send({
    fields: [[19, new Map([[[0, fromHex(bob.key)] as Encodable, new Map([[idOf(fork!), [1, null]]])]])]],
    signers: [bob.seed],
  });
  await nextEpoch(devnet);
  expect((await parametersOf(devnet)).protocolVersion).toEqual({ major: 10, minor: 0 });
  await nextEpoch(devnet);
  expect((await parametersOf(devnet)).protocolVersion).toEqual({ major: 11, minor: 0 });
  expect(valueOf(await world.rows.parameters()).value.protocolVersion.major).toBe(11);

  const [motion] = await voter.propose([3, idOf(election!)]);
  await voter.vote([motion!], POOL_VOTE);
  await nextEpoch(devnet);
  await nextEpoch(devnet);
  expect((await inForce(devnet))!.quorum).toBe(undefined);
  expect(await devnet.query(({ committee }) => [...committee.entries()])).toEqual([]);
  await checkLedger(devnet);
});

test("an action without enough votes expires, and its deposit returns", async () => {
  const devnet = await start();
  const voter = await Voter.of(devnet);
  const [info] = await voter.propose([6]);
  await voter.vote([info!], POOL_VOTE);
  const before = await balanceOf(devnet);
  for (let epoch = 1; epoch <= 7; epoch++) {
    expect(await openActions(devnet)).toEqual([keyOf(info!)]);
    await nextEpoch(devnet);
  }
  expect((await inForce(devnet))!.decided).toEqual({ enacted: [], expired: [keyOf(info!)] });
  await nextEpoch(devnet);
  expect(await openActions(devnet)).toEqual([]);
  expect(await balanceOf(devnet) - before).toBeGreaterThanOrEqual(PROPOSAL_DEPOSIT);
  expect(await outcomeOf(devnet, info!)).toEqual({ expired: 7, dropped: 8 });

  const listener = await serve(adminOf(devnet), { host: "127.0.0.1", port: 0 });
  try {
    const arbor = (...args: string[]) => runCli(["--devnet", `http://127.0.0.1:${listener.port}`, "gov", ...args]);
    const { id, ...action } = parseJson((await arbor("show", keyOf(info!), "--json")).stdout) as Record<
      string,
      unknown
    >;
    expect(action).toMatchObject({ txHash: info!.txHash, kind: "info", votes: { drep: { yes: 1 }, pool: { yes: 1 } } });
    expect(parseJson((await arbor("list", "--json")).stdout)).toEqual([{ id, ...action }]);
    expect(await arbor("show", "nonsense")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("No governance action"),
    });
  } finally {
    await listener.stop();
  }
  expect((await inForce(devnet))!.dormant).toBeGreaterThan(0);
  await checkLedger(devnet);
});

test("a hard fork that the genesis plans keeps the parameters that were enacted before it", async () => {
  const devnet = await start({ hardForkEpoch: 3 });
  const voter = await Voter.of(devnet);
  await voter.vote(await voter.propose([0, null, new Map([[8, 77]]), null]));
  await nextEpoch(devnet);
  await nextEpoch(devnet);
  expect(await parametersOf(devnet)).toMatchObject({ desiredPools: 77, protocolVersion: { major: 10 } });
  await nextEpoch(devnet);
  expect(await parametersOf(devnet)).toMatchObject({
    desiredPools: 77,
    protocolVersion: { major: 11 },
    costModels: mainnetParametersAt(11).costModels,
  });
  await checkLedger(devnet);
});

test("a hard fork that the genesis plans does not take back a later version that votes brought", async () => {
  const devnet = await start({ hardForkEpoch: 6 });
  const voter = await Voter.of(devnet);
  let previous: OutRef | undefined;
  for (const version of [[11, 0], [11, 1]] as const) {
    const [fork] = await voter.propose([1, previous ? idOf(previous) : null, [...version]]);
    await voter.vote([fork!], POOL_VOTE);
    await nextEpoch(devnet);
    await nextEpoch(devnet);
    expect((await parametersOf(devnet)).protocolVersion).toEqual({ major: version[0], minor: version[1] });
    previous = fork;
  }
  await nextEpoch(devnet);
  await nextEpoch(devnet);
  expect(await devnet.query(({ epoch }) => epoch)).toBe(6);
  expect((await parametersOf(devnet)).protocolVersion).toEqual({ major: 11, minor: 1 });
  await checkLedger(devnet);
});
