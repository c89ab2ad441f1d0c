/**
 * A small dApp: a notary. It records the hash of a document as a fact of a token, and anyone can check a document
 * against the root on the ledger, without trust in the service.
 *
 *     notary.ts open KEYFILE                    creates the token, prints its id
 *     notary.ts record KEYFILE TOKEN DOCUMENT   records a document; the key must own the token
 *     notary.ts check TOKEN ROOT DOCUMENT       checks a document; ROOT comes from a source that you trust
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import process from "node:process";
import {
  addressText,
  ApiError,
  type CheckedTransaction,
  enterpriseAddress,
  keyHash,
  publicKey,
  readKey,
  type SigningKey,
  signTransaction,
  TokenClient,
  verifyFact,
} from "@arbor-cardano/client";

const tokens = new TokenClient(process.env.ARBOR_TOKENS_URL ?? "http://127.0.0.1:3000");

async function loadKey(file: string): Promise<{ key: SigningKey; address: string }> {
  const read = readKey(await readFile(file, "utf8"));
  if (!read.ok || read.value.form !== "secret") throw new Error(`${file} has no payment key.`);
  const { key } = read.value;
  return { key, address: addressText(enterpriseAddress(0, { kind: "key", hash: keyHash(publicKey(key)) })) };
}

const hashOf = async (file: string) => createHash("sha256").update(await readFile(file)).digest("hex");

/**
 * Signs and submits what the service has built, and what the client has found to do what was asked for; gives the
 * transaction's hash once the ledger has it.
 */
const carryOut = ({ checked }: { checked: CheckedTransaction }, key: SigningKey) =>
  tokens.submitAndWait(signTransaction(checked, key));

async function open(keyFile: string): Promise<string> {
  const { key, address } = await loadKey(keyFile);
  const built = await tokens.boot(address);
  await carryOut(built, key);
  return built.value;
}

async function record(keyFile: string, token: string, document: string): Promise<string> {
  const { key, address } = await loadKey(keyFile);
  const request = await carryOut(
    await tokens.insert(address, token, await hashOf(document), new Date().toISOString()),
    key,
  );
  const update = await tokens.apply(address, token, [`${request}-0`]);
  await carryOut(update, key);
  return `recorded; the root is ${update.mpfRoot}`;
}

async function check(token: string, root: string, document: string): Promise<string> {
  const hash = await hashOf(document);
  const checked = verifyFact(await tokens.fact(token, hash), { tokenId: token, key: hash, trusted: { root } });
  if (!checked.ok) throw new Error(`The service's response proves nothing: ${checked.error.message}`);
  return checked.value.included ? `recorded at ${checked.value.text}` : "not recorded";
}

const [command, a = "", b = "", c = ""] = process.argv.slice(2);
const commands = { open: () => open(a), record: () => record(a, b, c), check: () => check(a, b, c) };
try {
  const run = Object.entries(commands).find(([name]) => name === command)?.[1];
  if (!run) throw new Error("usage: notary.ts open|record|check …");
  console.log(await run());
} catch (error) {
  console.error(
    error instanceof ApiError ? `${error.message} (${error.code})` : error instanceof Error ? error.message : error,
  );
  process.exitCode = 1;
}
