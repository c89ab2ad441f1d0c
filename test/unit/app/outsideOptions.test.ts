/** The options of a start for external servers. */
import { expect, test } from "vitest";
import { HELP, readOptions } from "#src/app/options.ts";

const read = (args: string[], env: Record<string, string> = {}) => {
  const options = readOptions(args, env);
  return options.ok && options.value !== "help" ? options.value.outside : options;
};

const ipfs = "https://ipfs.blockfrost.dev";

test("without options no pool metadata is fetched but a devnet's own", () => {
  expect(read([])).toEqual({ poolMetadata: "direct", ipfs, allowPrivate: true, ntpServers: [] });
  expect(read(["--provider", "node", "--node-socket", "/tmp/node.socket"]))
    .toMatchObject({ poolMetadata: "none", ipfs, allowPrivate: false });
  expect(read(["--outside-private", "false"])).toMatchObject({ allowPrivate: false });
  expect(
    read(["--pool-metadata-fetching", "https://smash.example/"], {
      ARBOR_TOKEN_METADATA_SERVER: "https://tokens.example",
      ARBOR_IPFS_GATEWAY_URL: "http://127.0.0.1:8080",
    }),
  ).toEqual({
    poolMetadata: "https://smash.example",
    tokenMetadata: "https://tokens.example",
    ipfs: "http://127.0.0.1:8080",
    allowPrivate: true,
    ntpServers: [],
  });
  for (
    const name of ["--pool-metadata-fetching", "--token-metadata-server", "--ipfs-gateway-url", "--outside-private"]
  ) {
    expect(HELP).toContain(name);
    expect(read([name, "nowhere"])).toMatchObject({ ok: false, error: { code: "bad_option" } });
  }
});

test("NTP servers are cardano-wallet's by default, others or none by option, and none on a devnet", () => {
  const servers = (args: string[], env: Record<string, string> = {}) => {
    const options = read(args, env);
    return "ntpServers" in options ? options.ntpServers.map(({ host, port }) => `${host} ${port}`) : options;
  };
  const node = ["--provider", "node", "--node-socket", "/tmp/node.socket"];
  expect(servers([])).toEqual([]);
  expect(servers(node)).toEqual(["0.de.pool.ntp.org 123", "0.europe.pool.ntp.org 123", "0.pool.ntp.org 123"]);
  expect(servers([...node, "--ntp-servers", "none"])).toEqual([]);
  expect(servers(node, { ARBOR_NTP_SERVERS: "none" })).toEqual([]);
  expect(servers(["--ntp-servers", "time.example, 192.0.2.1:1123,[2001:db8::1]:65535,[::1]"]))
    .toEqual(["time.example 123", "192.0.2.1 1123", "2001:db8::1 65535", "::1 123"]);
  for (const list of ["time.example:0", "a:65536", "a,,b", "http://a", "::1", "a b", "user@a", "none,a:x"]) {
    expect(servers(["--ntp-servers", list]), list).toMatchObject({ ok: false, error: { code: "bad_option" } });
  }
});
