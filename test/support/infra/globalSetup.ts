/**
 * One PostgreSQL server for a whole run of system tests: the server of DATABASE_URL, or an embedded one in a new folder
 * that does not wait for the disk. It has a template database with the program's tables, which each test's database is
 * a copy of: a copy takes a tenth of the time of the schema migrations. The programs of the command line are those of the
 * npm package, which users run.
 */
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { TestProject } from "vitest/node";
import { schemaMigrations } from "#src/app/schema.ts";
import { createLog } from "#src/base/log.ts";
import { startPostgres } from "#src/embedded/postgres/postgres.ts";
import { writePrograms } from "#src/packages/packPrograms.ts";
import { migrateWhole } from "#src/store/migrations.ts";
import { openStore } from "#src/store/store.ts";
import { serveBrowser } from "../pages/sharedBrowser.ts";
import type {} from "./providedContext.ts";

/** Makes the template database; gives its name. */
async function createTemplate(server: string): Promise<string> {
  const name = `arbor_test_template_${randomBytes(8).toString("hex")}`;
  const admin = openStore(server, { max: 1 });
  await admin.sql.unsafe(`create database ${name} template template0`);
  await admin.close();
  const url = new URL(server);
  url.pathname = `/${name}`;
  const store = openStore(url.href, { max: 1 });
  const migrated = await migrateWhole(store, schemaMigrations);
  if (!migrated.ok) throw new Error(migrated.error.message);
  await store.close();
  return name;
}

/** Writes the programs of the package `cli` for Node; gives their folder. Undefined where there is no Node. */
async function packedPrograms(): Promise<string | undefined> {
  if (spawnSync("node", ["--version"]).status !== 0) return undefined;
  const folder = await mkdtemp(join(tmpdir(), "arbor-programs-"));
  await writePrograms(folder);
  return folder;
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.DATABASE_URL;
  const folder = given ? undefined : await mkdtemp(join(tmpdir(), "arbor-test-"));
  const server = folder === undefined
    ? undefined
    : await startPostgres({ folder, durable: false, log: createLog("warn") });
  const url = given || server!.url;
  const template = await createTemplate(url);
  project.provide("databaseUrl", url);
  project.provide("databaseTemplate", template);
  const programs = await packedPrograms();
  project.provide("programs", programs);
  const browser = await serveBrowser();
  project.provide("browser", browser.url);
  return async () => {
    await browser.stop();
    if (programs !== undefined) await rm(programs, { recursive: true, force: true });
    if (given) {
      const admin = openStore(given, { max: 1 });
      await admin.sql.unsafe(`drop database if exists ${template} with (force)`);
      await admin.close();
    }
    await server?.stop();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  };
}
