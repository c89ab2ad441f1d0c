/** Chapter: the restore of a devnet's snapshot. Tokens and wallets follow it back, and onto another fork. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addressText, enterpriseAddress } from "#src/cardano/address.ts";
import { DevnetClient } from "#src/client/devnet.ts";
import { type CheckedTransaction, signTransaction, TokenClient } from "#src/client/tokens.ts";
import { ADA, ANSWERS_ALL, PROVIDERS, Scenario } from "../../support/service/scenario.ts";
import { until } from "../../support/base/until.ts";
import { person } from "../../support/wallets/person.ts";

const owner = person("owner");
const address = addressText(enterpriseAddress(0, { kind: "key", hash: owner.key }));

describe.each(PROVIDERS)("with the provider %s", (provider) => {
  let scenario: Scenario;
  let devnet: DevnetClient;
  let tokens: TokenClient;
  beforeAll(async () => {
    // no block comes by itself: what the services submit again would change what the restore gave
    scenario = await Scenario.start({ provider, blockMs: 0 });
    devnet = new DevnetClient(scenario.devnet);
    tokens = new TokenClient(scenario.arbor.places.get("token service")!);
  }, 120_000);
  afterAll(() => scenario?.stop());

  /** Makes blocks until some work has ended. */
  const withBlocks = async <T>(work: Promise<T>): Promise<T> => {
    let ended = false;
    const end = () => void (ended = true);
    void work.then(end, end);
    await until("it is in a block", async () => {
      if (!ended) await scenario.blocks();
      return ended;
    });
    return await work;
  };
  const carryOut = async <T extends { checked: CheckedTransaction }>(built: T): Promise<T & { hash: string }> => ({
    ...built,
    hash: await withBlocks(tokens.submitAndWait(signTransaction(built.checked, owner.seed))),
  });
  const record = async (token: string, key: string, value: string) => {
    const { hash } = await carryOut(await tokens.insert(address, token, key, value));
    await carryOut(await tokens.apply(address, token, [`${hash}-0`]));
  };

  it("tokens and wallets are as they were at the save", async () => {
    const wallet = await scenario.createWallet({ coins: [100n * ADA] });
    const paid = await devnet.fund(address, 1_000n * ADA);
    expect(await withBlocks(tokens.transaction(paid, { waitMs: 60_000 }))).toBeDefined();
    const { value: token } = await carryOut(await tokens.boot(address));
    await record(token, "key", "first");
    const view = async () => ({
      balance: await scenario.available(wallet.id),
      transactions: (await scenario.client.transactions(wallet.id)).map(({ id, status }) => [id, status]).sort(),
      root: (await tokens.token(token)).root,
      facts: await tokens.facts(token),
    });
    const before = await view();
    await devnet.saveSnapshot("before");

    await scenario.fund(wallet.id, [50n * ADA]);
    await record(token, "other", "second");
    const after = await view();
    await devnet.saveSnapshot("after");
    expect(after.facts).not.toEqual(before.facts);

    for (const [name, expected] of [["before", before], ["after", after], ["before", before]] as const) {
      await devnet.restoreSnapshot(name);
      await until(`the services are at the snapshot ${name}`, async () => {
        const now = await view();
        return now.root === expected.root && now.balance === expected.balance;
      });
      await expect.poll(view, { timeout: 10_000 }).toEqual(expected);
    }

    // the chain goes on from there, when what the service submits again of the other branch is in blocks
    if (ANSWERS_ALL) {
      await until("the facts of the other branch are in blocks again", async () => {
        await scenario.blocks();
        return Object.keys(await tokens.facts(token)).length === Object.keys(after.facts).length;
      });
      await record(token, "third", "another fork");
      expect(Object.keys(await tokens.facts(token))).toEqual(
        expect.arrayContaining([...Object.keys(before.facts), "third"]),
      );
    }
    await devnet.deleteSnapshot("after");
    expect((await devnet.snapshots()).map(({ name }) => name)).toEqual(["before"]);
  }, 240_000);
});
