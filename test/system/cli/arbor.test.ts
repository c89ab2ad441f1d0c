/** Every command of `arbor` against a running service, in a pipe and in a pseudo-terminal. */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { WalletClient } from "#src/client/wallets.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { endChild } from "../../support/base/processes.ts";
import { arborCommand, runCli, runInTerminal } from "../../support/cli/arborCli.ts";
import { itLong } from "../../support/base/longTests.ts";
import { until } from "../../support/base/until.ts";
import { sharedInfra } from "../../support/infra/infra.ts";

const SECRET = "operator-token-of-the-test";
const hasTerminal = spawnSync("sh", ["-c", "command -v script && command -v stty"]).status === 0;
if (!hasTerminal) console.warn("SKIPPED: no pseudo-terminal, it needs script (util-linux) and stty.");

let infra: Awaited<ReturnType<typeof sharedInfra>>;
let arbor: Arbor;
let folder: string;
let token: string;

const file = (name: string) => path.join(folder, name);
const env = (secret = SECRET) => ({
  ARBOR_TOKENS_URL: arbor.tokens,
  ARBOR_DEVNET_URL: arbor.devnet,
  ARBOR_OPERATOR_URL: arbor.operator,
  ARBOR_OPERATOR_TOKEN: secret,
});

/** The standard output of a command that succeeds, without its last line break. */
async function cli(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCli(args, { env: env() });
  if (code !== 0) throw new Error(`arbor ${args.join(" ")} ended with ${code}: ${stderr}`);
  return stdout.trimEnd();
}
const json = async (...args: string[]) => JSON.parse(await cli(...args));

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "arbor-cli-"));
  infra = await sharedInfra();
  arbor = await Arbor.start({ infra, env: { ARBOR_OPERATOR_TOKEN: SECRET } });
  for (const name of ["alice", "bob"]) {
    await cli("key", "new", file(name));
    await cli("devnet", "fund", file(name), "500.5", "--wait");
  }
  token = (await json("token", "boot", file("alice"), "--json")).tokenId;
  await cli("token", "insert", file("bob"), token, "planet", "Earth");
});

