/**
 * The program that an image's health check runs: ends with 0 where the process on the health port is ready, else prints
 * why not and ends with 1. Loads no library.
 */
import process from "node:process";

/** A start prints its reasons within a second; a process that does not answer is not ready. */
const PATIENCE_MS = 3_000;

const { ARBOR_HEALTH_PORT: port, ARBOR_HOST: host = "127.0.0.1" } = process.env;
/** An address that stands for all of the machine. */
const all: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "[::1]" };

try {
  if (!port) throw new Error("ARBOR_HEALTH_PORT is not set");
  const response = await fetch(`http://${all[host] ?? host}:${port}/ready`, {
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  // the health of a container keeps what its check prints
  if (!response.ok) throw new Error(await response.text());
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
