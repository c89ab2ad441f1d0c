/** What every library does on the devnet, in order, with one wallet. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toHex, utf8 } from "#src/base/bytes.ts";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { hash256 } from "#src/cardano/hash.ts";
import { created, spent } from "#src/cardano/block.ts";
import { until } from "../support/base/until.ts";
import {
  type Language,
  type LibraryWorld,
  metadataOf,
  type Peer,
  type PeerCommand,
  policy,
  REDEEMER,
  startPeer,
  startWorld,
  validator,
  WORDS,
} from "./library.ts";

const ada = 1_000_000;
const DATUM = 7;
/** Hash of the datum 7. */
const DATUM_HASH = hash256(Uint8Array.of(DATUM));
const LANGUAGES: readonly Language[] = [1, 2, 3];

/** A scenario by its name. */
export type Scenario =
  | "parameters"
  | "UTxOs"
  | "payment"
  | "metadata"
  | "native mint and burn"
  | "holder of an asset"
  | `Plutus V${Language} spend`
  | `Plutus V${Language} mint`
  | "reference script"
  | "stake registration"
  | "delegation"
  | "DRep delegation"
  | "withdrawal"
  | "account"
  | "transaction";

/** A scenario that the library itself cannot do, and its message that proves it. */
export interface Fault {
  readonly because: string;
  readonly error: RegExp;
}

export interface Library {
  readonly name: string;
  /** Undefined: it could not be installed. */
  readonly command: PeerCommand | undefined;
  /** Options of the devnet, as environment variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** What its process is given beside the words of the wallet. */
  settings(world: LibraryWorld): Record<string, unknown> | Promise<Record<string, unknown>>;
  /** Arguments that a scenario needs with this library only. */
  readonly args?: Partial<Record<Scenario, object>>;
  readonly faults?: Partial<Record<Scenario, Fault>>;
  /** Scenarios for which the library has no function. */
  readonly lacks?: readonly Scenario[];
  /** Tests of its own, after the others. */
  more?(of: { peer: () => Peer; world: () => LibraryWorld }): void;
}

