/** Answers of the Ogmios server about a devnet with content of every kind keep their schemas, in both versions. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "#src/base/json.ts";
import { toBech32 } from "#src/cardano/bech32.ts";
import { fromHex } from "#src/base/bytes.ts";
import { addressText, rewardAddress } from "#src/cardano/address.ts";
import { poolId } from "#src/cardano/poolId.ts";
import { OgmiosDevnet } from "../../support/ogmios/ogmiosDevnet.ts";
import { schemaFault } from "../../support/ogmios/golden.ts";
import { type TypedMessage, typeFaults } from "../../support/ogmios/versionSix.ts";
import { person } from "../../support/wallets/person.ts";

let world: OgmiosDevnet;
/** Answers of version 6, to be judged together: one run of the compiler takes seconds. */
const ofSix: TypedMessage[] = [];

beforeAll(async () => {
  world = await OgmiosDevnet.start(11, 0);
  await world.chain.complete();
  await world.chain.present();
}, 300_000);
afterAll(() => world?.stop());

function addSix(property: string, message: unknown): void {
  ofSix.push({ type: `Ogmios["${property}"]`, message });
}

const alice = person("alice");
const [stake, script] = ["11".repeat(28), "22".repeat(28)];

/** The property of the schema that an answer keeps. */
function propertyOf(method: string): string {
  return `${method.split("/").map((part) => part[0]!.toUpperCase() + part.slice(1)).join("")}Response`;
}

/** The answers of both versions; that of 7 keeps its schema, that of 6 is judged later. */
async function both(method: string, params?: Json): Promise<[six: Json, seven: Json]> {
  const results: Json[] = [];
  for (const version of [6, 7] as const) {
    const client = await world.open(version);
    const answer = await client.ask(method, params);
    await client.close();
    expect(answer.error, method).toBeUndefined();
    const property = propertyOf(method);
    if (version === 7) expect(schemaFault(property, answer), method).toBeUndefined();
    else addSix(property, answer);
    results.push(answer.result!);
  }
  return results as [Json, Json];
}

const QUERIES = [
  "queryNetwork/blockHeight",
  "queryNetwork/tip",
  "queryNetwork/startTime",
  "queryLedgerState/tip",
  "queryLedgerState/epoch",
  "queryLedgerState/eraStart",
  "queryLedgerState/eraSummaries",
  "queryLedgerState/treasuryAndReserves",
  "queryLedgerState/liveStakeDistribution",
  "queryLedgerState/stakePools",
  "queryLedgerState/stakePoolsPerformances",
  "queryLedgerState/rewardsProvenance",
  "queryLedgerState/constitution",
  "queryLedgerState/constitutionalCommittee",
  "queryLedgerState/delegateRepresentatives",
  "queryLedgerState/governanceProposals",
  "queryLedgerState/utxo",
];

