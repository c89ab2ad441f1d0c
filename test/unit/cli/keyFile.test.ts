/** Addresses that the command line prints for a key. */
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { parseAddress } from "#src/cardano/address.ts";
import { runCli } from "../../support/cli/arborCli.ts";

const arbor = async (...args: string[]) => {
  const { code, stdout, stderr } = await runCli(args);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout.trim();
};

test("an address is one of a test network, and with --mainnet the same one of mainnet", async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "arbor-key-"));
  const file = path.join(folder, "key");
  try {
    const created = await arbor("key", "new", file, "--mainnet");
    const [ours, theirs] = [parseAddress(created, 1), parseAddress(await arbor("address", file), 0)];
    expect(created).toMatch(/^addr1v/);
    expect(ours.ok && theirs.ok && ours.value.hex.slice(2)).toBe(theirs.ok && theirs.value.hex.slice(2));
    expect(await arbor("address", file, "--mainnet")).toBe(created);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
