/** The options of `serve`: cardano-wallet's by their names, and where it keeps its data. */
import { networkInterfaces } from "node:os";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Options } from "#src/app/options.ts";
import { readOptions } from "#src/app/options.ts";
import { TRACING_HELP } from "#src/app/serveHelp.ts";
import { readServeOptions, SERVE_HELP, socketProblem } from "#src/app/serveOptions.ts";
import { temporaryFiles } from "../../support/infra/tlsCertificates.ts";

function serve(args: readonly string[], env: Record<string, string> = {}): Options {
  const read = readServeOptions(args, env);
  if (!read.ok || read.value === "help") throw new Error(read.ok ? "help" : read.error.message);
  return read.value;
}
/** The address for `*`: of both versions of IP where the machine has both. */
const anyHost = Object.values(networkInterfaces()).flat().some((one) => one?.family === "IPv6") ? "::" : "0.0.0.0";
const refused = (args: readonly string[], env: Record<string, string> = {}) => {
  const read = readServeOptions(args, env);
  return read.ok ? "accepted" : read.error.message;
};

describe("serve", () => {
  it("keeps its data in memory, unless a database or a folder is given", () => {
    expect(serve([])).toMatchObject({ inMemory: true });
    expect(serve([]).databaseUrl).toBeUndefined();
    expect(serve(["--database", "/srv/wallets"])).toMatchObject({ inMemory: false, folder: "/srv/wallets" });
    expect(serve(["--folder", "/srv/wallets"])).toMatchObject({ inMemory: false, folder: "/srv/wallets" });
    expect(serve([], { ARBOR_FOLDER: "/srv/a" })).toMatchObject({ inMemory: false, folder: "/srv/a" });
    const url = "postgres://a:b@host:5432/c";
    expect(serve([], { DATABASE_URL: url, ARBOR_FOLDER: "" })).toMatchObject({ inMemory: false, databaseUrl: url });
    expect(serve(["--database-url", url])).toMatchObject({ inMemory: false, databaseUrl: url });
    expect(serve([], { DATABASE_URL: "", ARBOR_FOLDER: "" })).toMatchObject({ inMemory: true });
  });

  it("differs in this from start, which keeps its data in a folder unless it is asked not to", () => {
    const start = (args: readonly string[], env: Record<string, string> = {}) => readOptions(args, env);
    expect(start([])).toMatchObject({ ok: true, value: { inMemory: false, folder: ".arbor" } });
    expect(start(["--in-memory"])).toMatchObject({ ok: true, value: { inMemory: true } });
    expect(start([], { ARBOR_IN_MEMORY: "true" })).toMatchObject({ ok: true, value: { inMemory: true } });
    const both = start(["--in-memory"], { DATABASE_URL: "postgres://a:b@host:5432/c" });
    expect(both.ok && both.value !== "help" && both.value.databaseUrl).toBeUndefined();
    expect(start(["--in-memory", "--folder", "/srv/a"]))
      .toMatchObject({ ok: false, error: { message: "--in-memory and --folder exclude each other." } });
    expect(start(["--in-memory", "--database-url", "postgres://a:b@host:5432/c"])).toMatchObject({ ok: false });
    expect(start(["--database", "/srv/a"])).toMatchObject({ ok: false });
  });

  it("takes the options of cardano-wallet by their names", () => {
    const { walletPort, walletHost, nodeSocket, syncToleranceS, networkMagic, log, roles } = serve([
      ...["--mainnet", "--node-socket", "/run/node.socket", "--port", "8190", "--listen-address", "*"],
      ...["--sync-tolerance", "120s", "--log-level", "NOTICE", "--shutdown-handler", "--database", "/srv/a"],
    ]);
    expect({ walletPort, walletHost, nodeSocket, syncToleranceS, networkMagic, log: log.all, roles: [...roles] })
      .toEqual({
        walletPort: 8190,
        walletHost: anyHost,
        nodeSocket: "/run/node.socket",
        syncToleranceS: 120,
        networkMagic: 764_824_073,
        log: "notice",
        roles: ["edge", "worker", "follower"],
      });
    expect(serve(["--random-port"]).walletPort).toBe(0);
    expect(serve(["--log-level", "emergency"]).log.all).toBe("emergency");
    expect(serve(["--sync-tolerance", "120"]).syncToleranceS).toBe(120);
  });

  it("refuses what contradicts itself, and what it does not have", () => {
    expect(refused(["--port", "1", "--random-port"])).toBe("--port and --random-port exclude each other.");
    expect(refused(["--ui-port", "1", "--ui-random-port"])).toBe("--ui-port and --ui-random-port exclude each other.");
    expect(refused(["--port", "1", "--wallet-port", "2"])).toMatch(/--port and --wallet-port are the same option/);
    expect(refused(["--database", "a", "--folder", "b"])).toMatch(/--database and --folder are the same option/);
    expect(refused(["--port", "x"])).toBe("--port must be a whole number from 0 to 65535, not x.");
    expect(refused(["--wallet-port", "x"])).toBe("--wallet-port must be a whole number from 0 to 65535, not x.");
    expect(refused([], { ARBOR_WALLET_PORT: "x" })).toMatch(/^--wallet-port \(ARBOR_WALLET_PORT\) must be/);
    expect(refused(["--in-memory", "--database", "/a"])).toBe("--in-memory and --database exclude each other.");
    expect(refused(["--sync-tolerance", "5m"])).toMatch(/--sync-tolerance must be a whole number/);
    expect(refused(["--tls-sv-ca", "a"])).toMatch(/Unknown option '--tls-sv-ca'/);
    expect(refused(["--log-level", "loud"])).toMatch(/--log-level is one of/);
  });

  it("lists them with --help", () => {
    expect(readServeOptions(["--help"], {})).toEqual({ ok: true, value: "help" });
    for (const name of ["listen-address", "port", "random-port", "database", "shutdown-handler", "in-memory"]) {
      expect(SERVE_HELP).toContain(`  --${name} `);
    }
  });
});

