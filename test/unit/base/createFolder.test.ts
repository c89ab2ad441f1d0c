/** Folders that are created, and those that cannot be. */
import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, it } from "vitest";
import { createFolder } from "#src/base/createFolder.ts";

const folder = mkdtempSync(path.join(tmpdir(), "arbor-folders-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("creates a folder and those above it, also where they are there", () => {
  const deep = path.join(folder, "a", "b", "c");
  for (let n = 0; n < 2; n++) createFolder(deep, 0o750);
  expect([deep, path.dirname(deep)].map((one) => statSync(one).mode & 0o777)).toEqual([0o750, 0o750]);
  const linked = path.join(folder, "link");
  symlinkSync(deep, linked);
  createFolder(path.join(linked, "d"));
  expect(existsSync(path.join(deep, "d"))).toBe(true);
});

it("refuses where something else has the name, or a part of the path is a file", () => {
  const file = path.join(folder, "file");
  writeFileSync(file, "");
  expect(() => createFolder(file)).toThrow(expect.objectContaining({ code: "EEXIST" }));
  expect(() => createFolder(path.join(file, "below"))).toThrow(expect.objectContaining({ code: "ENOTDIR" }));
  const dangling = path.join(folder, "dangling");
  symlinkSync(path.join(folder, "nothing"), dangling);
  expect(() => createFolder(dangling)).toThrow(expect.objectContaining({ code: "EEXIST" }));
});

it.skipIf(!existsSync("/proc/self"))("refuses on a file system that takes no folders", () => {
  expect(() => createFolder("/proc/nothing/deep")).toThrow("no folder can be created in /proc");
});
