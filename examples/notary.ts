/**
 * A notary. It records the hash of a document with the time as a fact of a token, and writes a file that proves it.
 * With that file anyone can check the document, without trust in the notary or in its service.
 *
 *     notary.ts add DOCUMENT --key KEYFILE                       records it; the first run creates the token
 *     notary.ts check DOCUMENT --token ID --root ROOT            by a root that you trust
 *     notary.ts check DOCUMENT --token ID --against URL          by the ledger, as another instance knows it
 *     notary.ts check DOCUMENT --token ID --policy POLICY --proof FILE   by logs that you trust, without a network
 *
 * `add` ends when the log of the service has the fact, which is final then, and writes DOCUMENT.proof. It may be killed at
 * any point and run again: the notebook (--notebook, notary.json) has what it signed before it is submitted, and a
 * transaction that is submitted twice is carried out once. `check` exits with 0 if the document is recorded, with 1 if it
 * is not; a failure of either is 2.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import * as arbor from "@arbor-cardano/client";
import { fetchTrustedRoot, verifyTokenState } from "@arbor-cardano/client/ledger";
import { type OfflineProof, offlineProof, verifyOffline } from "@arbor-cardano/client/offline";

const USAGE = "usage: notary.ts add DOCUMENT --key FILE | check DOCUMENT --token ID --root|--against|--policy …";
const tokens = new arbor.TokenClient(process.env.ARBOR_TOKENS_URL ?? "http://127.0.0.1:3000");
const hashOf = async (file: string) => createHash("sha256").update(await readFile(file)).digest("hex");
type Options = Readonly<Partial<Record<string, string>>>;

async function readJson<T>(file: string): Promise<T> {
  const text = await readFile(file, "utf8");
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${file} is not JSON.`);
  }
}

/** Writes a file as a whole: after a crash it has its old content or the new one. */
async function writeJson(file: string, content: unknown): Promise<void> {
  await writeFile(`${file}.new`, JSON.stringify(content), { flush: true });
  await rename(`${file}.new`, file);
}

async function add(document: string, { key: keyFile, notebook: file = "notary.json", wait = "600" }: Options) {
  if (!keyFile || !/^\d+$/.test(wait)) throw new Error(USAGE);
  const read = arbor.readKey(await readFile(keyFile, "utf8"));
  if (!read.ok || read.value.form !== "secret") throw new Error(`${keyFile} has no payment key.`);
  const { key } = read.value;
  const credential = { kind: "key", hash: arbor.keyHash(arbor.publicKey(key)) } as const;
  const address = arbor.addressText(arbor.enterpriseAddress(0, credential)); // 1 on mainnet
  const hash = await hashOf(document);
  /** The id of the token, and signed transactions by their names. */
  const notebook = existsSync(file) ? await readJson<Record<string, string>>(file) : {};

  /** Signs, saves and submits a transaction; in a later run submits the saved one again. Gives its hash. */
  async function once(name: string, build: () => Promise<{ checked: arbor.CheckedTransaction }>): Promise<string> {
    if (!notebook[name]) {
      // the client has recomputed from the bytes what the transaction does: signTransaction takes no other
      notebook[name] = arbor.signTransaction((await build()).checked, key).cbor;
      await writeJson(file, notebook);
    }
    try {
      return await tokens.submit(notebook[name]);
    } catch (error) {
      if (!(error instanceof arbor.ApiError && [409, 422].includes(error.status))) throw error;
      // refused for good, and with it what follows from it: its coins are spent, or its time is over
      for (const each of Object.keys(notebook)) if (name === "boot" || each.endsWith(name)) delete notebook[each];
      await writeJson(file, notebook);
      throw new Error(`The ledger refuses the transaction "${name}". Run again to make another. ${error.message}`);
    }
  }

  const factNow = () =>
    tokens.fact(notebook.token!, hash).catch((error) => {
      if (error.code !== "token_unknown") throw error; // no block has the token yet
    });
  if (!notebook.token || !await factNow()) {
    await once("boot", async () => {
      const boot = await tokens.boot(address);
      notebook.token = boot.value;
      return boot;
    });
  }
  const token = notebook.token!;
  if (!(await factNow())?.included) {
    // the service builds on transactions that no block has yet: one block can have all three
    const time = new Date().toISOString();
    const request = await once(hash, () => tokens.insert(address, token, hash, time, { force: true }));
    await once(`update ${hash}`, () => tokens.apply(address, token, [`${request}-0`]));
  }

  // another document may change the state meanwhile: each state with the fact will do, once it is final
  const states = new Map<string, arbor.FactProof>();
  for (const end = Date.now() + Number(wait) * 1_000; Date.now() <= end; await sleep(500)) {
    const fact = await factNow();
    if (fact?.included) states.set(fact.outputRefId, fact);
    for (const [state, proven] of states) {
      const log = await tokens.stateProof(token, state);
      if (log === undefined) continue;
      await writeJson(`${document}.proof`, offlineProof([proven], log));
      return `recorded at ${proven.value}\ntoken ${token}\nroot ${proven.root}\nproof ${document}.proof`;
    }
  }
  throw new Error(`The fact is not final after ${wait} s. Run again to wait on.`);
}

/** A root of the token that does not rest on the service, but on what the reader trusts. */
async function trustedRoot(token: string, options: Options, proof: OfflineProof | undefined): Promise<string> {
  if (options.root) return options.root;
  if (options.against) {
    const answer = await tokens.provedToken(token);
    const ledger = await fetchTrustedRoot(answer, { instances: [options.against] });
    const state = ledger.ok ? verifyTokenState(answer, { tokenId: token, trusted: ledger.value }) : ledger;
    if (!state.ok) throw new Error(state.error.message);
    return state.value.token.root;
  }
  if (!options.policy || !proof) throw new Error(USAGE);
  const verified = verifyOffline(proof, await readFile(options.policy, "utf8"));
  if (!verified.ok) throw new Error(`The file proves nothing: ${verified.error.message}`);
  if (verified.value.token !== token) throw new Error("The file is about another token.");
  return verified.value.leaf.root;
}

async function check(document: string, options: Options): Promise<string> {
  const { token, proof: file } = options;
  if (!token) throw new Error(USAGE);
  const key = await hashOf(document);
  const proof = file ? await readJson<OfflineProof>(file) : undefined;
  const root = await trustedRoot(token, options, proof);
  const answer = proof ? proof.facts?.[0] : await tokens.fact(token, key);
  const fact = arbor.verifyFact(answer, { tokenId: token, key, trusted: { root } });
  if (!fact.ok) throw new Error(`The answer proves nothing: ${fact.error.message}`);
  process.exitCode = fact.value.included ? 0 : 1;
  return fact.value.included ? `recorded at ${fact.value.text}` : "not recorded";
}

try {
  const names = ["key", "notebook", "wait", "token", "root", "against", "policy", "proof"];
  const options = Object.fromEntries(names.map((name) => [name, { type: "string" } as const]));
  const { positionals: [command, document, ...more], values } = parseArgs({ options, allowPositionals: true });
  const run = command === "add" ? add : command === "check" ? check : undefined;
  if (!run || !document || more.length > 0) throw new Error(USAGE);
  console.log(await run(document, values as Options));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 2;
}
