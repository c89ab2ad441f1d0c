/** `--migrate-only` brings a database to this release, then ends: the job of a deployment before its processes. */
import { execFile } from "node:child_process";
import process from "node:process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { schemaMigrations } from "#src/app/schema.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";

const all = schemaMigrations.length;
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

async function migrate(env: Readonly<Record<string, string>>): Promise<{ stdout: string; stderr: string }> {
  const { DATABASE_URL: _, ...rest } = process.env;
  return await promisify(execFile)("deno", ["run", "-A", "src/app/start.ts", "--migrate-only"], {
    env: { ...rest, ...env },
  });
}

it("applies each migration once, also when two jobs start at the same time", async () => {
  const env = { DATABASE_URL: infra.databaseUrl };
  const printed = (await Promise.all([migrate(env), migrate(env)])).map(({ stdout }) =>
    stdout.replace(/^Warning: .*\n/gm, "")
  );
  const line = (count: number) => `${count} schema migrations applied; the database has all ${all}.\n`;
  expect(printed.sort()).toEqual([line(0), line(all)]);
  const applied = await store.sql`select id from migration order by id`;
  expect(applied.map(({ id }) => id)).toEqual(schemaMigrations.map(({ id }) => id).sort());
  // no role started: no worker and no network has the database
  expect(await store.sql`select 1 from worker union all select 1 from network`).toHaveLength(0);
});

it("names the server, and what to do, where the role has no right to the tables", async () => {
  const role = `limited_${crypto.randomUUID().replaceAll("-", "")}`;
  const url = Object.assign(new URL(infra.databaseUrl), { username: role, password: "test-only" });
  await store.sql.unsafe(`create role ${role} login password 'test-only'`);
  try {
    const { stderr } = await migrate({ DATABASE_URL: url.href }).catch((error) => error);
    expect(stderr).toMatch(
      /^The PostgreSQL server at \S+ \(--database-url\) cannot be used: permission denied .*owner to/,
    );
    expect(stderr).not.toContain("test-only");
  } finally {
    await store.sql.unsafe(`drop role ${role}`);
  }
});

it("needs a server's database", async () => {
  await expect(migrate({})).rejects.toMatchObject({ code: 2, stderr: "--migrate-only requires --database-url.\n" });
});
