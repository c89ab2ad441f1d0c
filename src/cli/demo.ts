/** `arbor demo`: makes a token with facts, step by step, and leaves it on the devnet. */
import process from "node:process";
import { elementAt } from "#src/base/present.ts";
import { addressText } from "#src/cardano/address.ts";
import { newSeed, type SigningKey } from "#src/cardano/keys/signingKey.ts";
import type { DevnetClient } from "#src/client/devnet.ts";
import { verifyFact } from "#src/client/proofs.ts";
import { type Checked, signTransaction, type TokenClient, type Unsigned } from "#src/client/tokens.ts";
import { addressOf } from "#src/cli/keyFile.ts";

interface Person {
  readonly key: SigningKey;
  readonly address: string;
}

function newPerson(): Person {
  const key = newSeed();
  return { key, address: addressText(addressOf(key)) };
}

/** Prints a step while it runs, then its duration and result. */
async function step<T>(title: string, work: () => Promise<T>, describe: (result: T) => string = () => ""): Promise<T> {
  const start = performance.now();
  if (process.stdout.isTTY) process.stdout.write(`… ${title}`);
  const result = await work();
  const seconds = ((performance.now() - start) / 1000).toFixed(1).padStart(5);
  process.stdout.write(`${process.stdout.isTTY ? "\r" : ""}✓ ${title.padEnd(48)} ${seconds} s  ${describe(result)}\n`);
  return result;
}

/** Builds and checks a transaction for a person, signs and submits it; gives its hash once the ledger has it. */
async function transact(
  tokens: TokenClient,
  person: Person,
  build: (address: string) => Promise<Checked<Unsigned>>,
): Promise<string> {
  const { checked } = await build(person.address);
  return await tokens.submitAndWait(signTransaction(checked, person.key));
}

/** Requests that one block is to apply, and requests of each update: several small ones need fewer steps than one. */
const [MANY, EACH] = [100, 25];

/** Builds, signs and submits without waiting for a block; gives the transaction's hash. */
async function send(
  tokens: TokenClient,
  person: Person,
  build: (address: string) => Promise<Checked<Unsigned>>,
): Promise<string> {
  const { checked } = await build(person.address);
  return await tokens.submit(signTransaction(checked, person.key));
}

/** The height of the block that holds a transaction, once one does. */
async function heightOf(tokens: TokenClient, hash: string): Promise<number> {
  for (;;) {
    const found = await tokens.transaction(hash, { waitMs: 10_000 });
    if (found) return found.blockHeight;
  }
}

/**
 * Many requests, and updates that follow each other without waiting for a block. They begin just after a block, so that the
 * next one applies them all, unless the machine is slow.
 */
async function applyMany(tokens: TokenClient, owner: Person, requester: Person, token: string): Promise<void> {
  const requests = await step(`bob makes ${MANY} requests`, async () => {
    const hashes: string[] = [];
    for (let i = 1; i <= MANY; i++) {
      hashes.push(await send(tokens, requester, (at) => tokens.insert(at, token, `star ${i}`, "seen")));
    }
    await heightOf(tokens, elementAt(hashes, MANY - 1));
    return hashes.map((hash) => `${hash}-0`);
  }, () => "each on the change of the one before");
  await step(`alice applies them by ${MANY / EACH} updates`, async () => {
    await tokens.waitBlocks(1);
    const hashes: string[] = [];
    for (let at = 0; at < MANY; at += EACH) {
      hashes.push(await send(tokens, owner, (address) => tokens.apply(address, token, requests.slice(at, at + EACH))));
    }
    return new Set(await Promise.all(hashes.map((hash) => heightOf(tokens, hash))));
  }, (blocks) => blocks.size === 1 ? `all in block ${[...blocks].join()}` : `in ${blocks.size} blocks`);
}

const short = (hash: string) => hash.slice(0, 12) + "…";

/**
 * Makes the token, and prints each step with its duration. `operator` is the URL of the operator service, for the reader.
 *
 * @throws {ApiError} where a service refuses or does not respond.
 */
export async function demo(tokens: TokenClient, devnet: DevnetClient, operator: string): Promise<void> {
  const [alice, bob] = [newPerson(), newPerson()];
  process.stdout.write(`alice owns the token   ${alice.address}\nbob requests changes   ${bob.address}\n\n`);

  await step("the faucet pays both", async () => {
    for (const { address } of [alice, bob]) {
      const paid = await devnet.fund(address, 500_000_000n);
      while (!(await tokens.transaction(paid))) await tokens.waitBlocks(1);
    }
  }, () => "500 ada each");

  const token = await step("alice boots a token", async () => {
    const built = await tokens.boot(alice.address);
    await tokens.submitAndWait(signTransaction(built.checked, alice.key));
    return built.value;
  }, short);

  const request = (title: string, build: (address: string) => Promise<Checked<Unsigned>>) =>
    step(title, async () => `${await transact(tokens, bob, build)}-0`, (made) => `request ${short(made)}`);
  const apply = (title: string, ...requests: string[]) =>
    step(title, async () => {
      await transact(tokens, alice, (address) => tokens.apply(address, token, requests));
      return await tokens.token(token);
    }, ({ root }) => `root ${short(root)}`);

  const planet = await request("bob requests planet = Earth", (at) => tokens.insert(at, token, "planet", "Earth"));
  const comet = await request("bob requests comet = Halley", (at) => tokens.insert(at, token, "comet", "Halley"));
  await apply("alice applies both in one transaction", planet, comet);
  const update = await request(
    "bob requests planet = Mars",
    (at) => tokens.update(at, token, "planet", "Earth", "Mars"),
  );
  const removal = await request("bob requests to delete comet", (at) => tokens.delete(at, token, "comet", "Halley"));
  const mistake = await request(
    "bob requests moon = cheese, by mistake",
    (at) => tokens.insert(at, token, "moon", "cheese"),
  );
  await step(
    "bob retracts that and gets his deposit back",
    () => transact(tokens, bob, (at) => tokens.retract(at, mistake)),
    short,
  );
  const moon = await request("bob requests moon = Phobos", (at) => tokens.insert(at, token, "moon", "Phobos"));
  const { root } = await apply("alice applies the three", update, removal, moon);
  await step("the facts", () => tokens.facts(token), (facts) => JSON.stringify(facts));
  await step("the proof of moon, checked against the root", async () => {
    const checked = verifyFact(await tokens.fact(token, "moon"), { tokenId: token, key: "moon", trusted: { root } });
    if (!checked.ok) throw new Error(checked.error.message);
  }, () => "valid");

  await applyMany(tokens, alice, bob, token);

  process.stdout.write(`
The token stays on the ledger with its facts:
  ${tokens.base}/#/token/${token}
The operator service shows its statechart and history:
  ${operator}/ui/actors/token/${token}
`);
}
