/** The network of a start, according to its options. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { guaranteesLine } from "#src/chain/provider/guarantees.ts";
import { HELP, readOptions } from "#src/app/options.ts";

function read(args: readonly string[], env: Record<string, string> = {}) {
  const options = readOptions(args, env);
  if (!options.ok) return options.error.message;
  if (options.value === "help") return "help";
  const { roles, nodeSocket, networkMagic, socket } = options.value;
  return { roles: [...roles], nodeSocket, networkMagic, socket };
}

test("a start has its own devnet, or a node and no devnet", () => {
  const devnet = { roles: ["edge", "worker", "follower", "devnet"], networkMagic: 42 };
  expect(read([])).toEqual({ ...devnet, nodeSocket: undefined, socket: undefined });
  expect(read(["--provider", "devnet", "--socket", "/run/a.socket"])).toEqual({ ...devnet, socket: "/run/a.socket" });
  const node = { roles: ["edge", "worker", "follower"], nodeSocket: "/run/n", socket: undefined };
  expect(read(["--provider", "node", "--node-socket", "/run/n"])).toEqual({ ...node, networkMagic: 42 });
  const env = {
    ARBOR_PROVIDER: "node",
    ARBOR_NODE_SOCKET: "/run/n",
    ARBOR_NETWORK_MAGIC: "1",
    ARBOR_ROLES: "follower",
  };
  expect(read([], env)).toEqual({ ...node, roles: ["follower"], networkMagic: 1 });
});

test("contradicting options are reported", () => {
  expect(read(["--provider", "node"])).toMatch(/requires --node-socket/);
  expect(read(["--node-socket", "/run/n"])).toMatch(/requires --provider node/);
  expect(read(["--provider", "node", "--node-socket", "/run/n", "--roles", "devnet"])).toMatch(
    /the role devnet requires/,
  );
  const node = ["--provider", "node", "--node-socket", "/run/n"];
  expect(read([...node, "--epoch-slots", "20"])).toBe("--epoch-slots requires --provider devnet.");
  expect(read([...node, "--socket", "/run/d", "--mining", "manual", "--block-ms", "0", "--pools", "1"])).toBe(
    "--socket, --mining, --block-ms, --pools require --provider devnet.",
  );
  expect(read(node, { ARBOR_EPOCH_SLOTS: "20", ARBOR_BLOCK_MS: "100" })).toMatchObject({ nodeSocket: "/run/n" });
  expect(read(["--provider", "cloud"])).toMatch(/cloud is not a provider/);
  expect(read(["--network-magic", "x"])).toMatch(/whole number/);
});

/** The Blockfrost service of some options, or the error. */
function blockfrost(args: readonly string[], env: Record<string, string> = {}) {
  const options = readOptions(["--provider", "blockfrost", ...args], env);
  if (!options.ok) return options.error.message;
  return options.value === "help" ? "help" : options.value.blockfrost;
}

test("a Blockfrost service is a self-hosted one, or Blockfrost's for a public test network", () => {
  expect(read(["--provider", "blockfrost", "--network-magic", "2"])).toMatchObject({
    roles: ["edge", "worker", "follower"],
  });
  expect(blockfrost(["--network-magic", "1"])).toEqual({ url: "https://cardano-preprod.blockfrost.io/api/v0" });
  expect(blockfrost(["--network-magic", "2"])).toEqual({ url: "https://cardano-preview.blockfrost.io/api/v0" });
  expect(blockfrost([])).toMatch(/requires --blockfrost-url/);
  expect(blockfrost(["--blockfrost-url", "http://dolos:3010", "--blockfrost-from", "ab".repeat(32)])).toEqual({
    url: "http://dolos:3010",
    from: "ab".repeat(32),
  });
  expect(blockfrost(["--blockfrost-url", "http://x", "--roles", "devnet"])).toMatch(/the role devnet requires/);
  for (const url of ["dolos", "ftp://dolos", "https://me:secret@x/api", "https://x/api?project_id=1"]) {
    expect(blockfrost(["--blockfrost-url", url])).toMatch(/must be a URL like/);
  }
  expect(blockfrost(["--network-magic", "1", "--blockfrost-from", "tip"])).toMatch(/must be a block hash/);
  expect(read(["--blockfrost-url", "http://x"])).toMatch(/--blockfrost-url requires --provider blockfrost/);
  expect(read(["--provider", "node", "--node-socket", "/n", "--blockfrost-from", "ab"])).toMatch(
    /requires --provider blockfrost/,
  );
});

