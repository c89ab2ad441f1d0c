/** The commands of `arbor`: their help, their errors, and completion. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, describe, expect, it } from "vitest";
import { VERSION } from "#src/base/version.ts";
import { arborProgram } from "#src/cli/arbor/program.ts";
import { completion } from "#src/cli/completion.ts";
import { commandsOf, pathOf } from "#src/cli/commandTree.ts";
import { arborCommand, runCli } from "../../support/cli/arborCli.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), "arbor-cli-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = (name: string) => path.join(folder, name);

/** Addresses at which no service is. */
const NOWHERE = { ARBOR_TOKENS_URL: "http://127.0.0.1:1", ARBOR_OPERATOR_URL: "http://127.0.0.1:1" };

it.runIf(existsSync("/dev/full")).each(["main.ts", "cardanoWallet/main.ts"])(
  "%s says that its output cannot be written, without a stack",
  (program) => {
    const command = [...arborCommand().slice(0, -1), path.join(root, "src/cli", program), "--help"];
    const { status, stderr } = spawnSync("sh", ["-c", 'exec "$@" > /dev/full', "sh", ...command], { encoding: "utf8" });
    expect(stderr).toMatch(/^The output cannot be written: the disk is full \(ENOSPC\)\.( \(file_not_written\))?\n$/);
    expect(status).toBe(1);
  },
);

describe("help", () => {
  const program = arborProgram();
  const commands = commandsOf(program);

  it("names the commands of the product", () => {
    const under = (name: string) =>
      program.commands.find((one) => one.name() === name)!.commands.map((one) => one.name()).join(" ");
    expect(under("token")).toBe(
      "list show facts history requests prove verify boot insert update delete apply retract rebuild transfer end release",
    );
    expect(under("actor")).toBe("list show history pause resume");
    expect(under("devnet")).toBe("tip fund blocks time advance sync next mining epochs rollback reset snapshot");
    const snapshot = commands.find((one) => one.name() === "snapshot");
    expect(snapshot?.commands.map((one) => one.name()).join(" ")).toBe("save list restore delete");
    expect(under("gov")).toBe("list show propose voters vote");
    expect(under("key")).toBe("new show");
    const listed = program.createHelp().visibleCommands(program).map((one) => one.name());
    expect(listed).toEqual([
      "token",
      "actor",
      "devnet",
      "gov",
      "events",
      "key",
      "sign",
      "submit",
      "verify",
      "certificates",
      "demo",
      "start",
      "signer",
      "signers",
      "completion",
      "help",
    ]);
  });

  it.each(commands.map((one) => [pathOf(one), one] as const))("%s has an example of itself", (name, command) => {
    let text = "";
    command.configureOutput({ writeOut: (part) => text += part }).outputHelp();
    const [, example] = /\nExample[^\n]*\n {2}(?:\$ )?(.*)/.exec(text) ?? [];
    expect(example).toContain(name);
    expect(text).toContain("--json");
    expect(command.description()).not.toBe("");
  });

  it("goes to standard output, and the version too", async () => {
    const shown = await runCli(["token", "facts", "--help"]);
    expect(shown).toMatchObject({ code: 0, stderr: "" });
    expect(shown.stdout).toContain("--prefix <text>");
    expect(await runCli(["--version"])).toEqual({ code: 0, stdout: `${VERSION}\n`, stderr: "" });
  });
});

