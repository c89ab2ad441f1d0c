/** The PostgreSQL that several processes share: it is there for the first and until the last, however they end. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { signal, startTimeOf } from "#src/embedded/postgres/processes.ts";
import { openStore } from "#src/store/store.ts";
import { until } from "../../support/base/until.ts";
import { type Run, run } from "./run.ts";

const SCRIPT = fileURLToPath(new URL("./member.ts", import.meta.url));

let temporary: string;
const running = new Set<Run>();

beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), "arbor-shared-"));
  chmodSync(temporary, 0o755);
});
afterEach(async () => {
  for (const member of running) signal(member.pid, "SIGKILL");
  await Promise.all([...running].map(({ ended }) => ended));
  running.clear();
  await until("the server has ended", async () => !existsSync(pipe()));
  rmSync(temporary, { recursive: true, force: true });
});

const root = () => join(temporary, `arbor-postgres-${process.getuid!()}`);
const folder = () => join(root(), readdirSync(root()).find((name) => name.startsWith("server-")) ?? "none");
const pipe = () => join(existsSync(root()) ? folder() : root(), "members");
const serverPid = () => Number(readFileSync(join(folder(), "data", "postmaster.pid"), "latin1").split("\n")[0]);

/** Starts a member; gives it with the URL of its database. */
async function startMember(): Promise<Run & { url: string }> {
  const member = run([temporary], { script: SCRIPT });
  running.add(member);
  const { url, message } = await member.next((said) => said.url !== undefined || said.message !== undefined);
  expect(message).toBe(undefined);
  return Object.assign(member, { url: url! });
}
async function end(member: Run, name: "SIGINT" | "SIGKILL") {
  signal(member.pid, name);
  await member.ended;
  running.delete(member);
}
async function query<T>(url: string, text: string): Promise<T[]> {
  const store = openStore(url, { max: 1 });
  try {
    return [...await store.sql.unsafe(text)] as T[];
  } finally {
    await store.close();
  }
}
const databases = async (url: string) =>
  (await query<{ name: string }>(url, "select datname as name from pg_database order by 1")).map(({ name }) => name);
const prepared = (member: Run) => member.said.filter(({ progress }) => progress?.startsWith("Preparing")).length;

test("four that start at once have one server, and a prepared database each", async () => {
  const members = await Promise.all([1, 2, 3, 4].map(startMember));
  expect(new Set(members.map(({ url }) => new URL(url).port)).size).toBe(1);
  expect(members.map(prepared).reduce((a, b) => a + b)).toBe(1);
  for (const [number, { url }] of members.entries()) await query(url, `insert into note values ('${number}')`);
  for (const [number, { url }] of members.entries()) {
    expect(await query(url, "select text from note")).toEqual([{ text: String(number) }]);
  }
  const [first, ...others] = members;
  await end(first!, "SIGINT");
  // the server does not end with the process that started it
  expect(await query(others[0]!.url, "select text from note")).toEqual([{ text: "1" }]);
  expect(await databases(others[0]!.url)).not.toContain(new URL(first!.url).pathname.slice(1));
});

test("the server ends with its last member, also one that is killed, and starts again without preparation", async () => {
  const first = await startMember();
  const pid = serverPid();
  expect(prepared(first)).toBe(1);
  await end(first, "SIGKILL");
  await until("the server has ended", async () => startTimeOf(pid) === undefined && !existsSync(pipe()));
  const second = await startMember();
  expect(prepared(second)).toBe(0);
  // the database of the killed one is dropped
  expect(await databases(second.url)).not.toContain(new URL(first.url).pathname.slice(1));
  expect(await query(second.url, "select text from note")).toEqual([]);
  await end(second, "SIGINT");
  await until("the server has ended", async () => !existsSync(pipe()));
  expect(readdirSync(temporary).filter((name) => name !== `arbor-postgres-${process.getuid!()}`)).toEqual(
    [expect.stringContaining(`-${first.pid}-`)],
  );
});

test("members that come and go meet no server that ends", async () => {
  for (let round = 0; round < 3; round++) {
    const member = await startMember();
    const [next] = await Promise.all([startMember(), end(member, round % 2 === 0 ? "SIGINT" : "SIGKILL")]);
    expect(await query(next.url, "select text from note")).toEqual([]);
    await end(next, "SIGINT");
  }
});

test("a server that is killed is lost to its members, and its data are made again", async () => {
  const member = await startMember();
  process.kill(serverPid(), "SIGKILL");
  const { lost } = await member.next((said) => said.lost !== undefined);
  expect(lost).toMatch(/^PostgreSQL ended unexpectedly; see .*server\.log\.$/);
  await end(member, "SIGINT");
  const next = await startMember();
  expect(prepared(next)).toBe(1);
});

test("a folder that others can write is refused", async () => {
  mkdirSync(root());
  chmodSync(root(), 0o777);
  const member = run([temporary], { script: SCRIPT });
  running.add(member);
  expect(await member.next((said) => said.message !== undefined)).toMatchObject({ code: "not_reachable" });
});
