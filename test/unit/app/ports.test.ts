/** Ports of a start that are taken are named together, each with its option; parts of a devnet are left out by name. */
import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { lockFolder } from "#src/embedded/postgres/lock.ts";
import { listeningPort } from "#src/embedded/postgres/ports.ts";
import { DEVNET_PARTS, HELP, type Options, readOptions } from "#src/app/options.ts";
import { checkPorts } from "#src/app/ports.ts";
import { readServeOptions } from "#src/app/serveOptions.ts";

let taken: Server[];
beforeAll(async () => {
  taken = [createServer().listen(0, "127.0.0.1"), createServer().listen(0, "127.0.0.1")];
  await Promise.all(taken.map((server) => once(server, "listening")));
});
afterAll(() => taken.forEach((server) => server.close()));

const FREE = ["token", "wallet", "operator", "devnet", "indexer", "node", "ogmios", "kupo", "utxorpc", "nats"]
  .flatMap((name) => [`--${name}-port`, "0"]);

function options(...args: string[]): Options {
  const read = readOptions([...FREE, ...args], {});
  if (!read.ok || read.value === "help") throw new Error(read.ok ? "help" : read.error.message);
  return read.value;
}

const problem = async (...args: string[]) => await checkPorts(options(...args)).then(() => undefined, String);

test("an address that the machine does not have is named with the option of the host", async () => {
  // an address of documentation, RFC 5737
  expect(await problem("--operator-host", "192.0.2.1", "--operator-port", "1024", "--operator-token", "t".repeat(16)))
    .toMatch(
      /The operator service cannot listen at 192\.0\.2\.1:1024: this machine has no such address \(\w+\)\. Change it with --operator-host or --host\.$/,
    );
});

test("an offset moves every default port, and no port that is given", () => {
  const ports = (...args: string[]) => {
    const read = readOptions(["--signer-seed", "a", ...args], {});
    if (!read.ok || read.value === "help") throw new Error(read.ok ? "help" : read.error.message);
    const { signers, ...rest } = read.value;
    const own = Object.entries(rest).flatMap(([name, value]) => name.endsWith("Port") ? [[name, Number(value)]] : []);
    return { ...Object.fromEntries(own), signer: signers!.instances[0]!.port };
  };
  const usual = ports();
  expect(Object.keys(usual)).toHaveLength(11);
  const moved = Object.fromEntries(Object.entries<number>(usual).map(([name, port]) => [name, port + 100]));
  expect(ports("--port-offset", "100")).toEqual(moved);
  expect(ports("--port-offset", "100", "--token-port", "3000")).toEqual({ ...moved, tokenPort: 3000 });
  expect(readOptions(["--port-offset", "20000"], {})).toMatchObject({
    error: { message: "--port-offset must be a whole number from 0 to 15000, not 20000." },
  });
});

test("all taken ports are in one sentence", async () => {
  const [one, two] = taken.map(listeningPort);
  expect(await problem()).toBeUndefined();
  expect(await problem("--node-port", `${one}`)).toMatch(
    new RegExp(`Port ${one} for the devnet's node socket over TCP is used by another program; .* with --node-port\\.$`),
  );
  expect(await problem("--devnet-port", `${one}`, "--token-port", `${two}`)).toMatch(
    new RegExp(
      `: ${one} for the devnet \\(--devnet-port\\), ${two} for the token service \\(--token-port\\)\\. ` +
        "Stop those programs, or choose other ports: each with its option, or all with --port-offset N\\.$",
    ),
  );
});

test("a second start in a folder names the first", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "arbor-ports-"));
  const postgres = path.join(folder, "postgres");
  await mkdir(postgres);
  const lock = await lockFolder(postgres);
  const second = () => {
    const read = readOptions([...FREE, "--devnet-port", `${listeningPort(taken[0]!)}`], { ARBOR_FOLDER: folder });
    if (!read.ok || read.value === "help") throw new Error(read.ok ? "help" : read.error.message);
    return checkPorts(read.value).then(() => undefined, String);
  };
  expect(await second()).toContain(`Process ${process.pid} runs with the data in ${folder} already`);
  lock.release();
  expect(await second()).toContain("is used by another program");
  await rm(folder, { recursive: true });
});

test("a taken port is reported under the option of the program", async () => {
  const [one, two] = taken.map(listeningPort);
  const servedIn = (env: Record<string, string>, ...args: string[]) => {
    const read = readServeOptions(["--token-port", "0", "--operator-port", "0", "--nats-port", "0", ...args], env);
    if (!read.ok || read.value === "help") throw new Error(read.ok ? "help" : read.error.message);
    return checkPorts({ ...read.value, roles: new Set(["edge"]) }).then(() => undefined, String);
  };
  const served = (...args: string[]) => servedIn({}, ...args);
  const usual = createServer().listen(8090, "127.0.0.1");
  // where another program has the usual port, it is taken as well
  await Promise.race([once(usual, "listening"), once(usual, "error")]);
  expect(await served()).toMatch(/^EmbeddedError: Port 8090 .* with --port\.$/);
  usual.close();
  expect(await servedIn({ ARBOR_WALLET_PORT: `${one}` })).toMatch(/ with --wallet-port\.$/);
  expect(await served("--port", `${one}`)).toMatch(/ with --port\.$/);
  expect(await served("--wallet-port", `${one}`)).toMatch(/ with --wallet-port\.$/);
  expect(await served("--port", "1024", "--listen-address", "192.0.2.1")).toMatch(
    / Change it with --listen-address\.$/,
  );
  expect(await served("--port", `${one}`, "--ui-port", `${two}`)).toMatch(/\(--port\), .*\(--ui-port\)\. /);
});

test("the ports of what does not run need not be free", async () => {
  const port = `${listeningPort(taken[0]!)}`;
  for (const [service, part] of [["node", "tcp"], ["ogmios", "ogmios"], ["kupo", "kupo"], ["utxorpc", "utxorpc"]]) {
    expect(await problem(`--${service}-port`, port)).toContain(`--${service}-port`);
    expect(await problem(`--${service}-port`, port, "--devnet-without", part!)).toBeUndefined();
  }
  expect(await problem("--mcp-port", port)).toContain("--mcp-port");
  expect(await problem("--node-port", port, "--devnet-port", port, "--roles", "edge")).toBeUndefined();
  expect(await problem("--token-port", port, "--roles", "devnet")).toBeUndefined();
  expect(await problem("--nats-port", port, "--nats-url", "nats://127.0.0.1:1")).toBeUndefined();
  expect(await problem("--health-port", port)).toContain("--health-port");
  expect(await problem("--wallet-ui-port", port)).toContain("--wallet-ui-port");
});

test("parts of a devnet are left out with those that depend on them", () => {
  expect([...options().devnetWithout]).toEqual([]);
  expect([...options("--devnet-without", "tcp, wallet").devnetWithout]).toEqual(["wallet", "tcp"]);
  expect([...options("--devnet-without", "index").devnetWithout]).toEqual(["index", "blockfrost", "kupo"]);
  expect([...options("--devnet-without", DEVNET_PARTS.join(",")).devnetWithout]).toEqual(DEVNET_PARTS);
  expect(readOptions(["--devnet-without", "bursa"], {})).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining("bursa is not a part of the devnet") },
  });
  expect(readOptions(["--provider", "node", "--node-socket", "/n", "--devnet-without", "tcp"], {})).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining("--devnet-without requires --provider devnet") },
  });
  for (const part of DEVNET_PARTS) expect(HELP).toMatch(new RegExp(`--devnet-without .*\\b${part}\\b`));
});
