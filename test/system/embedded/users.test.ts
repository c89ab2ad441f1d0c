/** The users of the NATS endpoint: its file, while the endpoint runs, and passwords under attack. */
import { chmod, rename, writeFile } from "node:fs/promises";
import { hash } from "@node-rs/bcrypt";
import { connect, type NatsConnection } from "nats";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createLog } from "#src/base/log.ts";
import { type NatsEndpoint, startNatsEndpoint } from "#src/embedded/nats/endpoint.ts";
import type { EndpointLimits } from "#src/embedded/nats/limits.ts";
import { temporaryFiles } from "../../support/infra/tlsCertificates.ts";
import { type Raw, raw } from "./raw.ts";

const TOKEN = "a-token-of-the-test";
const PASSWORD = "correct horse";
const patience = { timeout: 30_000 };

let endpoint: NatsEndpoint;
let files: Awaited<ReturnType<typeof temporaryFiles<"users">>>;
let log: string[];
const raws: Raw[] = [];
const connections: NatsConnection[] = [];

async function start(users: readonly object[], limits: Partial<EndpointLimits> = {}): Promise<void> {
  files = await temporaryFiles({ users: JSON.stringify(users) });
  log = [];
  const writer = createLog("debug", {}, (line) => void log.push(line));
  endpoint = await startNatsEndpoint({ port: 0, token: TOKEN, log: writer, users: files.users, limits });
}

/** Replaces the file at once, as editors and mounted secrets do. */
async function replaceUsers(text: string): Promise<void> {
  await writeFile(`${files.users}.new`, text);
  await rename(`${files.users}.new`, files.users);
}

const entry = async (user: string, more: object = {}, cost = 4) => ({
  user,
  password: await hash(PASSWORD, cost),
  subscribe: { allow: ["arbor.event.>"] },
  ...more,
});

/** Sends a CONNECT line; gives the first line of the answer to it. */
async function attempt(user: string, pass: string): Promise<string> {
  const one = await raw(endpoint.port);
  raws.push(one);
  one.send(`CONNECT ${JSON.stringify({ user, pass, verbose: false })}\r\nPING\r\n`);
  const answer = () => one.received().split("\r\n")[1];
  await expect.poll(answer, patience).toBeTruthy();
  return answer()!;
}

async function client(user: string): Promise<NatsConnection> {
  const one = await connect({ servers: endpoint.url, user, pass: PASSWORD, reconnect: false });
  connections.push(one);
  return one;
}

beforeEach(() => {
  log = [];
});
afterEach(async () => {
  for (const { socket } of raws.splice(0)) socket.destroy();
  await Promise.all(connections.splice(0).map((one) => one.close()));
  await endpoint?.stop();
  await files?.remove();
});

test("after a change of the file, clients of removed and changed users are closed, and others stay", async () => {
  const [kept, changed, removed] = await Promise.all([entry("kept"), entry("changed"), entry("removed")]);
  await start([kept, changed, removed]);
  const clients = [await client("kept"), await client("changed"), await client("removed")];
  await replaceUsers(JSON.stringify([{ ...changed, subscribe: { allow: ["arbor.content.>"] } }, kept]));
  await expect.poll(() => clients.map((one) => one.isClosed()), patience).toEqual([false, true, true]);
  await clients[0]!.flush();
  expect(await attempt("removed", PASSWORD)).toBe("-ERR 'Authorization Violation'");
  expect(await attempt("changed", PASSWORD)).toBe("PONG");
  const again = await client("changed");
  const refused: unknown[] = [];
  again.subscribe("arbor.content.wallet.>", { callback: (error) => void refused.push(error?.code) });
  again.subscribe("arbor.event.>", { callback: (error) => void refused.push(error?.code) });
  await again.flush();
  await expect.poll(() => refused).toEqual(["PERMISSIONS_VIOLATION"]);
});

test("a changed file that cannot be used is reported without its contents, and the users stay as they were", async () => {
  await start([await entry("kept")]);
  const one = await client("kept");
  await replaceUsers(JSON.stringify([{ user: "kept", password: "hunter2-in-clear" }]));
  await expect.poll(() => log.filter((line) => line.includes('"error"')), patience).toHaveLength(1);
  expect(log.join("\n")).toContain('entry 1 (\\"kept\\"), password: must be a bcrypt hash');
  expect(log.join("\n")).not.toContain("hunter2");
  await one.flush();
  expect(await attempt("kept", PASSWORD)).toBe("PONG");
});