/** Describes a library: each scenario is a test. */
export function describeLibrary(
  { name, command, env, settings, args = {}, faults = {}, lacks = [], more }: Library,
): void {
  describe.skipIf(command === undefined)(name, () => {
    let world: LibraryWorld;
    let peer: Peer;
    let address: string;
    let reward: string;

    beforeAll(async () => {
      world = await startWorld(env);
      peer = startPeer(command!, { words: WORDS, ...await settings(world) });
      ({ address, reward } = await peer.call<{ address: string; reward: string }>("address"));
      // one coin to spend and one for collateral
      for (const amount of [10_000, 100]) await world.fund(address, amount);
    });
    afterAll(async () => {
      await peer?.stop();
      await world?.stop();
    });

    /** The library makes and submits a transaction; returns it as it is in its block. */
    const sent = async (call: string, args: unknown = {}): Promise<ScannedTransaction> => {
      const transaction = await world.landed(await peer.call<string>(call, args));
      expect(transaction.valid).toBe(true);
      return transaction;
    };
    const scenario = (what: Scenario, run: () => Promise<void>) => {
      if (lacks.includes(what)) return test.skip(`${what}: the library has no function for it`, run);
      const fault = faults[what];
      if (fault === undefined) return test(what, run);
      test(`${what}: not with this library, ${fault.because}`, async () => {
        await expect(run()).rejects.toThrow(fault.error);
      });
    };
    const assets = async () =>
      (await world.outputs(address)).reduce<Record<string, bigint>>((sum, { output: { value } }) => {
        for (const [asset, quantity] of value.assets) sum[asset] = (sum[asset] ?? 0n) + quantity;
        return sum;
      }, {});
    /** The output of a transaction at an address. */
    const at = (transaction: ScannedTransaction, hex: string) => {
      const found = created(transaction).find(({ output }) => output.address === hex);
      expect(found).toBeDefined();
      return found!;
    };
    const hexOf = (script: { hash: string }) => `70${script.hash}`;
    const spends = (transaction: ScannedTransaction, ref: { txHash: string; index: number }) =>
      expect(spent(transaction)).toContainEqual(ref);

    scenario("parameters", async () => {
      expect(await peer.call("parameters")).toEqual({
        minFeeA: 44,
        minFeeB: 155_381,
        coinsPerUtxoByte: 4_310,
        keyDeposit: 2 * ada,
        maxTxExMem: "16500000",
      });
    });

    scenario("UTxOs", async () => {
      interface Coin {
        readonly txHash: string;
      }
      const sorted = (of: readonly Coin[]) => of.toSorted((a, b) => a.txHash < b.txHash ? -1 : 1);
      const mine = (await world.outputs(address)).map(({ ref: { txHash, index }, output }) => ({
        txHash,
        index,
        lovelace: String(output.value.lovelace),
      }));
      expect(mine).toHaveLength(2);
      expect(sorted(await peer.call<Coin[]>("utxos"))).toEqual(sorted(mine));
    });

    scenario("payment", async () => {
      const to = world.fresh();
      await sent("pay", { to, amount: 3 * ada });
      expect((await world.outputs(to)).map(({ output }) => output.value.lovelace)).toEqual([3_000_000n]);
    });

    scenario("metadata", async () => {
      const label = 674;
      const text = "Greetings from a library";
      const transaction = await sent("payWithMetadata", { to: world.fresh(), amount: 2 * ada, label, text });
      expect(metadataOf(transaction, label)).toContain(toHex(utf8(text)));
      const shown = await (await fetch(`${world.api}/v0/txs/${transaction.hash}/metadata`)).json();
      expect(shown).toEqual([{ label: String(label), json_metadata: { msg: [text] } }]);
    });

    scenario("native mint and burn", async () => {
      await sent("mint", { quantity: 1_000 });
      const [unit] = Object.keys(await assets());
      expect(await assets()).toEqual({ [unit!]: 1_000n });
      await sent("mint", { quantity: -400 });
      expect(await assets()).toEqual({ [unit!]: 600n });
    });

    scenario("holder of an asset", async () => {
      const [unit] = Object.keys(await assets());
      expect(await peer.call("holder", { unit })).toBe(address);
    });

    for (const language of LANGUAGES) {
      // Plutus V1 has no datums in outputs
      const inline = language > 1;

      scenario(`Plutus V${language} spend`, async () => {
        const { script, ...rest } = validator(language);
        const of = { language, script };
        const locking = await sent("lock", { ...of, amount: 5 * ada, datum: DATUM, datumHash: DATUM_HASH, inline });
        const { ref, output } = at(locking, hexOf(rest));
        expect(output.value.lovelace).toBe(5_000_000n);
        expect({ datum: output.datum, datumHash: output.datumHash }).toEqual(
          inline ? { datum: Uint8Array.of(DATUM), datumHash: undefined } : { datum: undefined, datumHash: DATUM_HASH },
        );
        const spending = { ...of, ref, datum: DATUM, inline };
        await expect(peer.call("spend", { ...spending, redeemer: REDEEMER - 1 })).rejects.toThrow();
        spends(await sent("spend", { ...spending, redeemer: REDEEMER }), ref);
        expect(await world.outputs(rest.address)).toEqual([]);
      });

      scenario(`Plutus V${language} mint`, async () => {
        const { script, hash } = policy(language);
        const minting = { language, script, redeemer: REDEEMER };
        await expect(peer.call("mintByScript", { ...minting, quantity: 5, redeemer: REDEEMER - 1 })).rejects.toThrow();
        await sent("mintByScript", { ...minting, quantity: 5 });
        const unit = Object.keys(await assets()).find((one) => one.startsWith(hash))!;
        expect((await assets())[unit]).toBe(5n);
        await sent("mintByScript", { ...minting, quantity: -5 });
        expect(await assets()).not.toHaveProperty([unit]);
      });
    }

    scenario("reference script", async () => {
      for (const language of [2, 3] as const) {
        const { script, hash } = validator(language);
        const of = { language, script };
        const holder = world.fresh();
        const publishing = await sent("publish", { ...of, to: holder, amount: 20 * ada });
        const { ref: published } = created(publishing).find(({ output }) => output.script !== undefined)!;
        const { ref } = at(
          await sent("lock", { ...of, amount: 4 * ada, datum: DATUM, inline: true }),
          hexOf({ hash }),
        );
        const unlocking = await sent("spendByReference", { ...of, ref, published, holder, redeemer: REDEEMER });
        spends(unlocking, ref);
        expect(unlocking.references).toContainEqual(published);
        expect(toHex(unlocking.witnesses)).not.toContain(script);
      }
    });

    scenario("stake registration", async () => {
      expect(await world.account(reward)).toMatchObject({ registered: false });
      await sent("register");
      expect(await world.account(reward)).toMatchObject({ registered: true, deposit: 2 * ada });
    });

    scenario("delegation", async () => {
      const { id } = await world.pool();
      await sent("delegate", { pool: id });
      expect(await world.account(reward)).toMatchObject({ pool: id });
    });

    scenario("DRep delegation", async () => {
      const { certificates } = await sent("vote", args["DRep delegation"]);
      expect(certificates).toMatchObject([{ kind: "delegate", to: { drep: { kind: "abstain" } } }]);
    });

    scenario("withdrawal", async () => {
      const rewards = async () => BigInt((await world.account(reward)).rewards as number);
      // stake counts from the next epoch, and its first rewards are paid three epochs later
      await world.enterEpochs(4);
      expect(await rewards()).toBeGreaterThan(0n);
      // the rewards of another epoch may come meanwhile
      const withdrawal = await until("a withdrawal of all rewards", async () => {
        const amount = await rewards();
        try {
          return { amount, transaction: await sent("withdraw", { amount: Number(amount) }) };
        } catch (error) {
          if (await rewards() === amount) throw error;
        }
      });
      expect([...withdrawal.transaction.withdrawals.values()]).toEqual([withdrawal.amount]);
    });

    scenario("account", async () => {
      const { id } = await world.pool();
      expect(await peer.call("account")).toMatchObject({ active: true, pool: id });
    });

    scenario("transaction", async () => {
      const paying = await sent("pay", { to: world.fresh(), amount: 2 * ada });
      expect(await peer.call("transaction", { txHash: paying.hash })).toMatchObject({
        hash: paying.hash,
        fee: String(paying.fee),
      });
    });

    more?.({ peer: () => peer, world: () => world });
  });
}
