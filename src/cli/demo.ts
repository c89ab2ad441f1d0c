/** The life of a token, step by step, against running services: `deno task start` in another terminal. */
import process from "node:process";
import { addressText } from "#src/cardano/address.ts";
import { newSeed, type SigningKey } from "#src/cardano/keys.ts";
import { ApiError, call } from "#src/client/http.ts";
import { signTransaction, TokenClient, type Unsigned } from "#src/client/tokens.ts";
import { addressOf } from "#src/cli/keyFile.ts";

if (process.argv.length > 2) {
  process.stdout.write(
    "Runs the life cycle of a token against running services. It has no options; set ARBOR_TOKENS_URL and ARBOR_DEVNET_URL to the services' URLs.\n",
  );
  process.exit(process.argv.includes("--help") || process.argv.includes("-h") ? 0 : 2);
}
const tokens = new TokenClient(process.env.ARBOR_TOKENS_URL ?? "http://127.0.0.1:3000");
const devnet = process.env.ARBOR_DEVNET_URL ?? "http://127.0.0.1:10000";

interface Person {
  readonly name: string;
  readonly key: SigningKey;
  readonly address: string;
}

function person(name: string): Person {
  const key = newSeed();
  return { name, key, address: addressText(addressOf(key)) };
}

/** Prints a step while it runs, then its duration and result. */
async function step<T>(title: string, work: () => Promise<T>, tell: (result: T) => string = () => ""): Promise<T> {
  const start = performance.now();
  if (process.stdout.isTTY) process.stdout.write(`… ${title}`);
  const result = await work();
  const said = tell(result);
  const seconds = ((performance.now() - start) / 1000).toFixed(1).padStart(5);
  process.stdout.write(`${process.stdout.isTTY ? "\r" : ""}✓ ${title.padEnd(44)} ${seconds} s  ${said}\n`);
  return result;
}

async function signed(who: Person, build: (address: string) => Promise<Unsigned>): Promise<string> {
  const { unsignedTransaction } = await build(who.address);
  return await tokens.submitAndWait(signTransaction(unsignedTransaction, who.key));
}

const short = (hash: string) => hash.slice(0, 12) + "…";

async function main(): Promise<void> {
  const [alice, bob] = [person("alice"), person("bob")];
  process.stdout.write(`alice owns the token   ${alice.address}\nbob requests changes   ${bob.address}\n\n`);

  await step("the faucet pays both", async () => {
    for (const { address } of [alice, bob]) {
      const paid = await call(devnet, "POST", "/faucet", { address, lovelace: 500_000_000 }) as { txHash: string };
      while (!(await tokens.transaction(paid.txHash))) await tokens.waitBlocks(1);
    }
  }, () => "500 ada each");

  const token = await step("alice boots a token", async () => {
    const built = await tokens.boot(alice.address);
    await tokens.submitAndWait(signTransaction(built.unsignedTransaction, alice.key));
    return built.value;
  }, short);

  const ask = (title: string, build: (address: string) => Promise<Unsigned>) =>
    step(title, async () => `${await signed(bob, build)}-0`, (request) => `request ${short(request)}`);
  const apply = (title: string, ...requests: string[]) =>
    step(title, async () => {
      await signed(alice, (address) => tokens.apply(address, token, requests));
      return await tokens.token(token);
    }, (now) => `root ${short(now.root)}`);
  const show = () => step("the facts", () => tokens.facts(token), (facts) => JSON.stringify(facts));

  const insert = await ask(
    "bob requests to insert planet = Earth",
    (at) => tokens.insert(at, token, "planet", "Earth"),
  );
  await apply("alice applies it", insert);
  await show();
  const update = await ask(
    "bob requests to update planet to Mars",
    (at) => tokens.update(at, token, "planet", "Earth", "Mars"),
  );
  await apply("alice applies it", update);
  await show();
  const mistake = await ask(
    "bob requests to insert moon, by mistake",
    (at) => tokens.insert(at, token, "moon", "cheese"),
  );
  await step("bob retracts that request", () => signed(bob, (at) => tokens.retract(at, mistake)), short);
  const remove = await ask("bob requests to delete planet", (at) => tokens.delete(at, token, "planet", "Mars"));
  await apply("alice applies it; the root is empty again", remove);
  await step("alice ends the token", () => signed(alice, (at) => tokens.end(at, token)), short);
  await step("its facts are no longer available", async () => {
    try {
      await tokens.facts(token);
    } catch (error) {
      if (error instanceof ApiError && error.code === "token_ended") return error.code;
      throw error;
    }
    throw new Error("the facts of an ended token are still available");
  }, (code) => `404 ${code}`);
}

try {
  await main();
} catch (error) {
  process.stdout.write("\n");
  if (!(error instanceof ApiError)) throw error;
  process.stderr.write(`${error.message} (${error.code})\n`);
  if (error.status === 0) process.stderr.write("Is `deno task start` running in another terminal?\n");
  process.exitCode = 1;
}