afterAll(async () => {
  await arbor?.end();
  await infra?.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe("tokens", () => {
  it("takes keys and values that are numbers, names of members, empty, binary, or begin with a dash", async () => {
    const facts: [string, string][] = [["__proto__", "constructor"], ["-5", "-1"], ["", "empty"], ["a/b ?é", ""]];
    for (const [key, value] of facts) {
      expect(await cli("token", "insert", file("bob"), token, key, value)).toMatch(/^[0-9a-f]{64}-0$/);
    }
    await cli("token", "insert", file("bob"), token, "--", "--flag", "-v");
    await cli("token", "insert", "--hex", file("bob"), token, "ff00", "80");
    const open = await json("token", "requests", token);
    expect(open).toHaveLength(7);
    expect(await json("token", "requests", token, "--limit", "3")).toEqual(open.slice(0, 3));
    expect(await json("token", "requests", token, "--owner", "00".repeat(28))).toEqual([]);
    expect(await cli("token", "requests", token)).toContain('"applies":true');
    expect(await json("token", "show", token)).toMatchObject({ counts: { requests: 7 } });
    const inHex = await json("token", "requests", token, "--hex");
    expect(inHex.map(({ change }: { change: { key: string } }) => change.key)).toContain("ff00");

    const tried = await json("token", "apply", file("alice"), token, "--dry-run", "--json");
    expect(tried).toEqual({
      root: expect.any(String),
      applied: expect.any(Array),
      refused: [],
      left: expect.any(Array),
    });
    let root = "";
    for (let left = 7; left > 0;) {
      const applied = await json("token", "apply", file("alice"), token, "--json");
      left -= applied.applied.length;
      root = applied.root;
    }
    expect(await json("token", "show", token)).toMatchObject({ tokenId: token, root, requests: [] });
    const all = await cli("token", "facts", token);
    expect(Object.entries(JSON.parse(all)).sort()).toEqual(
      [...facts, ["planet", "Earth"], ["--flag", "-v"], ["\udcff\u0000", "\udc80"]].sort(),
    );
    expect(await json("token", "facts", token, "--hex", "--prefix", "ff")).toEqual({ ff00: "80" });
    const [past] = await json("token", "history", token, "--hex", "--limit", "100")
      .then((all) => all.filter(({ change }: { change: { key: string } }) => change.key === "ff00"));
    expect(past).toMatchObject({ status: "applied", change: { value: "80", newValue: "80" } });
    expect(await json("token", "history", token, "ff00", "--hex")).toMatchObject([{ valueHex: "80" }]);
    expect(Object.keys(await json("token", "facts", token, "--limit", "2"))).toHaveLength(2);
    expect((await json("token", "facts", token, "--slots")).planet).toEqual({
      value: "Earth",
      slot: expect.any(Number),
    });

    const verified = (...options: string[]) => runCli(["token", "facts", token, ...options], { env: env() });
    for (const form of [[], ["--slots"], ["--hex"]]) {
      expect(await verified("--verify", "--root", root, ...form)).toMatchObject({
        code: 0,
        stdout: await cli("token", "facts", token, ...form) + "\n",
        stderr: `verified: all facts under root ${root} (7)\n`,
      });
    }
    for (
      const [options, code] of [
        [["--root", "00".repeat(32)], "root_differs"],
        [["--verify", "--root", "00"], "untrusted"],
        [["--verify"], "untrusted"],
        [["--verify", "--root", root, "--prefix", "p"], "bad_options"],
      ] as const
    ) {
      const refused = await verified(...options);
      expect(refused).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining(`(${code})`) });
    }

    for (const [key, value] of [...facts, ["--flag", "-v"] as const]) {
      const answer = file("answer.json");
      writeFileSync(answer, await cli("token", "prove", token, "--", key));
      const proven = await json("token", "verify", "--root", root, answer, token, "--", key);
      expect(proven, key).toMatchObject({ included: true, value, root });
    }
    writeFileSync(file("binary.json"), await cli("prove", "--hex", token, "ff00"));
    expect(await json("verify", "--hex", "--root", root, file("binary.json"), token, "ff00")).toMatchObject({
      value: "80",
    });
  });

  it("shows histories, and takes a request back", async () => {
    const update = await cli("token", "update", file("bob"), token, "planet", "Earth", "Mars", "--depth", "1");
    const rival = await runCli(["token", "update", "--strict", file("bob"), token, "planet", "Earth", "Venus"], {
      env: env(),
    });
    expect(rival).toMatchObject({ code: 1, stderr: expect.stringMatching(`${update}.*\\(request_conflicts\\)`) });
    expect(await cli("token", "retract", file("bob"), update)).toMatch(/^[0-9a-f]{64}$/);
    const [newest] = await json("token", "history", token, "--limit", "1");
    expect(newest).toMatchObject({ outputRefId: update, status: "retracted" });
    const wrong = ["token", "delete", file("bob"), token, "planet", "Venus"];
    // before a deposit is locked
    expect(await runCli(wrong, { env: env() })).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("(fact_differs)"),
    });
    const deletion = await runCli([...wrong, "--force"], { env: env() });
    expect(deletion).toMatchObject({ code: 0, stderr: expect.stringContaining("warning: ") });
    const dead = deletion.stdout.trim();
    expect(await runCli(["token", "apply", file("alice"), token, dead], { env: env() })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(`^A request cannot be applied\\. ${dead}: .+\\. \\(requests_fail\\)\n$`),
    });
    await cli("token", "retract", file("bob"), dead);
    expect(await json("token", "history", token, "planet")).toMatchObject([{ value: "Earth", type: "insert" }]);
    expect(await json("token", "history", token, "--status", "open")).toEqual([]);
  });

  itLong("builds an update again that a retract has overtaken", async () => {
    const own = await cli("token", "boot", file("alice"));
    const requests = [await cli("token", "insert", file("bob"), own, "a", "1")];
    requests.push(await cli("token", "insert", file("bob"), own, "b", "2"));
    const address = await cli("address", file("alice"));
    const query = requests.map((one) => `request=${one}`).join("&");
    const { unsignedTransaction, summary } = await (await fetch(
      `${arbor.tokens}/transaction/${address}/update-token/${own}?${query}`,
    )).json();
    const signed = await cli("sign", "--yes", file("alice"), unsignedTransaction);
    await cli("token", "retract", file("bob"), requests[0]!);
    expect(await runCli(["submit", signed], { env: env() })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("refused_by_ledger"),
    });
    const again = await runCli(["token", "rebuild", file("alice"), summary.hash, "--json"], { env: env() });
    expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining(`left: ${requests[0]}`) });
    expect(JSON.parse(again.stdout)).toMatchObject({
      replaces: summary.hash,
      action: "update",
      applied: [requests[1]],
    });
    expect(await json("token", "facts", own)).toEqual({ b: "2" });
    await cli("token", "end", file("alice"), own);
  });

  itLong("transfers with both signatures in a pipe, and ends", async () => {
    const other = await cli("token", "boot", file("alice"));
    const owned = async () => (await json("token", "list")).tokens.map(({ tokenId }: { tokenId: string }) => tokenId);
    expect(await owned()).toEqual(expect.arrayContaining([token, other]));
    const once = await cli("token", "transfer", file("alice"), other, file("bob"));
    const twice = await runCli(["sign", file("bob"), "-"], { input: once, env: env() });
    const submitted = await runCli(["submit", "-"], { input: twice.stdout, env: env() });
    expect(submitted).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[0-9a-f]{64}\n$/) });
    const { owner } = await json("token", "show", other);
    expect((await json("key", "show", file("bob"))).keyHash).toBe(owner);
    await cli("end", file("bob"), other);
    expect(await owned()).not.toContain(other);
    expect(await runCli(["token", "show", other], { env: env() })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/\(token_ended\)\n$/),
    });
  });

  itLong("are paid by all coins of a wallet, which signs", async () => {
    const wallets = new WalletClient(arbor.wallets);
    const passphrase = "Secure Passphrase";
    const { id } = await wallets.create({ name: "Payer", mnemonic_sentence: newMnemonic(15), passphrase });
    const addresses = (await wallets.addresses(id)).map((one) => one.id);
    for (const [i, ada] of ["1", "3", "4"].entries()) await cli("devnet", "fund", addresses[i]!, ada, "--wait");
    const address = addresses[0]!;
    const paying = (input: string, ...args: string[]) =>
      runCli([...args, "--wallet", id, "--passphrase-file", "-"], {
        env: { ...env(), ARBOR_WALLETS_URL: arbor.wallets },
        input: `${input}\n`,
      });
    const paid = async (...args: string[]) => {
      const { code, stdout, stderr } = await paying(passphrase, ...args);
      if (code !== 0) throw new Error(`arbor ${args.join(" ")} ended with ${code}: ${stderr}`);
      return stdout.trimEnd();
    };
    const refused = await paying("Another Passphrase", "token", "boot", address);
    expect(refused).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("(wrong_encryption_passphrase)"),
    });
    expect(refused.stderr).not.toContain("Another");
    const own = await until("a token", async () => {
      const { code, stdout } = await paying(passphrase, "token", "boot", address);
      return code === 0 && stdout.trimEnd();
    });
    const request = await paid("token", "insert", address, own, "planet", "Earth");
    const applied = await json("token", "apply", address, own, "--dry-run", "--json");
    expect(applied).toMatchObject({ applied: [request] });
    expect(await paid("token", "apply", address, own, request)).toBe(applied.root);
    const once = await paid("token", "transfer", address, own, file("bob"));
    const twice = await runCli(["sign", file("bob"), "-"], { input: once, env: env() });
    expect([twice.code, twice.stderr]).toEqual([0, ""]);
    expect((await runCli(["submit", "-"], { input: twice.stdout, env: env() })).code).toBe(0);
    expect((await json("token", "show", own)).owner).toBe((await json("key", "show", file("bob"))).keyHash);
  });

  it("is replayed by an operator", async () => {
    const { root } = await json("token", "show", token);
    expect(await cli("release", token)).toBe(root);
    expect(await json("token", "release", token, "--json")).toMatchObject({ tokenId: token, status: "live", root });
  });
});

