/** `examples/notary.ts` as a process on Deno and on Node, which is killed at each of its submissions. */
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parseAddress } from "#src/cardano/address.ts";
import { TokenClient } from "#src/client/tokens.ts";
import { itLong } from "../../support/base/longTests.ts";
import { runCli } from "../../support/cli/arborCli.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { onDeno, onNode, Running } from "./running.ts";

const TIME = "20\\d\\d-\\d\\d-\\d\\dT\\S+Z";
let infra: Infra;
let arbor: Arbor;
let folder: string;
let node: readonly string[];
const running = new Running();
const file = (name: string) => path.join(folder, name);

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "arbor-notary-"));
  infra = await sharedInfra();
  [arbor, node] = await Promise.all([Arbor.start({ infra }), onNode("notary.ts", folder)]);
});
afterAll(async () => {
  await running.end();
  await arbor?.end();
  await infra?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A key with ada in a file; gives its address. */
async function paidKey(name: string): Promise<string> {
  const env = { ARBOR_TOKENS_URL: arbor.tokens, ARBOR_DEVNET_URL: arbor.devnet };
  const address = (await runCli(["key", "new", file(name)], { env })).stdout.trim();
  expect((await runCli(["devnet", "fund", file(name), "500", "--wait"], { env })).stderr).toBe("");
  return address;
}

const notary = (command: readonly string[], args: readonly string[], tokens = arbor.tokens) =>
  runCli(args, { command, cwd: folder, env: { ARBOR_TOKENS_URL: tokens } });

/** What `add` has printed. */
const addedBy = ({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }) => {
  const found = new RegExp(`^recorded at (${TIME})\ntoken ([0-9a-f]{64})\nroot ([0-9a-f]{64})\nproof (\\S+)\n$`)
    .exec(stdout);
  expect(found, stderr).not.toBeNull();
  const [, time, token, root, proof] = found!;
  return { time: time!, token: token!, root: root!, proof: proof! };
};

/** The first document, and checks of it and of others. */
let added: ReturnType<typeof addedBy>;
const check = async (document: string, ...by: string[]) => {
  const { code, stdout, stderr } = await notary(node, ["check", document, "--token", added.token, ...by]);
  return [code, stdout + stderr];
};

it("records documents once, and checks them by a root, by the ledger, and without a network", async () => {
  await paidKey("a.key");
  writeFileSync(file("contract.txt"), "the party of the first part");
  writeFileSync(file("other.txt"), "another document");
  const add = ["add", "contract.txt", "--key", "a.key", "--notebook", "a.json"];
  added = addedBy(await notary(onDeno("notary.ts"), add));
  expect(addedBy(await notary(node, add))).toEqual(added);
  const { root, time, proof } = added;

  const recorded = [0, `recorded at ${time}\n`];
  expect(await check("contract.txt", "--root", root)).toEqual(recorded);
  expect(await check("contract.txt", "--against", arbor.tokens)).toEqual(recorded);
  expect(await check("other.txt", "--against", arbor.tokens)).toEqual([1, "not recorded\n"]);
  const { vkey } = await (await fetch(`${arbor.tokens}/log`)).json();
  writeFileSync(file("policy.txt"), `log ${vkey}\nquorum none\n`);
  const offline = await runCli(
    ["check", "contract.txt", "--token", added.token, "--policy", "policy.txt", "--proof", proof],
    {
      ...{ command: onDeno("notary.ts"), cwd: folder, env: { ARBOR_TOKENS_URL: "http://127.0.0.1:9" } },
    },
  );
  expect(offline).toEqual({ code: 0, stdout: recorded[1], stderr: "" });
});

itLong("takes nothing else for a proof", async () => {
  const { proof } = added;
  const forged = readFileSync(file(proof), "utf8").replace(/"valueHex":"32/, '"valueHex":"33');
  writeFileSync(file("forged.proof"), forged);
  writeFileSync(file("nonsense.txt"), "nonsense");
  const policy = ["--policy", "policy.txt"];
  expect(await check("contract.txt", ...policy, "--proof", "forged.proof")).toEqual([
    2,
    expect.stringMatching(/proves nothing/),
  ]);
  expect(await check("other.txt", ...policy, "--proof", proof)).toEqual([2, expect.stringMatching(/another key/)]);
  expect(await check("contract.txt", ...policy, "--proof", "nonsense.txt")).toEqual([2, "nonsense.txt is not JSON.\n"]);
  expect(await check("contract.txt", ...policy)).toEqual([2, expect.stringMatching(/^usage/)]);
  expect(await check("contract.txt", "--policy", "nonsense.txt", "--proof", proof))
    .toEqual([2, expect.stringMatching(/policy/)]);
  expect(await check("contract.txt", "--root", "00".repeat(32))).toEqual([2, expect.stringMatching(/another state/)]);
  expect(await check("contract.txt", "--against", "http://127.0.0.1:9"))
    .toEqual([2, expect.stringMatching(/^0 of 1 instances/)]);
});

it("refuses nonsense in a sentence, and signs nothing", async () => {
  writeFileSync(file("nonsense.txt"), "nonsense");
  const refused = async (...args: string[]) => {
    const { code, stdout, stderr } = await notary(node, args);
    expect([code, stdout, stderr.split("\n").length]).toEqual([2, "", 2]);
    return stderr;
  };
  expect(await refused()).toMatch(/^usage/);
  expect(await refused("add", "nonsense.txt")).toMatch(/^usage/);
  expect(await refused("add", "nonsense.txt", "--key", "nonsense.txt")).toBe("nonsense.txt has no payment key.\n");
  expect(await refused("add", "nonsense.txt", "--key", "missing.key")).toMatch(/no such file.*missing\.key/);
  await runCli(["key", "new", file("poor.key")]);
  const poor = ["add", "nonsense.txt", "--key", "poor.key", "--notebook"];
  expect(await refused(...poor, "nonsense.txt")).toBe("nonsense.txt is not JSON.\n");
  expect(await refused(...poor, "poor.json")).toMatch(/^The address lacks \d+ lovelace/);
  expect(existsSync(file("poor.json"))).toBe(false);
});

/** Passes requests on to the service; before and after a submission is passed on, it may drop the connection instead. */
async function startProxy(drops: (submitted: string, when: "before" | "after") => Promise<boolean>): Promise<Server> {
  const proxy = createServer(async (request, response) => {
    let sent = "";
    for await (const chunk of request.setEncoding("utf8")) sent += chunk;
    const submits = request.method === "POST" && request.url === "/transaction";
    if (submits && await drops(sent, "before")) return void response.destroy();
    const answer = await fetch(arbor.tokens + request.url, {
      method: request.method!,
      headers: { "content-type": "application/json" },
      ...(sent === "" ? {} : { body: sent }),
    });
    const body = await answer.text();
    if (submits && await drops(sent, "after")) return void response.destroy();
    response.writeHead(answer.status, { "content-type": "application/json" }).end(body);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return proxy;
}

it("makes one token and one request, wherever it is killed", async () => {
  const address = await paidKey("killed.key");
  writeFileSync(file("deed.txt"), "a deed");
  let run: ReturnType<Running["start"]> | undefined;
  // it is killed once before and once after each transaction is submitted
  const [transactions, kills] = [new Set<string>(), new Set<string>()];
  const proxy = await startProxy(async (submitted, when) => {
    transactions.add(submitted);
    if (kills.has(submitted + when)) return false;
    kills.add(submitted + when);
    await run!.kill();
    return true;
  });
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const add = ["add", file("deed.txt"), "--key", file("killed.key"), "--notebook", file("killed.json")];
  let runs = 0;
  do {
    runs++;
    run = running.start([...node, ...add], { ARBOR_TOKENS_URL: url });
    await once(run.child, "close");
  } while (run.child.signalCode === "SIGKILL");
  const { token } = addedBy({ stdout: run.printed(), stderr: "" });
  proxy.closeAllConnections();
  proxy.close();
  expect([runs, kills.size, transactions.size]).toEqual([7, 6, 3]);

  const client = new TokenClient(arbor.tokens);
  const parsed = parseAddress(address);
  const owner = parsed.ok && "payment" in parsed.value ? parsed.value.payment.hash : undefined;
  const { tokens } = await client.tokens();
  expect(tokens.filter((one) => one.owner === owner).map(({ tokenId }) => tokenId)).toEqual([token]);
  const requests = [];
  for await (const request of client.history(token)) requests.push(request);
  expect(requests).toHaveLength(1);
});
