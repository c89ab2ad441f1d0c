/**
 * Starts that fail: each ends with one sentence that says what to do, no stack trace, and an exit code other than 0.
 */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openStore, type Store } from "#src/store/store.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { startProxy } from "../../support/infra/tcpProxy.ts";

let infra: Infra;
let store: Store;

beforeAll(async () => {
  infra = await sharedInfra({ empty: true });
  store = openStore(infra.databaseUrl, { max: 1 });
});
afterAll(async () => {
  await store?.close();
  await infra?.stop();
});

/** The last line of a process that refuses to start on a database, after the checks that apply to every refusal. */
async function refusal(databaseUrl: string): Promise<string> {
  const started = Arbor.start({ infra: { ...infra, databaseUrl }, ownProcess: true, roles: "edge" });
  const error = await started.then((arbor) => arbor.end("SIGKILL"), (error: Error) => error);
  if (!(error instanceof Error)) throw new Error("it started");
  const [first, ...lines] = error.message.trim().split("\n");
  expect(first).toBe("the process ended with 1:");
  expect(error.message).not.toMatch(/^\s+at /m);
  expect(error.message).not.toContain(new URL(infra.databaseUrl).password);
  return lines.at(-1)!;
}

/** The test's database behind another port of loopback. */
function at(port: number): string {
  const url = new URL(infra.databaseUrl);
  url.host = `127.0.0.1:${port}`;
  return url.href;
}

describe("a start is refused", () => {
  it("on a database that a later version of the program has changed, which stays unchanged", async () => {
    await store.sql`create table migration (id text primary key, applied_at timestamptz not null default now())`;
    await store.sql`insert into migration (id) values ('runtime-999')`;
    const sentence = await refusal(infra.databaseUrl);
    expect(sentence).toMatch(/later version of Arbor.*runtime-999.*Start that version or a later one/);
    expect(await store.sql`select id from migration`).toEqual([{ id: "runtime-999" }]);
    const tables = await store.sql`select 1 from pg_tables where schemaname = 'public'`;
    expect(tables).toHaveLength(1);
    await store.sql`drop table migration`;
  });

  it("on a PostgreSQL that is older than the oldest tested version", async () => {
    const { hostname, port } = new URL(infra.databaseUrl);
    // The running server's own answer, with another major version in it.
    const older = await startProxy({
      host: hostname,
      port: Number(port),
      answers: (bytes) => bytes.replace(/(?<!\d)1[5-9]0(\d{3})(?!\d)/g, "140$1"),
    });
    const sentence = await refusal(at(older.port));
    await older.cut();
    expect(sentence).toMatch(/PostgreSQL 14.*at least 15/);
    expect(await store.sql`select 1 from pg_tables where schemaname = 'public'`).toEqual([]);
  });

  it.concurrent.each<[string, (socket: Socket) => void]>([
    ["sends nothing", () => {}],
    ["is another service that sends first", (socket) => void socket.write("INFO {}\r\n")],
    [
      "answers each connection with HTTP",
      (socket) => void socket.once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")),
    ],
    ["closes each connection", (socket) => void socket.destroy()],
  ])("if the port of the database %s", async (_, serve) => {
    const server = createServer((socket) => {
      socket.on("error", () => {});
      serve(socket);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const sentence = await refusal(at(port));
    server.close();
    expect(sentence).toContain(`The PostgreSQL server at 127.0.0.1:${port} (--database-url) cannot be used: `);
    expect(sentence).not.toContain("CONNECT_TIMEOUT");
  });
});