it("loads nothing of the server", async () => {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ["src/cli/main.ts"],
    bundle: true,
    format: "esm",
    platform: "node",
    packages: "external",
    // as the package has it: what a command loads when it runs is in files of its own
    splitting: true,
    outdir: "out",
    tsconfigRaw: {},
    metafile: true,
    write: false,
  });
  const modules = new Set(Object.keys(metafile.inputs).map((file) => file.split("/").slice(0, 2).join("/")));
  expect([...modules].sort()).toEqual(
    ["base", "cardano", "cli", "client", "contract", "csmt", "forestry", "tlog"].map((one) => `src/${one}`),
  );
  const atStart = new Set<string>();
  const visited = new Set<string>();
  const visit = (name: string) => {
    if (visited.has(name)) return;
    visited.add(name);
    for (const { path, kind, external } of metafile.outputs[name]!.imports) {
      if (kind !== "import-statement" || path.startsWith("node:")) continue;
      if (external) atStart.add(path.replace(/^(@?[^/]+\/?[^/]*).*$/, "$1"));
      else visit(path);
    }
  };
  visit("out/main.js");
  expect([...atStart].sort()).toEqual(
    ["@noble/curves", "@noble/hashes", "@scure/base", "cli-table3", "commander", "eventsource-parser", "lossless-json"],
  );
});

describe("errors", () => {
  it.each<[args: string[], code: number, message: string]>([
    [["constructor"], 2, "unknown command 'constructor' (unknown_command)\n"],
    [["__proto__"], 2, "unknown command '__proto__' (unknown_command)\n"],
    [["toString", "a", "b"], 2, "unknown command 'toString' (unknown_command)\n"],
    [["tokn", "list"], 2, "unknown command 'tokn' (unknown_command)\n(Did you mean token?)\n"],
    [["token", "shwo", "x"], 2, "unknown command 'shwo' (unknown_command)\n(Did you mean show?)\n"],
    [["token", "show"], 2, "missing required argument 'token' (missing_argument)\n"],
    [
      ["token", "show", "a", "b"],
      2,
      "too many arguments for 'show'. Expected 1 argument but got 2. (excess_arguments)\n",
    ],
    [
      ["token", "list", "--tokens", "127.0.0.1:3000"],
      1,
      "127.0.0.1:3000 is not the URL of a service: it has to begin with http:// or https://. (bad_service_url)\n",
    ],
    [
      ["verify", "-", "00".repeat(32), "k", "--root", "00"],
      1,
      "--root must be the root of the facts, 64 hexadecimal digits, not 00. (untrusted)\n",
    ],
    [
      ["verify", "-", "00".repeat(32), "k", "--root", "00".repeat(32)],
      1,
      "The standard input is not JSON. (malformed)\n",
    ],
    [["verify", "-", "00".repeat(32)], 1, "A token requires a key of its facts. (bad_options)\n"],
    [["verify", "-", "--root", ""], 1, "--root requires a token and a key. (bad_options)\n"],
    [["token", "list", "--jsno"], 2, "unknown option '--jsno' (unknown_option)\n(Did you mean --json?)\n"],
    [
      ["token", "history", "x", "--status", "closed"],
      2,
      "option '--status <status>' argument 'closed' is invalid. Allowed choices are open, applied, refused, retracted. (invalid_argument)\n",
    ],
    [
      ["insert", "k", "t", "-x", "y"],
      2,
      "unknown option '-x' (unknown_option)\n(-- before an argument that begins with a dash)\n",
    ],
    [["events"], 1, "One of --follow and --limit is required: the stream has no end. (bad_options)\n"],
    [["devnet", "rollback"], 1, "Exactly one of a number of blocks and --to-slot is required. (bad_options)\n"],
    [
      ["devnet", "fund", "addr_test1", "1e3"],
      1,
      "1e3 is not an amount of ada, which has at most 6 decimals. (bad_amount)\n",
    ],
    [["token", "prove", "00".repeat(32), "zz", "--hex"], 1, "zz is not hexadecimal. (bad_hex)\n"],
    [
      ["token", "boot", "none.key"],
      1,
      "none.key does not exist. `arbor key new none.key` writes a new key there. (file_not_read)\n",
    ],
    [["submit", "zz"], 1, "A transaction is CBOR in hexadecimal. (bad_transaction)\n"],
  ])("%j", async (args, code, message) => {
    expect(await runCli(args, { env: NOWHERE })).toEqual({ code, stdout: "", stderr: message });
  });

  it("refuses what is no token id before anything else", async () => {
    const withToken = commandsOf(arborProgram()).filter((one) =>
      one.registeredArguments.some((argument) => argument.name() === "token")
    );
    expect(withToken.length).toBeGreaterThan(12);
    for (const command of withToken) {
      const args = command.registeredArguments.map((one) => one.name() === "token" ? "planet" : "none");
      const line = [...pathOf(command).split(" ").slice(1), ...args];
      await expect(arborProgram().parseAsync(line, { from: "user" }), line.join(" ")).rejects.toMatchObject({
        code: "bad_token",
        message: "planet is not a token id; a token id has 64 hexadecimal digits.",
      });
    }
    expect(await runCli(["token", "show", "planet"], { env: NOWHERE })).toMatchObject({
      code: 1,
      stderr: "planet is not a token id; a token id has 64 hexadecimal digits. (bad_token)\n",
    });
  });

  it("are JSON with --json", async () => {
    const { code, stdout, stderr } = await runCli(["token", "list", "--json"], { env: NOWHERE });
    expect([code, stdout]).toEqual([1, ""]);
    expect(JSON.parse(stderr)).toEqual({
      code: "unreachable",
      error: expect.stringMatching(
        /^No complete response from http:\/\/127\.0\.0\.1:1: .*\. Is the service started, .*`npx -y deno@\S+ task start`/,
      ),
    });
  });

  it("a group without a command prints its help and fails", async () => {
    const { code, stdout, stderr } = await runCli(["token"]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("Usage: arbor token");
  });
});

describe("keys", () => {
  it("are made, shown and used without a service", async () => {
    const made = await runCli(["key", "new", file("a.key")]);
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^addr_test1v\w+\n$/) });
    expect(statSync(file("a.key")).mode & 0o777).toBe(0o600);
    const shown = JSON.parse((await runCli(["key", "show", file("a.key")])).stdout);
    expect(shown).toEqual({
      address: made.stdout.trim(),
      keyHash: expect.stringMatching(/^[0-9a-f]{56}$/),
      publicKey: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect((await runCli(["address", file("a.key")])).stdout).toBe(made.stdout);
    const again = await runCli(["key", "new", file("a.key")]);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringMatching(/already exists.*\(file_exists\)\n$/) });

    const unsigned = "84a3008001800200a0f5f6";
    const signed = await runCli(["sign", "--yes", file("a.key"), "-"], { input: `${unsigned}\n` });
    expect(signed.stdout.trim()).toHaveLength(unsigned.length + 212);
    expect((await runCli(["sign", "--yes", file("a.key"), unsigned])).stdout).toBe(signed.stdout);
    expect(await runCli(["sign", file("a.key"), "00"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("(bad_transaction)"),
    });
  });

  it("never appear in an error", async () => {
    const secret = readFileSync(file("a.key"), "utf8").trim();
    writeFileSync(file("broken.key"), secret.slice(0, -1));
    const { code, stderr } = await runCli(["key", "show", file("broken.key")]);
    expect(code).toBe(1);
    expect(stderr).toContain("(bad_key)");
    expect(stderr).not.toContain(secret.slice(12, 40));
  });
});

