/**
 * Dingo (Go), a complete node: its answers, a wallet's life on it, and its Blockfrost-like service. The life of a token
 * on it: service.test.ts.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { parseAddress } from "#src/cardano/address.ts";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { blockfrostPort } from "#src/chain/provider/blockfrost/port.ts";
import { nodePort } from "#src/chain/provider/node/port.ts";
import { lovelace, WalletClient } from "#src/client/wallets.ts";
import { Arbor } from "../support/service/arbor.ts";
import { valueOf } from "../support/devnet/devnetWorld.ts";
import { sharedInfra } from "../support/infra/infra.ts";
import { until } from "../support/base/until.ts";
import { person } from "../support/wallets/person.ts";
import { type Dingo, DINGO_MAGIC, hasDingo, startDingo } from "./dingo.ts";
import { survey } from "./survey.ts";

const PASSPHRASE = "Secure Passphrase";
const ADA = 1_000_000n;

describe.skipIf(!hasDingo)("Dingo", () => {
  let dingo: Dingo;

  beforeAll(async () => {
    dingo = await startDingo();
  });
  afterAll(() => dingo?.stop());

  it("supports what the services need, and closes the connection on unknown queries", async () => {
    const { queries, refusal, ...seen } = await survey(dingo.path, DINGO_MAGIC, 1);
    expect(seen).toEqual({ version: 21, blocks: 1 });
    const lacking = Object.entries(queries).filter(([, answer]) => answer !== "answers").map(([kind]) => kind);
    expect(lacking).toEqual(["ledgerTip", "poolParameters", "poolState", "stakeDistribution", "nonMyopicRewards"]);
    expect(refusal).toEqual(["ConwayMempoolFailure"]);
  });

  it("supports a wallet: created, paid, pays with metadata, notified of it, restored, in agreement with the node", async () => {
    const infra = await sharedInfra();
    const arbor = await Arbor.start({
      infra,
      env: { ARBOR_PROVIDER: "node", ARBOR_NODE_SOCKET: dingo.path, ARBOR_BUILDERS: "1" },
    });
    const port = nodePort({ address: { path: dingo.path }, magic: DINGO_MAGIC, log: silentLog });
    try {
      const client = new WalletClient(arbor.wallets);
      const words = [newMnemonic(15), newMnemonic(24)] as const;
      const create = async (mnemonic: readonly string[]) => {
        const { id } = await client.create({
          name: "On Dingo",
          mnemonic_sentence: [...mnemonic],
          passphrase: PASSPHRASE,
        });
        await until(`${id} is ready`, async () => (await client.wallet(id)).state.status === "ready");
        return id;
      };
      const [mine, other] = [await create(words[0]), await create(words[1])];
      const has = (id: string, amount: bigint) =>
        until(`${id} has ${amount}`, async () => BigInt((await client.wallet(id)).balance.total.quantity) === amount);
      const [at] = await client.addresses(mine);
      await dingo.give(valueOf(parseAddress(at!.id)).hex, 50n * ADA);
      await has(mine, 50n * ADA);

      const [to] = await client.addresses(other);
      const metadata = { "1": { string: "from one node's wallet to another's" } };
      const payments = [{ address: to!.id, amount: lovelace(3n * ADA) }];
      const built = await client.construct(mine, { payments, metadata });
      const { transaction } = await client.sign(mine, built.transaction, PASSPHRASE);
      const { id } = await client.submit(mine, transaction);
      const landed = await until("the payment is in the ledger", async () => {
        const found = await client.transaction(mine, id);
        return found.status === "in_ledger" && found;
      });
      expect(landed.metadata).toEqual(metadata);
      const left = 47n * ADA - BigInt(landed.fee.quantity);
      await has(mine, left);
      await has(other, 3n * ADA);

      // the node's own answer
      const { value: outputs } = valueOf(await port.utxosByAddress([valueOf(parseAddress(to!.id)).hex]));
      expect(outputs.map(({ ref, output }) => [ref.txHash, output.value.lovelace])).toEqual([[id, 3n * ADA]]);

      // read again from the chain
      await client.delete(mine);
      expect(await create(words[0])).toBe(mine);
      await has(mine, left);
      expect((await client.transactions(mine)).map(({ direction }) => direction)).toEqual(["outgoing", "incoming"]);
    } finally {
      port.close();
      await arbor.end();
      await infra.stop();
    }
  });

  it("with its Blockfrost-like service answers queries, but serves no chain that could be followed", async () => {
    const port = blockfrostPort({ url: dingo.blockfrost, magic: DINGO_MAGIC, log: silentLog });
    try {
      expect(await port.check()).toMatchObject({
        ok: false,
        error: { code: "unusable", message: expect.stringContaining("/blocks/{hash}/next") },
      });
      expect((await port.network()).magic).toBe(DINGO_MAGIC);
      expect(valueOf(await port.tip()).height).toBeGreaterThan(0);
      const node = nodePort({ address: { path: dingo.path }, magic: DINGO_MAGIC, log: silentLog });
      try {
        const [here, there] = [valueOf(await port.parameters()).value, valueOf(await node.parameters()).value];
        expect([here.feePerByte, here.utxoCostPerByte, here.protocolVersion, here.costModels]).toEqual([
          there.feePerByte,
          there.utxoCostPerByte,
          there.protocolVersion,
          there.costModels,
        ]);
      } finally {
        node.close();
      }
      const anna = person("anna on Dingo");
      const txHash = await dingo.give(anna.enterprise, 5n * ADA);
      const paid = await until("the payment", async () => {
        const { value } = valueOf(await port.utxosByAddress([anna.enterprise]));
        return value.length > 0 && value;
      });
      expect(paid.map(({ ref, output }) => [ref, output.value.lovelace])).toEqual([[{ txHash, index: 0 }, 5n * ADA]]);
      expect(valueOf(await port.utxosByRef([{ txHash, index: 0 }])).value).toEqual(paid);
    } finally {
      port.close();
    }
  });
});
