/**
 * Benchmark of the devnet's Blockfrost API, over HTTP on loopback: questions about an address with one output and about
 * one with 10,000, and about transactions, one request after the other; scripts that are evaluated; payments from their
 * submission until they are found in a block, which is made at once.
 */
import { measureIn } from "#src/plutus/jobs.ts";
import { silentLog } from "#src/base/log.ts";
import { toHex } from "#src/base/bytes.ts";
import { textOfAddress } from "#src/devnet/serve/blockfrost/documents.ts";
import { readUtxosByAddress } from "#src/devnet/blocks/rows.ts";
import { blockfrostApp } from "#src/devnet/serve/blockfrost/app.ts";
import { serve } from "#src/http/serve.ts";
import { spend } from "../support/devnet/devnet.ts";
import { minting } from "../support/ledger/minting.ts";
import { agrees, agreesWithTwo } from "../support/plutus/scripts.ts";
import { person } from "../support/wallets/person.ts";
import { percentile, table } from "./machine.ts";
import { startBenchDevnet } from "./benchDevnet.ts";

const OUTPUTS = 10_000;
/** As many as fit into a transaction. */
const AT_ONCE = 200;
const REQUESTS = 300;
const [alice, bob] = [person("alice"), person("bob")];

/** Prints the table. */
export async function benchBlockfrost(): Promise<void> {
  const { devnet, store, builders, stop } = await startBenchDevnet();
  const measure = measureIn(builders);
  const count = OUTPUTS / AT_ONCE;
  for (let i = 0; i < count; i++) await devnet.faucet.pay(alice.enterprise, 1_000_000_000n);
  await devnet.faucet.pay(bob.base, 5_000_000n);
  while (devnet.mempool().length > 0) await devnet.makeBlock();
  let last = "";
  for (const coin of (await readUtxosByAddress(store.sql, [alice.enterprise])).value) {
    const outputs = Array.from({ length: AT_ONCE }, () => [alice.base, 2_000_000n] as const);
    const payment = spend({
      from: alice,
      inputs: [coin],
      outputs: [...outputs, [alice.enterprise, 1_000_000_000n - 2_000_000n * BigInt(AT_ONCE) - 1_000_000n]],
    });
    const said = await devnet.submit(payment.cbor);
    if (!said.ok || said.value.outcome !== "accepted") throw new Error("a transaction was not accepted");
    last = payment.hash;
  }
  while (devnet.mempool().length > 0) await devnet.makeBlock();
  await store.sql`analyze`;

  const listener = await serve(blockfrostApp({ devnet, store, measure, log: silentLog }), {
    host: "127.0.0.1",
    port: 0,
  });
  const url = `http://127.0.0.1:${listener.port}/api/v1`;
  const [few, many] = [bob, alice].map(({ base }) => textOfAddress(base));
  const questions: Readonly<Record<string, string>> = {
    "unspent outputs of an address with 1": `/addresses/${few}/utxos`,
    "100 unspent outputs of an address with 10,000": `/addresses/${many}/utxos`,
    "the last 100 of the same, by page": `/addresses/${many}/utxos?page=100`,
    "the newest 100 of the same": `/addresses/${many}/utxos?order=desc`,
    "balance of an address with 10,000": `/addresses/${many}`,
    "inputs and 201 outputs of a transaction": `/txs/${last}/utxos`,
    "a transaction": `/txs/${last}`,
    "the newest block": "/blocks/latest",
  };
  const rows: [string, string, string][] = [];
  /** Times a request again and again. */
  const time = async (name: string, request: () => Promise<Response>, settled = async (_: string) => {}) => {
    const times: number[] = [];
    for (let i = -20; i < REQUESTS; i++) {
      const begun = performance.now();
      const response = await request();
      const text = await response.text();
      if (!response.ok) throw new Error(`${name}: ${response.status} ${text}`);
      await settled(text);
      if (i >= 0) times.push(performance.now() - begun);
    }
    rows.push([name, percentile(times, 0.5).toFixed(1), percentile(times, 0.99).toFixed(1)]);
  };
  for (const [name, path] of Object.entries(questions)) await time(name, () => fetch(url + path));

  const [coin] = (await readUtxosByAddress(store.sql, [bob.base])).value;
  if (!coin) throw new Error("there is no output to mint with");
  const scripts = [agreesWithTwo, agreesWithTwo, agrees];
  const body = toHex(minting({ input: coin.ref, lovelace: coin.output.value.lovelace, scripts }));
  const headers = { "content-type": "application/cbor" };
  await time(
    "three scripts of Plutus V1, V2 and V3 evaluated",
    () => fetch(`${url}/utils/txs/evaluate`, { method: "POST", body, headers }),
  );
  let inputs = [coin];
  await devnet.faucet.pay(bob.base, 1_000_000_000n);
  await devnet.makeBlock();
  inputs = (await readUtxosByAddress(store.sql, [bob.base])).value.slice(-1);
  await time(
    "a payment submitted, and found in its block",
    () => {
      const left = inputs.reduce((sum, { output }) => sum + output.value.lovelace, 0n) - 200_000n;
      const made = spend({ from: bob, inputs, outputs: [[bob.base, left]] });
      inputs = [...made.created];
      return fetch(`${url}/tx/submit`, { method: "POST", body: made.cbor as Uint8Array<ArrayBuffer>, headers });
    },
    async (hash) => {
      await devnet.makeBlock();
      const found = await fetch(`${url}/txs/${JSON.parse(hash)}`);
      if (!found.ok) throw new Error(`the payment is not found: ${found.status}`);
      await found.text();
    },
  );
  for (const line of table(["request", "p50, ms", "p99, ms"], rows)) console.log(line);
  await listener.stop();
  await stop();
}