describe("actors", () => {
  it("are listed, shown, paused and resumed", async () => {
    const [listed] = await json("actor", "list", token.slice(0, 20), "--kind", "token");
    expect(listed).toMatchObject({ kind: "token", id: token, paused: false });
    expect(await json("actor", "list", "--kind", "token", "--paused")).toEqual([]);
    expect(await json("actor", "show", "token", token)).toMatchObject({ entity: { kind: "token", id: token } });
    const history = await json("actor", "history", "token", token);
    expect(history.at(-1)).toMatchObject({ version: 1, event: "BOOTED" });
    expect(history.map(({ version }: { version: number }) => version)).toEqual(
      Array.from(history, (_, i) => history.length - i),
    );
    expect(await json("actor", "history", "token", token, "--limit", "1")).toHaveLength(1);
    expect(await cli("actor", "pause", "token", token)).toBe("paused");
    expect(await json("actor", "list", "--kind", "token", "--paused")).toMatchObject([{ id: token }]);
    expect(await runCli(["insert", file("bob"), token, "k", "v"], { env: env() })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("(paused)"),
    });
    expect(await cli("actor", "resume", "token", token)).toBe("running");
  });

  it("need the operator's token, from the environment, a file or standard input", async () => {
    const wrong = await runCli(["actor", "list"], { env: env("another-token-of-the-test") });
    expect(wrong).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/\(unauthorized\)\n$/) });
    expect(wrong.stderr).toContain("The operator token is another one");
    expect(wrong.stderr).toContain("ARBOR_OPERATOR_TOKEN");
    expect(wrong.stderr).not.toContain("another-token");
    writeFileSync(file("operator"), `${SECRET}\n`);
    const args = ["actor", "list", "--kind", "token", "--operator-token-file"];
    expect((await runCli([...args, file("operator")], { env: env("") })).code).toBe(0);
    expect((await runCli([...args, "-"], { env: env(""), input: `${SECRET}\n` })).code).toBe(0);
    expect((await runCli([...args, file("none")], { env: env("") })).stderr).toMatch(/\(file_not_read\)\n$/);
  });

  it("send events as JSON lines", async () => {
    const first = (await cli("events", "--limit", "2", "--kind", "token", "--id", token)).split("\n");
    expect(first.map((line) => JSON.parse(line).data.version)).toEqual([1, 2]);

    const unknown = await runCli(["events", "--follow", "--kind", "token", "--transition", "bogus"], { env: env() });
    expect(unknown).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/applied, .*\(bad_transition\)\n$/),
    });

    const [program, ...args] = arborCommand();
    const following = spawn(program!, [...args, "events", "--follow", "--from", "start", "--kind", "token"], {
      env: { ...process.env, ...env() },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const lines = createInterface({ input: following.stdout! })[Symbol.asyncIterator]();
    const read = async () => JSON.parse((await lines.next()).value).id as string;
    expect(await read()).toBe(`token/${token}:1`);
    const request = await cli("token", "insert", file("bob"), token, "event", "yes");
    const { version } = await json("actor", "show", "token", token);
    while (await read() !== `token/${token}:${version}`);
    await endChild(following, "SIGTERM");
    expect(following.exitCode).toBe(0);
    await cli("token", "retract", file("bob"), request);
  });
});