describe("a query", () => {
  test.each(QUERIES)("%s answers alike in both versions", async (method) => {
    const [six, seven] = await both(method);
    expect(six).toEqual(seven);
    expect(six).not.toBeNull();
  });

  test("for parameters has the sizes of reference scripts by other names", async () => {
    const [six, seven] = await both("queryLedgerState/protocolParameters") as [
      Record<string, Json>,
      Record<string, Json>,
    ];
    const { maxReferenceScriptsSize, ...rest } = six;
    const { maxReferenceScriptsSizePerTransaction, maxReferenceScriptsSizePerBlock, ...others } = seven;
    expect(rest).toEqual(others);
    expect(maxReferenceScriptsSize).toEqual({ bytes: 204_800 });
    expect(maxReferenceScriptsSizePerTransaction).toEqual({ bytes: 204_800 });
    expect(maxReferenceScriptsSizePerBlock).toEqual({ bytes: 1_048_576 });
    expect(Object.keys(six.plutusCostModels!)).toEqual(["plutus:v1", "plutus:v2", "plutus:v3"]);
  });

  test("for eras has one entry for each of seven", async () => {
    const [six] = await both("queryLedgerState/eraSummaries");
    expect(six).toHaveLength(7);
    expect((six as { start: Json }[]).at(-1)!.start).toEqual({ time: { seconds: 0 }, slot: 0, epoch: 0 });
  });

  test("for the whole UTxO set, for addresses and for references gives the outputs of the ledger", async () => {
    type Item = { transaction: { id: string }; index: number; address: string };
    const [all] = await both("queryLedgerState/utxo") as unknown as [Item[]];
    const count = await world.chain.devnet.query(({ utxo }) => [...utxo.outputs()].length);
    expect(all).toHaveLength(count!);
    const { address } = all[3]!;
    const [ofAddress] = await both("queryLedgerState/utxo", { addresses: [address] }) as unknown as [Item[]];
    expect(ofAddress).toEqual(all.filter((one) => one.address === address));
    const references = all.slice(5, 9).map(({ transaction, index }) => ({ transaction, index }));
    const unknown = { transaction: { id: "ab".repeat(32) }, index: 0 };
    const [ofRefs] = await both("queryLedgerState/utxo", { outputReferences: [...references, unknown] });
    expect(ofRefs).toEqual(all.slice(5, 9));
  });

  test("for reward accounts reads credentials in every form", async () => {
    const key = rewardAddress(0, { kind: "key", hash: alice.stake });
    const forms = [alice.stake, toBech32("stake_vkh", fromHex(alice.stake)), addressText(key)];
    for (const form of forms) {
      const [six] = await both("queryLedgerState/rewardAccountSummaries", { keys: [form] });
      expect(six, form).toEqual([
        expect.objectContaining({
          from: "verificationKey",
          credential: alice.stake,
          deposit: { ada: { lovelace: 2_000_000 } },
        }),
      ]);
    }
    const [none] = await both("queryLedgerState/rewardAccountSummaries", { keys: [stake], scripts: [script] });
    expect(none).toEqual([]);
  });

  test("for pools takes ids, and adds the stake that votes", async () => {
    const [all] = await both("queryLedgerState/stakePools") as [Record<string, Json>, Json];
    const [id] = Object.keys(all);
    const [one] = await both("queryLedgerState/stakePools", { stakePools: [{ id: id! }] });
    expect(one).toEqual({ [id!]: all[id!] });
    const [withStake] = await both("queryLedgerState/stakePools", { includeStake: true }) as [
      Record<string, object>,
      Json,
    ];
    expect(Object.keys(withStake)).toEqual(Object.keys(all));
    for (const pool of Object.values(withStake)) expect(pool).toHaveProperty("stake.ada.lovelace");
    const [none] = await both("queryLedgerState/stakePools", { stakePools: [{ id: poolId("ab".repeat(28)) }] });
    expect(none).toEqual({});
  });

  test("for projected rewards takes amounts and accounts", async () => {
    const [six] = await both("queryLedgerState/projectedRewards", {
      stake: [{ ada: { lovelace: 1_000_000_000 } }],
      keys: [alice.stake],
      scripts: [script],
    }) as [Record<string, Record<string, Json>>, Json];
    expect(Object.keys(six).sort()).toEqual(["1000000000", script, alice.stake].sort());
    const [pools] = await both("queryLedgerState/stakePools") as [Record<string, Json>, Json];
    expect(Object.keys(six["1000000000"]!).sort()).toEqual(Object.keys(pools).sort());
  });

  test("for representatives gives those that are named, and always the predefined two", async () => {
    type Representative = { type: string; id?: string; from?: string };
    const [all] = await both("queryLedgerState/delegateRepresentatives") as unknown as [Representative[]];
    const registered = all.filter(({ type }) => type === "registered");
    expect(registered.length).toBeGreaterThan(0);
    const { id, from } = registered[0]!;
    const list = from === "script" ? "scripts" : "keys";
    const [one] = await both("queryLedgerState/delegateRepresentatives", { [list]: [id!] }) as unknown as [
      Representative[],
    ];
    expect(one.map(({ type }) => type)).toEqual(["registered", "abstain", "noConfidence"]);
    const [none] = await both("queryLedgerState/delegateRepresentatives", { keys: [] }) as unknown as [
      Representative[],
    ];
    expect(none.map(({ type }) => type)).toEqual(["abstain", "noConfidence"]);
  });

  test.each(["byron", "shelley", "alonzo", "conway"])("for the genesis of %s has its configuration", async (era) => {
    for (const version of [6, 7] as const) {
      const client = await world.open(version);
      const answer = await client.ask("queryNetwork/genesisConfiguration", { era });
      await client.close();
      const { result } = answer as { result: Record<string, Json> };
      expect(result.era).toBe(era);
      // that of Byron cannot keep the schema, which demands a member that it forbids
      if (era === "byron") expect(result.updatableParameters).toHaveProperty("scriptVersion");
      else if (version === 7) {
        expect(schemaFault("cardano/Genesis<" + era[0]!.toUpperCase() + era.slice(1) + ">", result)).toBeUndefined();
      } else addSix("QueryNetworkGenesisConfigurationResponse", answer);
    }
  });

  test.each(["nonces", "operationalCertificates"])("for %s is not available: blocks are unsigned", async (name) => {
    const client = await world.open(7);
    const answer = await client.ask(`queryLedgerState/${name}`);
    expect(answer).toMatchObject({ error: { code: 2002 }, method: `queryLedgerState/${name}` });
    expect(schemaFault(propertyOf(`queryLedgerState/${name}`), answer)).toBeUndefined();
    await client.close();
  });
});

describe("blocks and transactions", () => {
  test("of the whole chain keep their schemas", async () => {
    const { height } = world.chain.devnet.tip();
    for (const version of [6, 7] as const) {
      const client = await world.open(version);
      for (let i = 0; i < height + 2; i++) client.send(JSON.stringify({ jsonrpc: "2.0", method: "nextBlock", id: i }));
      for (let i = 0; i < height + 2; i++) {
        const answer = await client.next();
        expect(answer.id).toBe(i);
        if (version === 7) expect(schemaFault("NextBlockResponse", answer)).toBeUndefined();
        else addSix("NextBlockResponse", answer);
      }
      await client.close();
    }
  });

  test("of the mempool keep their schemas", async () => {
    for (const version of [6, 7] as const) {
      const client = await world.open(version);
      await client.ask("acquireMempool");
      const count = world.chain.mempool().length;
      expect(count).toBeGreaterThan(3);
      for (let i = 0; i <= count; i++) {
        const answer = await client.ask("nextTransaction", { fields: "all" });
        expect(answer.result).toEqual({
          transaction: i < count ? expect.objectContaining({ id: expect.any(String) }) : null,
        });
        if (version === 7) expect(schemaFault("NextTransactionResponse", answer)).toBeUndefined();
        else addSix("NextTransactionResponse", answer);
      }
      await client.close();
    }
  });
});

test("every answer of version 6 has the types of 6.14", () => {
  expect(ofSix.length).toBeGreaterThan(50);
  const wrong = { ...ofSix[0]!, message: { ...Object(ofSix[0]!.message), unheard: 1 } };
  // the judge sees what is wrong
  expect(typeFaults([...ofSix, wrong])).toEqual([expect.stringContaining("unheard")]);
}, 120_000);
