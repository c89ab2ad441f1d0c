/**
 * All system tests of the test command on servers as their makers ship them, no setting changed: the PostgreSQL that is
 * installed (Debian's 15 has `jit = on`), and the bundled release. Each is a run of its own, whose summary is printed.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import process from "node:process";
import { describe, expect, test } from "vitest";
import { serverAccount } from "#src/embedded/postgres/account.ts";
import { findBinaries } from "#src/embedded/postgres/binaries.ts";
import { findPostgres, startInstalledServer } from "../support/infra/postgresServer.ts";

/**
 * One file at a time: a stock server has 100 connections, of which a service takes up to 40 at a time of load. The project's
 * own number of workers has precedence over `--maxWorkers`.
 */
const RUN = ["run", "-A", "npm:vitest", "run", "--project", "system", "--no-file-parallelism", "--reporter=dot"];
const HOUR_MS = 3_600_000;

describe("the system tests pass", () => {
  const installed = findPostgres();
  test.skipIf(installed === undefined)("on the installed PostgreSQL", () => passOn(installed!), HOUR_MS);
  test(
    "on the bundled PostgreSQL with the settings of its makers",
    () => passOn(findBinaries(serverAccount(tmpdir()), tmpdir(), () => {})),
    HOUR_MS,
  );
});

async function passOn(native: string): Promise<void> {
  const server = await startInstalledServer(native);
  try {
    // those of a long run have more cases; this is the test command's
    const { LONG_TESTS: _, VITEST: __, ...env } = process.env;
    const child = spawn(process.execPath, RUN, {
      env: { ...env, DATABASE_URL: server.url },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (part: string) => output += part);
    const [code] = await once(child, "exit");
    console.log(`${server.name}\n${output.split("\n").slice(-20).join("\n")}`);
    expect(code === 0 ? "" : output).toBe("");
  } finally {
    await server.stop();
  }
}