describe("the devnet", () => {
  it("makes blocks and rolls them back", async () => {
    const { height } = await json("devnet", "tip");
    const made = Number(await cli("devnet", "blocks", "3"));
    expect(made).toBeGreaterThanOrEqual(height + 3);
    expect(await json("devnet", "rollback", "1", "--json")).toEqual({
      tip: expect.objectContaining({ hash: expect.any(String) }),
    });
    const { slot } = await json("devnet", "tip");
    await cli("devnet", "blocks");
    const back = await json("devnet", "rollback", "--to-slot", String(slot), "--drop", "--json");
    expect(back.tip.slot).toBeLessThanOrEqual(slot);

    const entered = Number(await cli("devnet", "epochs", "2", "--blocks", "0"));
    expect(await json("devnet", "epochs", "--json")).toMatchObject({ epoch: entered + 1, entered: 1 });
  });
});

it("moves the devnet's clock, sets the next block's slot, and changes when blocks are made", async () => {
  const before = await json("devnet", "time");
  expect(await cli("devnet", "mining", "manual")).toBe("manual");
  const slot = Number(await cli("devnet", "advance", "1h30m"));
  expect(slot - before.slot).toBeGreaterThanOrEqual(5_400_000 / (await json("devnet", "tip")).slotLength);
  // farther than the clock runs meanwhile
  const far = 100_000;
  const [first, next, last] = [slot + far, slot + 2 * far, slot + 3 * far].map(String) as [string, string, string];
  expect(await cli("devnet", "advance", "--to-slot", first)).toBe(first);
  expect(await cli("devnet", "next", "--slot", next)).toBe(next);
  await cli("devnet", "blocks", "2", "--gap", String(far), "--empty");
  expect((await json("devnet", "tip")).slot).toBe(Number(last));
  expect(await json("devnet", "time")).toMatchObject({ mode: "manual" });
  const refusals: readonly (readonly [string[], string])[] = [
    [["advance"], "bad_options"],
    [["advance", "1d", "--epochs", "1"], "bad_options"],
    [["advance", "soon"], "bad_duration"],
    [["advance", "--to-slot", "0"], "slot_not_after_tip"],
    [["next"], "bad_options"],
    [["next", "--time", "today"], "bad_time"],
    [["mining", "never"], "bad_options"],
  ];
  await Promise.all(refusals.map(async ([command, code]) => {
    const refused = await runCli(["devnet", ...command], { env: env() });
    expect([command, refused]).toEqual([
      command,
      { code: 1, stdout: "", stderr: expect.stringContaining(`(${code})`) },
    ]);
  }));
  await cli("devnet", "mining", "interval");
});

