/** Which network a start is about, by its options. */
import { expect, test } from "vitest";
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

test("what does not go together is said", () => {
  expect(read(["--provider", "node"])).toMatch(/needs --node-socket/);
  expect(read(["--node-socket", "/run/n"])).toMatch(/goes with --provider node/);
  expect(read(["--provider", "node", "--node-socket", "/run/n", "--roles", "devnet"])).toMatch(
    /the role devnet goes with/,
  );
  const node = ["--provider", "node", "--node-socket", "/run/n"];
  expect(read([...node, "--epoch-slots", "20"])).toBe("--epoch-slots goes with --provider devnet.");
  expect(read([...node, "--socket", "/run/d", "--block-ms", "0", "--pools", "1"])).toBe(
    "--socket, --block-ms, --pools go with --provider devnet.",
  );
  expect(read(node, { ARBOR_EPOCH_SLOTS: "20", ARBOR_BLOCK_MS: "100" })).toMatchObject({ nodeSocket: "/run/n" });
  expect(read(["--provider", "cloud"])).toMatch(/cloud is no provider/);
  expect(read(["--network-magic", "764824073"])).toMatch(/test network/);
  expect(read(["--network-magic", "x"])).toMatch(/whole number/);
});

test("the help names each", () => {
  for (const name of ["provider", "node-socket", "network-magic", "socket"]) expect(HELP).toContain(`--${name} `);
});
