/** The options of a start for users and TLS of NATS. */
import { expect, test } from "vitest";
import { HELP, readOptions } from "#src/app/options.ts";

const read = (args: string[], env: Record<string, string> = {}) => {
  const options = readOptions(args, env);
  if (!options.ok) return options.error.message;
  return options.value === "help" ? "help" : options.value.natsFiles;
};

test("are paths; without them there are no users and no TLS", () => {
  expect(read([])).toEqual({});
  const files = ["--nats-users", "u", "--nats-tls-cert", "c", "--nats-tls-key", "k", "--nats-tls-ca", "a"];
  expect(read(files)).toEqual({ users: "u", tls: { cert: "c", key: "k" }, clientsCa: "a" });
  const outside = ["--nats-url", "tls://nats:4222", "--nats-ca", "a", "--nats-tls-cert", "c", "--nats-tls-key", "k"];
  expect(read(outside)).toEqual({ serverCa: "a", tls: { cert: "c", key: "k" } });
  for (const name of ["nats-users", "nats-tls-cert", "nats-tls-key", "nats-tls-ca", "nats-ca"]) {
    expect(HELP).toContain(`--${name} FILE`);
  }
});

test("that cannot be used together are refused on the command line", () => {
  expect(read(["--nats-tls-cert", "c"])).toBe("--nats-tls-cert and --nats-tls-key require each other.");
  expect(read(["--nats-tls-ca", "a"])).toBe("--nats-tls-ca requires --nats-tls-cert.");
  expect(read(["--nats-ca", "a"])).toBe("--nats-ca requires --nats-url.");
  expect(read(["--nats-url", "nats://n:4222", "--nats-users", "u"])).toBe(
    "--nats-users is of the embedded endpoint, without --nats-url.",
  );
  // processes of a deployment share one environment
  expect(read(["--nats-url", "nats://n:4222"], { ARBOR_NATS_USERS: "u" })).toEqual({ users: "u" });
});
