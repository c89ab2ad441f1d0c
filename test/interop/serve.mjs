/**
 * A library in a process of its own: each line of standard input is a call `{name, args}`, each line of standard output
 * `{value}` or `{error}`. What the library itself prints goes to standard error.
 */
import { createInterface } from "node:readline";

console.log = console.info = console.warn = console.error;

/** An error with its causes, as far as they have a text. */
function textOf(error) {
  if (error === null || typeof error !== "object") return String(error);
  const { message, info, response, cause, data } = error;
  const parts = [message, info, response?.data, data, cause].filter((part) => part !== undefined && part !== "");
  return parts.map((part) => part === cause ? textOf(part) : typeof part === "string" ? part : json(part)).join("; ");
}

const json = (value) => JSON.stringify(value, (_, it) => typeof it === "bigint" ? Number(it) : it) ?? "null";

/** Serves calls until standard input ends. `open` receives the settings of the test and returns the functions. */
export async function serve(open) {
  const functions = await open(JSON.parse(process.env.PEER));
  for await (const line of createInterface({ input: process.stdin })) {
    const { name, args } = JSON.parse(line);
    let answer;
    try {
      answer = json({ value: await functions[name](args) ?? null });
    } catch (error) {
      answer = json({ error: textOf(error) });
    }
    process.stdout.write(`${answer}\n`);
  }
  process.exit(0);
}
