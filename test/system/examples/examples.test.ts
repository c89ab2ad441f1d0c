/** The programs in `examples`, as processes against a running service. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { decode } from "#src/cardano/cbor.ts";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { readOutput } from "#src/cardano/output.ts";
import { ChainClient } from "#src/client/chain.ts";
import { DevnetClient } from "#src/client/devnet.ts";
import { TokenClient } from "#src/client/tokens.ts";
import { WalletClient } from "#src/client/wallets.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { endChild } from "../../support/base/processes.ts";
import { runCli } from "../../support/cli/arborCli.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { until } from "../../support/base/until.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const example = (name: string) => [process.execPath, "run", "-A", "--quiet", path.join(root, "examples", name)];

let infra: Awaited<ReturnType<typeof sharedInfra>>;
let arbor: Arbor;
let folder: string;
const children: ChildProcess[] = [];
const file = (name: string) => path.join(folder, name);

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "arbor-examples-"));
  infra = await sharedInfra();
  arbor = await Arbor.start({ infra });
});
afterAll(async () => {
  for (const child of children) await endChild(child, "SIGTERM");
  await arbor?.end();
  await infra?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts an example that runs until it is ended; gives what it has printed so far. */
function start(name: string, args: readonly string[], env: Readonly<Record<string, string>>): () => string {
  const [program, ...first] = example(name);
  const child = spawn(program!, [...first, ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.push(child);
  let text = "";
  for (const stream of [child.stdout!, child.stderr!]) stream.on("data", (chunk) => text += chunk);
  return () => text;
}

const cli = async (...args: string[]) => {
  const env = { ARBOR_TOKENS_URL: arbor.tokens, ARBOR_DEVNET_URL: arbor.devnet };
  const { code, stdout, stderr } = await runCli(args, { env });
  expect([code, stderr]).toEqual([0, ""]);
  return stdout.trim();
};

it("notary.ts records a document and checks it; nats-subscriber.ts follows its token", async () => {
  // a guest: without the token of the service
  const printed = start("nats-subscriber.ts", [], { NATS_URL: infra.natsUrl });
  await until("the subscription", async () => printed().includes("subscribed"));

  await cli("key", "new", file("notary.key"));
  await cli("devnet", "fund", file("notary.key"), "500", "--wait");
  writeFileSync(file("contract.txt"), "the party of the first part");
  writeFileSync(file("other.txt"), "another document");
  const notary = (...args: string[]) =>
    runCli(args, { command: example("notary.ts"), env: { ARBOR_TOKENS_URL: arbor.tokens } });

  const token = (await notary("open", file("notary.key"))).stdout.trim();
  expect(token).toMatch(/^[0-9a-f]{64}$/);
  const recorded = await notary("record", file("notary.key"), token, file("contract.txt"));
  const foundRoot = /^recorded; the root is ([0-9a-f]{64})\n$/.exec(recorded.stdout)?.[1];
  expect(foundRoot, recorded.stderr).toBeDefined();
  const trusted = foundRoot!;
  expect((await notary("check", token, trusted, file("contract.txt"))).stdout).toMatch(/^recorded at 20\d\d-/);
  expect((await notary("check", token, trusted, file("other.txt"))).stdout).toBe("not recorded\n");
  expect(await notary("check", token, "00".repeat(32), file("contract.txt"))).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining("proves nothing"),
  });
  expect(await notary("steal")).toMatchObject({ code: 1, stderr: expect.stringContaining("usage") });

  await until("the update", async () => printed().includes('"transition":"updated"'));
  const lines = printed().trim().split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
  expect(lines.at(-1)).toMatchObject({
    token,
    transition: "updated",
    status: "live",
    facts: [[expect.stringMatching(/^[0-9a-f]{64}$/), expect.stringMatching(/^20\d\d-/)]],
    verified: true,
  });
});

it("blaze-mint.ts mints an asset; blaze-fact.ts requests a fact, which the owner applies", async () => {
  await cli("key", "new", file("blaze.key"));
  await cli("devnet", "fund", file("blaze.key"), "500", "--wait");
  const blaze = (name: string, ...args: string[]) =>
    runCli(args, { command: example(name), env: { ARBOR_TOKENS_URL: arbor.tokens } });
  const minted = await blaze("blaze-mint.ts", file("blaze.key"), "Earth", "42");
  const asset = /^([0-9a-f]{56}4561727468) [0-9a-f]{64}\n$/.exec(minted.stdout)?.[1];
  expect(asset, minted.stderr).toBeDefined();
  const address = await cli("address", file("blaze.key"));
  const { outputs } = await new ChainClient(arbor.tokens).outputs(address, { asset: asset! });
  expect(outputs).toHaveLength(1);
  expect(readOutput(decode(fromHex(outputs[0]!.cbor))).value.assets).toEqual(new Map([[asset, 42n]]));

  const token = await cli("token", "boot", file("blaze.key"));
  const requested = await blaze("blaze-fact.ts", file("blaze.key"), token, "planet", "Mars");
  expect(requested.stdout, requested.stderr).toMatch(/^[0-9a-f]{64}-0\n$/);
  await cli("token", "apply", file("blaze.key"), token, requested.stdout.trim());
  expect(await new TokenClient(arbor.tokens).facts(token)).toEqual({ planet: "Mars" });
  expect(await blaze("blaze-mint.ts", file("blaze.key"))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("usage"),
  });
});

it("deposit-watcher.ts posts each deposit once, when it is deep enough, also after a restart", async () => {
  const posts: { key: string; body: { address: string; lovelace: number; confirmations: number } }[] = [];
  let refused = 0;
  const receiver = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (chunk: string) => text += chunk).on("end", () => {
      // the first delivery fails
      if (refused === 0) {
        refused++;
        response.writeHead(503).end();
        return;
      }
      posts.push({ key: String(request.headers["idempotency-key"]), body: JSON.parse(text) });
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const webhook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/deposits`;

  const wallets = new WalletClient(arbor.wallets);
  const wallet = await wallets.create({
    name: "exchange",
    mnemonic_sentence: newMnemonic(15),
    passphrase: "correct horse battery",
  });
  const [first, second] = (await wallets.addresses(wallet.id)).map(({ id }) => id);
  const env = { ARBOR_WALLETS_URL: arbor.wallets, CONFIRMATIONS: "3" };
  const args = [wallet.id, webhook, file("credited.json")];
  const devnet = new DevnetClient(arbor.devnet);

  const printed = start("deposit-watcher.ts", args, env);
  const paid = await devnet.fund(first!, 5_000_000n);
  await until("the first deposit", async () => posts.length === 1 && printed().includes("credited"));
  expect(refused).toBe(1);
  expect(posts[0]).toMatchObject({
    key: expect.stringMatching(new RegExp(`^${paid}#\\d+$`)),
    body: { address: first, lovelace: 5_000_000 },
  });
  expect(posts[0]!.body.confirmations).toBeGreaterThanOrEqual(3);

  await endChild(children.pop()!, "SIGTERM");
  const later = await devnet.fund(second!, 7_000_000n);
  start("deposit-watcher.ts", args, env);
  await until("the second deposit", async () => posts.length >= 2);
  expect(posts.map(({ key }) => key.split("#")[0])).toEqual([paid, later]);
  await until("the state", async () => JSON.parse(readFileSync(file("credited.json"), "utf8")).length === 2);
  receiver.closeAllConnections();
  await new Promise((resolve) => receiver.close(resolve));
});
