/** `examples/depositWatcher.ts` as a process on Node and on Deno, through rollbacks and kills. */
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { DevnetClient } from "#src/client/devnet.ts";
import { WalletClient } from "#src/client/wallets.ts";
import { until } from "../../support/base/until.ts";
import { runCli } from "../../support/cli/arborCli.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { onDeno, onNode, Running } from "./running.ts";

interface Deposit {
  readonly output: string;
  readonly address: string;
  readonly lovelace: number;
  readonly confirmations: number;
}

let infra: Infra;
let arbor: Arbor;
let folder: string;
let node: readonly string[];
const running = new Running();
const file = (name: string) => path.join(folder, name);

/** What the receiver does with its next request; undefined: acknowledge. */
let fault: (() => Promise<"refuse" | "drop">) | undefined;
/** Keys of all requests, and deposits by their key, as a receiver that drops repeated keys has them. */
const keys: string[] = [];
const credits = new Map<string, Deposit>();
const receiver = createServer(async (request, response) => {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  const key = String(request.headers["idempotency-key"]);
  keys.push(key);
  const next = fault;
  fault = undefined;
  const done = await next?.();
  if (done === "refuse") return void response.writeHead(503).end();
  credits.set(key, credits.get(key) ?? JSON.parse(text));
  // the deposit is received, and its sender does not learn that
  if (done === "drop") return void response.destroy();
  response.writeHead(204).end();
});

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "arbor-deposits-"));
  infra = await sharedInfra();
  [arbor, node] = await Promise.all([Arbor.start({ infra, blockMs: 0 }), onNode("depositWatcher.ts", folder)]);
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  await running.end();
  receiver.closeAllConnections();
  receiver.close();
  await arbor?.end();
  await infra?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const webhook = () => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/deposits`;
const environment = () => ({ ARBOR_WALLETS_URL: arbor.wallets, CONFIRMATIONS: "3" });

it("credits each deposit once when it is deep enough, through rollbacks and kills", async () => {
  const devnet = new DevnetClient(arbor.devnet);
  const wallets = new WalletClient(arbor.wallets);
  const { id: wallet } = await wallets.create({
    ...{ name: "exchange", mnemonic_sentence: newMnemonic(15), passphrase: "correct horse battery" },
  });
  const [first, second, third] = (await wallets.addresses(wallet)).map(({ id }) => id);
  const args = [wallet, webhook(), file("credited.json")];
  const state = () => JSON.parse(readFileSync(file("credited.json"), "utf8"));
  /** Pays an address, with a block that has the payment and some above it; gives the transaction's hash. */
  const pay = async (address: string, ada: bigint, above: number) => {
    const hash = await devnet.fund(address, ada * 1_000_000n);
    await devnet.blocks(1 + above);
    await until(
      "the payment is known",
      async () =>
        (await wallets.transactions(wallet)).find(({ id, depth }) => id === hash && depth?.quantity === above),
    );
    return hash;
  };

  let watcher = running.start([...node, ...args], environment());
  // two blocks are too few; then the deposit is gone with its block
  await pay(first!, 5n, 2);
  await devnet.rollback({ blocks: 3 }, { drop: true });
  // the webhook refuses the first attempt; at the second the watcher is killed before it gets the answer
  fault = () => {
    fault = async () => {
      await watcher.kill();
      return "drop";
    };
    return Promise.resolve("refuse");
  };
  const paid = await pay(second!, 7n, 3);
  await once(watcher.child, "close");
  expect(keys).toEqual([`${paid}#0`, `${paid}#0`].map(() => expect.stringMatching(new RegExp(`^${paid}#\\d$`))));

  // while it was away, another deposit became deep enough, and one is not yet
  const later = await pay(third!, 11n, 3);
  const young = await pay(first!, 13n, 0);
  watcher = running.start([...onDeno("depositWatcher.ts"), ...args], environment());
  await until("both are credited", async () => watcher.printed().match(/^credited/gm)?.length === 2);
  expect(keys).toHaveLength(4);
  expect(keys[2]).toBe(keys[1]);
  await devnet.blocks(3);
  await until("the last is credited", async () => watcher.printed().match(/^credited/gm)?.length === 3);
  expect([...credits].map(([key, { address, lovelace }]) => [key.split("#")[0], address, lovelace])).toEqual([
    [paid, second, 7_000_000],
    [later, third, 11_000_000],
    [young, first, 13_000_000],
  ]);
  expect(state()).toEqual([...credits.keys()]);
  for (const { confirmations } of credits.values()) expect(confirmations).toBeGreaterThanOrEqual(3);

  // a rollback deeper than the confirmations takes the last one away
  await devnet.rollback({ blocks: 4 }, { drop: true });
  await devnet.blocks(1);
  await until("the alarm", async () => watcher.printed().includes(`ALARM: ${young}`));
  expect(watcher.printed()).not.toContain(`ALARM: ${paid}`);
  expect(keys).toHaveLength(5);
});

it("waits for a service that is away, and ends with a sentence at nonsense", async () => {
  const wallet = "00".repeat(20);
  const args = [wallet, webhook(), file("none.json")];
  const away = running.start([...node, ...args], { ...environment(), ARBOR_WALLETS_URL: "http://127.0.0.1:9/v2" });
  await until("it tries again", async () => (away.printed().match(/No complete response/g)?.length ?? 0) > 2);
  expect(away.child.exitCode).toBeNull();
  await away.kill();

  const ends = async (of: readonly string[], env = environment()) => {
    const { code, stdout, stderr } = await runCli(of, { command: node, env });
    expect([stdout, stderr.split("\n").length]).toEqual(["", 2]);
    return [code, stderr];
  };
  const usage = [2, expect.stringMatching(/^usage/)];
  expect(await ends([wallet])).toEqual(usage);
  expect(await ends([wallet, "nowhere", file("none.json")])).toEqual(usage);
  expect(await ends(args, { ...environment(), CONFIRMATIONS: "some" })).toEqual(usage);
  expect(await ends(args)).toEqual([1, expect.stringContaining(wallet)]);
  writeFileSync(file("torn.json"), '["ab');
  expect(await ends([wallet, webhook(), file("torn.json")])).toEqual([2, expect.stringMatching(/not a state file/)]);
});
