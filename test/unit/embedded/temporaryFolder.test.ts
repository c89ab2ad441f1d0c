/** Folders of processes that keep nothing: those of ended processes are removed, all others are kept. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { createTemporaryFolder, removeAbandonedFolders } from "#src/embedded/postgres/temporaryFolder.ts";

describe("temporary folders", () => {
  let root: string;
  beforeEach(() => root = mkdtempSync(path.join(os.tmpdir(), "arbor-folders-")));
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  /** The name of a folder of this place, with another pid, start or place. */
  const nameWith = (change: { place?: string; pid?: number; start?: string }) => {
    const { path: own, remove } = createTemporaryFolder(root);
    remove();
    const [, place, pid, start] = /arbor-memory-(\w+)-(\d+)-(\w+)-/.exec(own)!;
    return ["arbor-memory", change.place ?? place, change.pid ?? pid, change.start ?? start, "abcdef"].join("-");
  };
  /** The pid of a process that has ended. */
  const endedPid = async () => {
    const child = spawn("true");
    await once(child, "exit");
    return child.pid!;
  };
  const fill = (name: string) => {
    mkdirSync(path.join(root, name, "postgres", "data"), { recursive: true });
    writeFileSync(path.join(root, name, "postgres", "data", "postmaster.pid"), "1\nx\ny\n5432\n");
  };

  it("of an ended process are removed, also where its pid or one in them is in use again", async () => {
    fill(nameWith({ pid: await endedPid() }));
    fill(nameWith({ start: "00000000" }));
    await removeAbandonedFolders(silentLog, root);
    expect(readdirSync(root)).toEqual([]);
  });

  it("of a living process, of another place or of another kind are kept", async () => {
    const pid = await endedPid();
    const mine = createTemporaryFolder(root);
    fill(path.basename(mine.path));
    fill(nameWith({ pid, place: "ffffff" }));
    fill(`arbor-memory-${pid}`);
    fill("postgres");
    writeFileSync(path.join(root, nameWith({ pid })), "a file");
    const linked = nameWith({ pid }).replace("abcdef", "fedcba");
    symlinkSync(path.join(root, "postgres"), path.join(root, linked));
    const before = readdirSync(root).sort();
    await removeAbandonedFolders(silentLog, root);
    expect(readdirSync(root).sort()).toEqual(before);
    expect(readdirSync(path.join(root, "postgres"))).toEqual(["postgres"]);
    mine.remove();
    expect(readdirSync(root)).not.toContain(path.basename(mine.path));
    expect(path.basename(mine.path)).toContain(`-${process.pid}-`);
  });
});
