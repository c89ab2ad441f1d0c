/** Paths and URLs of another form are refused with what was given, what is expected, and the nearest right form. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readOptions } from "#src/app/options.ts";

const folder = mkdtempSync(path.join(tmpdir(), "arbor-forms-"));
const server = createServer();
beforeAll(async () => {
  mkdirSync(path.join(folder, "ipc"));
  writeFileSync(path.join(folder, "a.json"), "{}");
  await new Promise<void>((done) => server.listen(path.join(folder, "ipc", "first.socket"), done));
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

function refused(args: readonly string[], env: Record<string, string> = {}): string {
  const read = readOptions(args, env);
  if (read.ok) throw new Error(`${args.join(" ")} was read`);
  return read.error.message;
}

describe("a path", () => {
  const node = (given: string) => refused(["--provider", "node", "--node-socket", given]);

  it("of a node's socket is no address, and no folder", () => {
    const expected = "--node-socket must be the path of a node's socket such as /ipc/node.socket, not ";
    const forwarded = ": a socket at another machine becomes a path by socat UNIX-LISTEN:node.socket,fork TCP:";
    expect(node("relay.example:3001")).toBe(
      `${expected}the address relay.example:3001${forwarded}relay.example:3001.`,
    );
    expect(node("tcp://10.0.0.1:3001")).toContain(`${forwarded}10.0.0.1:3001.`);
    expect(node("[::1]:3001")).toContain(`${forwarded}[::1]:3001.`);
    expect(node("ws://10.0.0.1:1337")).toBe(
      `${expected}a URL: for that service use --provider ogmios --ogmios-url ws://10.0.0.1:1337.`,
    );
    expect(node("https://user:secret@a.example")).not.toContain("secret");
    expect(node(path.join(folder, "ipc"))).toContain(`: give ${path.join(folder, "ipc", "first.socket")}.`);
  });

  it("that has a colon is a path where there is such a file", () => {
    const file = path.join(folder, "host:3001");
    writeFileSync(file, "");
    expect(readOptions(["--provider", "node", "--node-socket", file], {}).ok).toBe(true);
  });

  it("of the devnet's socket is no address, and no folder", () => {
    expect(refused(["--socket", "127.0.0.1:3001"])).toContain("over TCP the devnet listens at --node-port");
    expect(refused(["--socket", folder])).toContain(`: give ${path.join(folder, "node.socket")}.`);
  });

  it("of a file is no folder", () => {
    const files = [["--parameters"], ["--conway-genesis"], ["--provider", "node", "--node-socket", "s", "--testnet"]];
    for (const args of files) {
      expect(refused([...args, folder])).toContain(`${folder} cannot be read: it is a folder, not a file (EISDIR)`);
    }
  });
});

describe("a URL", () => {
  it("has its scheme, host and port; the nearest one is named", () => {
    const ogmios = (given: string) => refused(["--provider", "ogmios", "--ogmios-url", given]);
    const expected = "--ogmios-url must be a URL like ws://127.0.0.1:1337, without secrets";
    expect(ogmios("localhost:1337")).toBe(`${expected}, not localhost:1337: give ws://localhost:1337.`);
    expect(ogmios("http://o.example:1337")).toBe(`${expected}, not http://o.example:1337: give ws://o.example:1337.`);
    expect(ogmios("ws://o.example:133700")).toBe(`${expected}, not ws://o.example:133700: a port is at most 65535.`);
    expect(ogmios("/ipc/node.socket")).toBe(
      `${expected}, not the path /ipc/node.socket: a node's socket is given with --provider node --node-socket PATH.`,
    );
    const secret = ogmios("ws://user:secret@o.example");
    expect(secret).toBe(`${expected}; what was given has a user, a password, a query or a fragment.`);
  });

  it.each([
    [["--provider", "blockfrost", "--blockfrost-url", "b.example/api/v0"], "give https://b.example/api/v0."],
    [["--provider", "yaci", "--network-magic", "1", "--yaci-url", "y.example:8080"], "give http://y.example:8080."],
    [["--provider", "ogmios", "--ogmios-url", "ws://o", "--kupo-url", "k:1442"], "give http://k:1442."],
    [["--nats-url", "http://n.example:4222"], "not http://n.example:4222: give nats://n.example:4222."],
    [
      ["--nats-url", "nats://one,/tmp/nats"],
      "--nats-url must be a URL like nats://127.0.0.1:4222, not the path /tmp/nats.",
    ],
    [["--database-url", "db.example:5432/arbor"], "not db.example:5432/arbor: give postgres://db.example:5432/arbor."],
    [["--database-url", "mysql://db.example/arbor"], "not mysql://db.example/arbor."],
    [["--token-metadata-server", "t.example"], "give https://t.example."],
    [["--pool-metadata-fetching", "smash.example"], "give https://smash.example."],
  ])("%j", (args, end) => expect(refused(args)).toContain(end));

  it("of NATS may leave out its scheme", () => {
    const natsUrl = "10.0.0.1,tls://n.example:4222";
    expect(readOptions(["--nats-url", natsUrl], {})).toMatchObject({ value: { natsUrl } });
  });
});

it("a misspelt option is answered with the nearest one", () => {
  expect(refused(["--toke-port", "3"])).toBe(
    "Unknown option '--toke-port'; the nearest one is --token-port. --help lists the options.",
  );
  expect(refused(["--database", "x"])).toMatch(/^Unknown option '--database'\. /);
  expect(refused(["--database-uri", "x"])).toContain("the nearest one is --database-url.");
});

it("an option of the environment is named with its variable", () => {
  expect(refused([], { ARBOR_TOKEN_PORT: "70000" })).toBe(
    "--token-port (ARBOR_TOKEN_PORT) must be a whole number from 0 to 65535, not 70000.",
  );
  expect(refused(["--token-port", "70000"], { ARBOR_TOKEN_PORT: "1" })).toMatch(/^--token-port must/);
  expect(refused([], { DATABASE_URL: "arbor" })).toMatch(/^--database-url \(DATABASE_URL\) must be a URL/);
  expect(refused(["--hosts", "a b"])).toBe("--hosts: a b is not a host name.");
});
