/** Short programs in `examples`, as processes against a running service; the others have files of their own here. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { decode } from "#src/cardano/cbor.ts";
import { readOutput } from "#src/cardano/output.ts";
import { ChainClient } from "#src/client/chain.ts";
import { TokenClient } from "#src/client/tokens.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { runCli } from "../../support/cli/arborCli.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { until } from "../../support/base/until.ts";
import { onDeno, Running } from "./running.ts";

let infra: Awaited<ReturnType<typeof sharedInfra>>;
let arbor: Arbor;
let folder: string;
const running = new Running();
const file = (name: string) => path.join(folder, name);

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "arbor-examples-"));
  infra = await sharedInfra();
  arbor = await Arbor.start({ infra });
});
afterAll(async () => {
  await running.end();
  await arbor?.end();
  await infra?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const cli = async (...args: string[]) => {
  const env = { ARBOR_TOKENS_URL: arbor.tokens, ARBOR_DEVNET_URL: arbor.devnet };
  const { code, stdout, stderr } = await runCli(args, { env });
  expect([code, stderr]).toEqual([0, ""]);
  return stdout.trim();
};

it("natsSubscriber.ts follows the facts of a token", async () => {
  // a guest: without the token of the service
  const { printed } = running.start(onDeno("natsSubscriber.ts"), { NATS_URL: infra.natsUrl });
  await until("the subscription", async () => printed().includes("subscribed"));

  await cli("key", "new", file("owner.key"));
  await cli("devnet", "fund", file("owner.key"), "500", "--wait");
  const token = await cli("token", "boot", file("owner.key"));
  await cli("token", "insert", file("owner.key"), token, "planet", "Earth");
  await cli("token", "apply", file("owner.key"), token);
  await until("the update", async () => printed().includes('"transition":"updated"'));
  const lines = printed().trim().split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
  expect(lines.at(-1)).toEqual({
    ...{ token, transition: "updated", status: "live" },
    ...{ facts: [["planet", "Earth"]], verified: true },
  });
});

it("blazeMint.ts mints an asset; blazeFact.ts requests a fact, which the owner applies", async () => {
  await cli("key", "new", file("blaze.key"));
  await cli("devnet", "fund", file("blaze.key"), "500", "--wait");
  const blaze = (name: string, ...args: string[]) =>
    runCli(args, { command: onDeno(name), env: { ARBOR_TOKENS_URL: arbor.tokens } });
  const minted = await blaze("blazeMint.ts", file("blaze.key"), "Earth", "42");
  const asset = /^([0-9a-f]{56}4561727468) [0-9a-f]{64}\n$/.exec(minted.stdout)?.[1];
  expect(asset, minted.stderr).toBeDefined();
  const address = await cli("address", file("blaze.key"));
  const { outputs } = await new ChainClient(arbor.tokens).outputs(address, { asset: asset! });
  expect(outputs).toHaveLength(1);
  expect(readOutput(decode(fromHex(outputs[0]!.cbor))).value.assets).toEqual(new Map([[asset, 42n]]));

  const token = await cli("token", "boot", file("blaze.key"));
  const requested = await blaze("blazeFact.ts", file("blaze.key"), token, "planet", "Mars");
  expect(requested.stdout, requested.stderr).toMatch(/^[0-9a-f]{64}-0\n$/);
  await cli("token", "apply", file("blaze.key"), token, requested.stdout.trim());
  expect(await new TokenClient(arbor.tokens).facts(token)).toEqual({ planet: "Mars" });
  expect(await blaze("blazeMint.ts", file("blaze.key"))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("usage"),
  });
});
