/** The oracle of the explorer against the ledger: what it computes from the blocks alone adds up, and is what the devnet holds. */
import { expect, test } from "vitest";
import { Oracle } from "../../support/explorer/explorerOracle.ts";
import { ledgerOf } from "../../support/devnet/devnet.ts";
import { ExplorerChain } from "../../support/explorer/explorerChain.ts";

const sum = (amounts: Iterable<bigint>) => [...amounts].reduce((total, one) => total + one, 0n);

/** What the oracle does not keep of representatives, also in what a boundary has counted. */
const NOT_KEPT = ["anchor", "expiry"];

/** A ledger without that; entries of maps in one order. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) {
    const elements = value.map(comparable);
    const isMap = elements.every((one) => Array.isArray(one) && one.length === 2 && typeof one[0] === "string");
    return isMap ? (elements as [string, unknown][]).sort(([a], [b]) => a < b ? -1 : 1) : elements;
  }
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !NOT_KEPT.includes(name));
  return Object.fromEntries(kept.map(([name, one]) => [name, comparable(one)]));
}

test.each([1, 2])("chain %i", async (seed) => {
  const chain = await ExplorerChain.start(seed);
  for (let i = 0; i < 6; i++) {
    for (let j = 0; j < 20; j++) await chain.step();
    const oracle = new Oracle(chain.devnet.genesis, await chain.blocks(), chain.mempool());
    expect(oracle.tip).toMatchObject(chain.devnet.tip());
    expect(comparable(ledgerOf(oracle.state))).toEqual(comparable((await chain.devnet.query(ledgerOf))!));
    // all lovelace is in outputs, accounts and pots
    const lovelace = sum(oracle.unspent.map(({ output }) => output.value.lovelace));
    const balances = sum([...oracle.state.accounts.entries()].map(([, { balance }]) => balance));
    const { treasury, reserves, fees, deposits, donations } = oracle.state.pots;
    expect(lovelace + balances + treasury + reserves + fees + deposits + donations).toBe(
      chain.devnet.genesis.terms.maxSupply,
    );
    // what accounts hold are the rewards that were not withdrawn
    const withdrawn = sum(oracle.txs.flatMap(({ withdrawals }) => withdrawals.map(([, amount]) => amount)));
    expect(sum(oracle.rewards.map(({ amount }) => amount)) - withdrawn).toBe(balances);
    // what was minted is what there is
    const minted = new Map<string, bigint>(), there = new Map<string, bigint>();
    const put = (to: Map<string, bigint>) => ([unit, quantity]: readonly [string, bigint]) =>
      to.set(unit, (to.get(unit) ?? 0n) + quantity);
    for (const { mint } of oracle.txs) mint.forEach(put(minted));
    for (const { assets } of oracle.unspent) assets.forEach(put(there));
    for (const [unit, quantity] of minted) expect(there.get(unit) ?? 0n).toBe(quantity);
  }
  console.log(`chain ${seed}:`, JSON.stringify([...chain.accepted]), chain.rollbacks, [...chain.refused]);
  await chain.stop();
});