describe("snapshots of the devnet", () => {
  it("are saved, listed, restored and deleted", async () => {
    const saved = await json("devnet", "snapshot", "save", "before", "--json");
    expect(saved).toMatchObject({ name: "before", transactions: expect.any(Number) });
    expect((await json("devnet", "snapshot", "list")).snapshots).toEqual([saved]);
    await cli("devnet", "blocks", "2");
    expect(await json("devnet", "snapshot", "restore", "before", "--json")).toEqual({
      tip: { height: saved.height, slot: saved.slot, hash: saved.hash },
    });
    expect(Number(await cli("devnet", "snapshot", "save", "before", "--replace"))).toBeGreaterThanOrEqual(saved.height);
    expect(await cli("devnet", "snapshot", "delete", "before")).toBe("before");
    expect((await json("devnet", "snapshot", "list")).snapshots).toEqual([]);
  });
});

describe.skipIf(!hasTerminal)("in a terminal", () => {
  it("lists are tables, waits have a bar, and NO_COLOR is respected", async () => {
    const colored = await runInTerminal(["token", "list"], { env: env() });
    expect(colored.stdout).toContain("\u001b[1mTOKEN\u001b[22m");
    const listed = await runInTerminal(["token", "list"], { env: { ...env(), NO_COLOR: "1" } });
    expect(listed.code).toBe(0);
    expect(listed.stdout).toMatch(new RegExp(`TOKEN +STATUS +OWNER +ROOT\\s+${token}  live +\\w{12}…`));
    expect(listed.stdout).not.toContain("\u001b");
    const facts = await runInTerminal(["token", "facts", token], { env: env() });
    expect(facts.stdout).toMatch(/planet +Earth/);
    expect(facts.stdout).toMatch(/\\udcff\\u0000 +\\udc80/);
    const inserting = ["token", "insert", file("bob"), token, "bar", "1"];
    const terminal = { ...env(), NO_COLOR: "1" };
    const waited = await runInTerminal(inserting, { env: terminal, answer: { to: "Sign it? [y/N]", text: "y\r" } });
    expect(waited.stdout).toMatch(/requests +insert "bar" "1" of token/);
    expect(waited.stdout).toMatch(/fee +0\.\d+ ada/);
    expect(waited.stdout).toMatch(/valid until +slot \d+, \d{4}-/);
    expect(waited.stdout).toContain("waiting for a block");
    expect(waited.stdout).toMatch(/[0-9a-f]{64}-0\s*$/);
    const declined = await runInTerminal(["token", "retract", file("bob"), /[0-9a-f]{64}-0/.exec(waited.stdout)![0]], {
      env: env(),
      answer: { to: "Sign it? [y/N]", text: "n\r" },
    });
    expect([declined.code, declined.stdout]).toEqual([1, expect.stringContaining("Not signed. (not_confirmed)")]);
    const asJson = await runInTerminal(["devnet", "tip", "--json"], { env: env() });
    expect(JSON.parse(asJson.stdout)).toMatchObject({ magic: expect.any(Number) });
  });

  it("a secret is typed without being shown", async () => {
    const { stdout } = await runInTerminal(["actor", "list", "--kind", "token", "--operator-token-file", "-"], {
      env: env(""),
      answer: { to: "Operator token:", text: `${SECRET}\r` },
    });
    expect(stdout).toContain("Operator token:");
    expect(stdout).toContain(token);
    expect(stdout).not.toContain(SECRET);
  });
});

it("devnet reset rolls all blocks back; services follow", async () => {
  expect((await json("token", "list")).tokens.length).toBeGreaterThan(0);
  expect((await json("devnet", "reset", "--json")).tip).toEqual({ slot: -1, hash: "", height: -1 });
  await until("the token is gone", async () => (await json("token", "list")).tokens.length === 0);
  expect(Number(await cli("devnet", "blocks"))).toBeLessThan(100);
});