/** Byron genesis files of pre-production and of mainnet, as far as they are read. */
let files: Awaited<ReturnType<typeof genesisFiles>>;
const genesisFiles = () =>
  temporaryFiles({
    "preprod.json": JSON.stringify({ startTime: 1_654_041_600, protocolConsts: { k: 2160, protocolMagic: 1 } }),
    "mainnet.json": JSON.stringify({
      startTime: 1_506_203_091,
      protocolConsts: { k: 2160, protocolMagic: 764_824_073 },
    }),
  });
beforeAll(async () => void (files = await genesisFiles()));
afterAll(() => files.remove());

describe("the program cardano-wallet", () => {
  const NODE = ["--node-socket", "/run/node.socket"];
  const strict = (args: readonly string[], env: Record<string, string> = {}) =>
    readServeOptions(args, env, { strict: true });
  const accepted = (...args: string[]) => {
    const read = strict([...NODE, "--mainnet", ...args]);
    if (!read.ok || read.value === "help") throw new Error(read.ok ? "help" : read.error.message);
    return read.value;
  };
  const problem = (...args: string[]) => {
    const read = strict(args);
    return read.ok ? "accepted" : read.error.message;
  };

  it("has the defaults of cardano-wallet, and free ports for what that does not have", () => {
    expect(accepted()).toMatchObject({
      walletHost: "127.0.0.1",
      walletPort: 8090,
      nodeSocket: "/run/node.socket",
      networkMagic: 764_824_073,
      syncToleranceS: 300,
      inMemory: true,
      tokenPort: 0,
      operatorPort: 0,
      natsPort: 0,
      outside: { poolMetadata: "none" },
      log: { all: "debug", components: { "": "info", edge: "info", node: "info" } },
    });
    const { walletUiPort, walletTls, databaseUrl } = accepted();
    expect([walletUiPort, walletTls, databaseUrl]).toEqual([undefined, undefined, undefined]);
  });

  it("takes each of its options", () => {
    const cases: [string[], object][] = [
      [["--listen-address", "*"], { walletHost: anyHost }],
      [["--listen-address", "*6"], { walletHost: "::" }],
      [["--listen-address", "::1"], { walletHost: "::1" }],
      [["--listen-address", "wallet.example"], { walletHost: "wallet.example" }],
      [["--port", "1024"], { walletPort: 1024 }],
      [["--port", "65535"], { walletPort: 65_535 }],
      [["--random-port"], { walletPort: 0 }],
      [["--ui-port", "8190"], { walletUiPort: 8190 }],
      [["--ui-random-port"], { walletUiPort: 0 }],
      [["--sync-tolerance", "0s"], { syncToleranceS: 0 }],
      [["--database", "/srv/wallets"], { inMemory: false, folder: "/srv/wallets" }],
      [["--pool-metadata-fetching", "direct"], { outside: { poolMetadata: "direct" } }],
      [["--pool-metadata-fetching", "https://smash.example"], { outside: { poolMetadata: "https://smash.example" } }],
      [["--ipfs-gateway-url", "https://ipfs.example"], { outside: { ipfs: "https://ipfs.example" } }],
      [["--token-metadata-server", "https://tokens.example"], { outside: { tokenMetadata: "https://tokens.example" } }],
      [["--tls-ca-cert", "a", "--tls-sv-cert", "b", "--tls-sv-key", "c"], {
        walletTls: { ca: "a", cert: "b", key: "c" },
      }],
      [["--log-level", "Error"], { log: { all: "error" } }],
      [["--trace-network", "debug", "--trace-api-server", "off"], {
        log: { components: { node: "debug", edge: "off" } },
      }],
      [["+RTS", "-N2", "-RTS"], { builders: 2 }],
      [["+RTS", "-N", "-A64m", "-RTS", "--port", "2000"], { walletPort: 2000 }],
      [["--port", "2000", "+RTS", "-N3"], { walletPort: 2000, builders: 3 }],
      [["--shutdown-handler"], { walletPort: 8090 }],
    ];
    for (const [args, expected] of cases) expect(accepted(...args), args.join(" ")).toMatchObject(expected);
  });

  it("requires a node and exactly one network", () => {
    expect(problem()).toBe("--node-socket FILE is required; exactly one of --mainnet and --testnet FILE is required.");
    expect(problem("--mainnet")).toBe("--node-socket FILE is required.");
    expect(problem(...NODE)).toBe("exactly one of --mainnet and --testnet FILE is required.");
    expect(problem(...NODE, "--mainnet", "--testnet", files["preprod.json"]))
      .toContain("exactly one of --mainnet and --testnet FILE is required");
    expect(problem(...NODE, "--testnet", files["mainnet.json"])).toContain("is the genesis of mainnet: use --mainnet");
    expect(strict([...NODE, "--testnet", files["preprod.json"]])).toMatchObject({
      ok: true,
      value: { networkMagic: 1 },
    });
    expect(problem(...NODE, "--testnet", "/nowhere.json")).toContain("/nowhere.json cannot be read");
  });

  it("refuses each option that is wrong, or excludes another, with its name", () => {
    const cases: [string[], string][] = [
      [["--port", "2000", "--random-port"], "--port and --random-port exclude each other"],
      [["--ui-port", "2000", "--ui-random-port"], "--ui-port and --ui-random-port exclude each other"],
      [["--port", "1023"], "--port: expected a TCP port number between 1024 and 65535"],
      [["--port", "65536"], "--port: expected a TCP port number between 1024 and 65535"],
      [["--ui-port", "x"], "--ui-port: expected a TCP port number between 1024 and 65535"],
      [["--sync-tolerance", "300"], "--sync-tolerance is expressed in seconds with a trailing 's'"],
      [["--sync-tolerance", "5m"], "--sync-tolerance is expressed in seconds with a trailing 's'"],
      [["--tls-ca-cert", "a"], "--tls-ca-cert, --tls-sv-cert and --tls-sv-key require each other"],
      [["--tls-sv-cert", "a", "--tls-sv-key", "b"], "--tls-ca-cert, --tls-sv-cert and --tls-sv-key require each other"],
      [
        ["--pool-metadata-fetching", "some"],
        "--pool-metadata-fetching must be none, direct or the URL of a SMASH server",
      ],
      [
        ["--token-metadata-server", "ftp://a"],
        "--token-metadata-server must be a URL like https://tokens.cardano.org, not ftp://a",
      ],
      [["--log-level", "loud"], "--log-level is one of debug, info, notice"],
      [["--trace-network", "loud"], "--trace-network is one of debug, info, notice"],
      [["--trace-stars", "info"], "Unknown option '--trace-stars'"],
      [["--database"], "Option '--database <value>' argument missing"],
      [["--mainnet=yes"], "Option '--mainnet' does not take an argument"],
      [["wallets"], "Unexpected argument 'wallets'"],
      [["+RTS", "-N0", "-RTS"], "+RTS -N0: the number of cores must be from 1 to 64"],
    ];
    for (const [args, message] of cases) {
      expect(problem(...NODE, "--mainnet", ...args), args.join(" ")).toContain(message);
    }
  });

  it("refuses paths that no socket can have, and pipes where there are none", () => {
    const long = `/${"a".repeat(100)}`;
    expect(socketProblem(`/${"a".repeat(99)}`, "linux")).toBeUndefined();
    expect(problem("--mainnet", "--node-socket", long)).toContain(
      "has a path of 101 bytes; a socket's path has at most 100",
    );
    // the limit counts bytes
    expect(socketProblem("/" + "é".repeat(50), "linux")).toContain("101 bytes");
    const pipe = "\\\\.\\pipe\\cardano-node";
    expect(socketProblem(pipe, "linux")).toBe(
      "--node-socket names a pipe of Windows; this system has sockets, such as /run/node.socket",
    );
    expect(socketProblem(pipe, "win32")).toBeUndefined();
    expect(socketProblem("/run/node.socket", "win32")).toContain("must be a pipe such as");
    expect(socketProblem("\\\\.\\pipe\\", "win32")).toContain("must be a pipe such as");
  });

  it("explains tracing", () => {
    expect(TRACING_HELP).toContain("debug, info, notice, warning, error, critical, alert, emergency");
    expect(TRACING_HELP).toContain(
      "application, api-server, wallet-engine, wallet-db, pools-engine, pools-db, ntp-client, network",
    );
  });
});