test("a file that every account can read is reported at the start", async () => {
  await start([]);
  expect(log).toEqual([]);
  await endpoint.stop();
  await chmod(files.users, 0o644);
  const writer = createLog("warn", {}, (line) => void log.push(line));
  endpoint = await startNatsEndpoint({ port: 0, token: TOKEN, log: writer, users: files.users });
  expect(log.map((line) => JSON.parse(line))).toMatchObject([
    { level: "warn", message: "a file with secrets can be read by all users of this machine", file: files.users },
  ]);
});

test("a file that is missing or invalid ends the start with a message that names the entry", async () => {
  await start([]);
  await endpoint.stop();
  const starting = (users: string) => startNatsEndpoint({ port: 0, token: TOKEN, log: createLog("error"), users });
  await expect(starting("/nowhere/users.json")).rejects.toMatchObject({
    code: "bad_file",
    message: expect.stringMatching(
      /^The users of \/nowhere\/users\.json cannot be used: there is no such file \(ENOENT\)/,
    ),
  });
  await replaceUsers(JSON.stringify([{ user: "a", password: "hunter2" }]));
  await expect(starting(files.users)).rejects.toMatchObject({
    code: "bad_file",
    message: `The users of ${files.users} cannot be used: entry 1 ("a"), password: ` +
      "must be a bcrypt hash ($2a$…, $2b$… or $2y$…), not the password itself.",
  });
});

test("an address that fails often is refused without computing, but known users get in from it, and the token", async () => {
  await start([await entry("known"), await entry("new")]);
  expect(await attempt("known", PASSWORD)).toBe("PONG");
  for (let i = 0; i < 10; i++) expect(await attempt("new", `guess ${i}`)).toBe("-ERR 'Authorization Violation'");
  // now not even the right password is checked
  expect(await attempt("new", PASSWORD)).toBe("-ERR 'Authorization Violation'");
  expect(await attempt("known", PASSWORD)).toBe("PONG");
  expect(await attempt("known", `${PASSWORD}!`)).toBe("-ERR 'Authorization Violation'");
  const member = await connect({ servers: endpoint.url, token: TOKEN, reconnect: false });
  connections.push(member);
  await member.flush();
  expect(log.join("\n")).not.toMatch(/guess|correct horse/);
});

test("guesses do not block the process, and a client that sends more while its password is checked is read later", async () => {
  await start([await entry("slow", {}, 11)], { connectMs: 120_000 });
  const member = await connect({ servers: endpoint.url, token: TOKEN, reconnect: false });
  connections.push(member);
  const many = await Promise.all(Array.from({ length: 40 }, () => raw(endpoint.port)));
  raws.push(...many);
  const flood = "PUB arbor.event.x 0\r\n\r\n".repeat(20_000);
  for (const one of many) {
    one.send(`CONNECT ${JSON.stringify({ user: "slow", pass: "wrong", verbose: false })}\r\n`);
    one.send(flood);
  }
  let over = false;
  const ends = Promise.all(many.map(({ ended }) => ended)).finally(() => over = true);
  let served = 0;
  for (; !over; served++) await member.flush();
  for (const answer of await ends) {
    expect(answer.split("\r\n").slice(1)).toEqual(["-ERR 'Authorization Violation'", ""]);
  }
  // ten checks of this cost are seconds of CPU: if they ran on the event loop, there would be one turn between two checks
  expect(served).toBeGreaterThan(100);
  // of what follows CONNECT, not more is read than a socket gives at once
  expect(endpoint.stats().bytesIn).toBeLessThan(40 * 2 * 65_536);
});

test("another CONNECT with fewer rights ends what the first one was subscribed to", async () => {
  await start([await entry("reader")]);
  const one = await raw(endpoint.port);
  raws.push(one);
  const hello = (credentials: object) => `CONNECT ${JSON.stringify({ verbose: false, ...credentials })}\r\n`;
  one.send(hello({ auth_token: TOKEN }) + "SUB > 1\r\nSUB arbor.content.> 2\r\n");
  one.send(hello({ user: "reader", pass: PASSWORD }) + "SUB > 3\r\nSUB arbor.event.> 4\r\n" + hello({}));
  one.send("SUB arbor.event.> 5\r\nPING\r\n");
  await one.until("PONG");
  const member = await connect({ servers: endpoint.url, token: TOKEN, reconnect: false });
  connections.push(member);
  for (const subject of ["arbor.content.wallet.w.live", "x", "arbor.event.end"]) member.publish(subject);
  await one.until("arbor.event.end");
  expect(one.received().match(/^MSG .*$/gm)).toEqual(["MSG arbor.event.end 5 0"]);
  expect(one.received()).toContain(`-ERR 'Permissions Violation for Subscription to ">"'`);
});
