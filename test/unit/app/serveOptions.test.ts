/** The options of `serve`: cardano-wallet's by their names, and where it keeps its data. */
import { describe, expect, it } from "vitest";
import type { Options } from "#src/app/options.ts";
import { readOptions } from "#src/app/options.ts";
import { readServeOptions, SERVE_HELP } from "#src/app/serveOptions.ts";

function serve(args: readonly string[], env: Record<string, string> = {}): Options {
  const read = readServeOptions(args, env);
  if (!read.ok || read.value === "help") throw new Error(read.ok ? "help" : read.error.message);
  return read.value;
}
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
    const { walletPort, walletHost, nodeSocket, syncToleranceS, networkMagic, logLevel, roles } = serve([
      ...["--mainnet", "--node-socket", "/run/node.socket", "--port", "8190", "--listen-address", "*"],
      ...["--sync-tolerance", "120s", "--log-level", "NOTICE", "--shutdown-handler", "--database", "/srv/a"],
    ]);
    expect({ walletPort, walletHost, nodeSocket, syncToleranceS, networkMagic, logLevel, roles: [...roles] }).toEqual({
      walletPort: 8190,
      walletHost: "0.0.0.0",
      nodeSocket: "/run/node.socket",
      syncToleranceS: 120,
      networkMagic: 764_824_073,
      logLevel: "info",
      roles: ["edge", "worker", "follower"],
    });
    expect(serve(["--random-port"]).walletPort).toBe(0);
    expect(serve(["--log-level", "emergency"]).logLevel).toBe("error");
    expect(serve(["--sync-tolerance", "120"]).syncToleranceS).toBe(120);
  });

  it("refuses what contradicts itself, and what it does not have", () => {
    expect(refused(["--port", "1", "--random-port"])).toMatch(/--port and --random-port exclude each other/);
    expect(refused(["--port", "1", "--wallet-port", "2"])).toMatch(/--port and --wallet-port are the same option/);
    expect(refused(["--database", "a", "--folder", "b"])).toMatch(/--database and --folder are the same option/);
    expect(refused(["--sync-tolerance", "5m"])).toMatch(/--sync-tolerance must be a whole number/);
    expect(refused(["--tls-ca-cert", "a"])).toMatch(/Unknown option '--tls-ca-cert'/);
    expect(refused(["--log-level", "loud"])).toMatch(/--log-level is one of/);
  });

  it("lists them with --help", () => {
    expect(readServeOptions(["--help"], {})).toEqual({ ok: true, value: "help" });
    for (const name of ["listen-address", "port", "random-port", "database", "shutdown-handler", "in-memory"]) {
      expect(SERVE_HELP).toContain(`  --${name} `);
    }
  });
});