describe("completion", () => {
  const completed = (line: readonly string[]): string[] => {
    const script = `${completion(arborProgram(), "bash")}
COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _arbor; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { status, stdout, stderr } = spawnSync("bash", ["-c", script, "bash", ...line], { encoding: "utf8" });
    expect([status, stderr]).toEqual([0, ""]);
    return stdout.trim().split("\n");
  };

  it.each<[line: string[], words: string[]]>([
    [["arbor", "to"], ["token"]],
    [["arbor", "key", ""], ["new", "show", "help"]],
    [["arbor", "--json", "devnet", "r"], ["rollback", "reset"]],
    [["arbor", "token", "history", "--st"], ["--status"]],
    [["arbor", "token", "history", "--status", ""], ["open", "applied", "refused", "retracted"]],
    [["arbor", "completion", ""], ["bash", "zsh", "fish"]],
    // names of files
    [["arbor", "key", "show", ""], [""]],
  ])("of %j in bash", (line, words) => expect(completed(line)).toEqual(words));

  it.skipIf(spawnSync("fish", ["--version"]).status !== 0)("of commands, options and choices in fish", () => {
    writeFileSync(file("arbor.fish"), completion(arborProgram(), "fish"));
    const words = (line: string) =>
      spawnSync("fish", ["-c", `source ${file("arbor.fish")}; complete -C '${line}'`], { encoding: "utf8" })
        .stdout.trim().split("\n").map((one) => one.split("\t")[0]);
    expect(words("arbor key ")).toEqual(["help", "new", "show"]);
    expect(words("arbor token history --st")).toEqual(["--status"]);
    expect(words("arbor token history --status ")).toEqual(["applied", "open", "refused", "retracted"]);
    expect(words("arbor --json devnet r")).toEqual(["rollback"]);
  });

  it.skipIf(spawnSync("zsh", ["--version"]).status !== 0)("is a script that zsh parses", () => {
    const { status, stderr } = spawnSync("zsh", ["-n"], { input: completion(arborProgram(), "zsh"), encoding: "utf8" });
    expect([status, stderr]).toEqual([0, ""]);
  });

  it("has every visible command in every shell", () => {
    for (const shell of ["bash", "zsh", "fish"] as const) {
      const script = completion(arborProgram(), shell);
      for (const name of ["token", "rollback", "--to-slot", "retracted"]) expect(script, shell).toContain(name);
      expect(script).not.toMatch(/undefined|\[object/);
    }
  });
});

describe("a list", () => {
  it("without --limit says when there are more entries than it shows", async () => {
    const open = Array.from({ length: 250 }, (_, n) => ({
      outputRefId: `${"ab".repeat(32)}-${n}`,
      owner: "cd".repeat(28),
      change: { type: "insert", key: `k${n}`, value: "v" },
    }));
    const FEW = "00".repeat(32);
    const server = createServer(({ url }, response) => {
      const { pathname, searchParams } = new URL(url!, "http://127.0.0.1");
      const [from, limit] = [Number(searchParams.get("after") ?? 0), Number(searchParams.get("limit"))];
      const all = pathname.includes(FEW) ? open.slice(0, 100) : open;
      if (from + limit < all.length) {
        response.setHeader("link", `<${pathname}?limit=${limit}&after=${from + limit}>; rel="next"`);
      }
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ requests: all.slice(from, from + limit) }));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    try {
      const env = { ARBOR_TOKENS_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
      const list = async (...args: string[]) => {
        const { code, stdout, stderr } = await runCli(["token", "requests", ...args], { env });
        return { code, shown: JSON.parse(stdout).length, stderr };
      };
      const more = "These are the first 100: there are more, see --limit.\n";
      expect(await list("11".repeat(32))).toEqual({ code: 0, shown: 100, stderr: more });
      expect(await list(FEW)).toEqual({ code: 0, shown: 100, stderr: "" });
      expect(await list("11".repeat(32), "--limit", "3")).toEqual({ code: 0, shown: 3, stderr: "" });
      expect(await list("11".repeat(32), "--limit", "1000")).toEqual({ code: 0, shown: 250, stderr: "" });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});

describe("an update", () => {
  it("names the first of the requests that it leaves open", async () => {
    const left = Array.from({ length: 274 }, (_, n) => ({ request: `ab-${n}`, message: "no" }));
    const server = createServer((_, response) => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ mpfRoot: "00", applied: [], refused: [], left }));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    try {
      const env = { ARBOR_TOKENS_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
      const apply = ["token", "apply", "addr_test1", "11".repeat(32), "--dry-run"];
      const { stderr } = await runCli(apply, { env });
      const named = left.slice(0, 20).map(({ request }) => `left: ${request}: no\n`);
      expect(stderr).toBe(`${named.join("")}left: 254 others, which --json names\n`);
      expect(JSON.parse((await runCli([...apply, "--json"], { env })).stdout).left).toEqual(left);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