test("the project id comes from a file or the environment, and is never printed", () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "arbor-"));
  const file = path.join(folder, "id");
  try {
    writeFileSync(file, "previewFromFile\n");
    const preview = ["--network-magic", "2"];
    const url = "https://cardano-preview.blockfrost.io/api/v0";
    const env = { BLOCKFROST_PROJECT_ID: "previewFromEnv" };
    expect(blockfrost(preview, env)).toEqual({ url, projectId: "previewFromEnv" });
    expect(blockfrost([...preview, "--blockfrost-project-file", file], env)).toEqual({
      url,
      projectId: "previewFromFile",
    });
    expect(blockfrost(["--blockfrost-url", "http://127.0.0.1:3000"], env)).toMatchObject({
      projectId: "previewFromEnv",
    });
    expect(blockfrost(["--blockfrost-url", "http://far.example"], env)).toMatch(/must use https/);
    writeFileSync(file, "two words");
    const wrong = blockfrost([...preview, "--blockfrost-project-file", file]);
    expect(wrong).toMatch(/must consist of letters/);
    expect(wrong).not.toContain("two words");
    expect(blockfrost([...preview, "--blockfrost-project-file", path.join(folder, "none")])).toMatch(/cannot be read/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** The Ogmios server of some options, or the error. */
function ogmios(...args: readonly string[]) {
  const options = readOptions(["--provider", "ogmios", ...args], {});
  if (!options.ok) return options.error.message;
  return options.value === "help" ? "help" : options.value.ogmios;
}

test("an Ogmios server is a WebSocket, with Kupo beside it", () => {
  const url = ["--ogmios-url", "ws://127.0.0.1:1337"];
  const hash = "ab".repeat(32);
  expect(ogmios(...url)).toEqual({ url: "ws://127.0.0.1:1337" });
  expect(ogmios("--ogmios-url", "wss://far.example/x", "--kupo-url", "http://k:1442", "--ogmios-from", `72.${hash}`))
    .toEqual({ url: "wss://far.example/x", kupoUrl: "http://k:1442", from: { slot: 72, hash } });
  expect(ogmios()).toMatch(/requires --ogmios-url URL/);
  for (const wrong of ["ogmios", "http://127.0.0.1:1337", "ws://me:secret@x", "ws://x?key=1"]) {
    expect(ogmios("--ogmios-url", wrong)).toMatch(/must be a URL like ws:/);
  }
  expect(ogmios(...url, "--kupo-url", "ws://k")).toMatch(/--kupo-url must be a URL like/);
  for (const wrong of ["72", hash, `x.${hash}`, "72.ab", `-1.${hash}`]) {
    expect(ogmios(...url, `--ogmios-from=${wrong}`)).toMatch(/must be a slot, a dot and a block hash/);
  }
  expect(read(["--kupo-url", "http://k"])).toMatch(/--kupo-url requires --provider ogmios/);
  expect(read([...url])).toMatch(/--ogmios-url requires --provider ogmios/);
  expect(ogmios(...url, "--roles", "devnet")).toMatch(/the role devnet requires/);
});

test("the trust in a provider's answers is described in one line", () => {
  expect(guaranteesLine("It", [
    { query: "pools", holds: "not at all" },
    { query: "parameters", holds: "at the tip", note: "rounded" },
    { query: "tip", holds: "at a point" },
    { query: "epoch", holds: "at a point" },
  ])).toBe("It answers exact at a point: tip, epoch; at the tip: parameters (rounded); not answered: pools.");
});

test("the help lists each option", () => {
  for (const name of ["provider", "node-socket", "network-magic", "socket", "blockfrost-project-file", "kupo-url"]) {
    expect(HELP).toContain(`--${name} `);
  }
});
