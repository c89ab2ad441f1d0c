/** Packages have the same bytes wherever and whenever they are packed, so that others can check them. */
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pack, writeRelease } from "#src/packages/pack.ts";
import { isLong } from "../../support/base/longTests.ts";
import { hasNode } from "../../support/packages/installed.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
/** All of them in the long run: the declarations of libraries take minutes. */
const NAMES = isLong ? undefined : ["cli", "arbor", "create-arbor"];

const folders: string[] = [];
let first: string;
/** The files of all packages. */
let unpacked: string;
beforeAll(async () => {
  if (!hasNode) return;
  mkdirSync(path.join(root, ".arbor"), { recursive: true });
  first = await digests();
  unpacked = path.join(folders[0]!, "unpacked");
  for (const file of readdirSync(folders[0]!).filter((name) => name.endsWith(".tgz"))) {
    const folder = path.join(unpacked, file);
    mkdirSync(folder, { recursive: true });
    execFileSync("tar", ["-xzf", path.join(folders[0]!, file), "-C", folder]);
  }
}, 1_800_000);
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Packs into a new folder; gives the digests. */
async function digests(): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), "arbor-bytes-"));
  folders.push(folder);
  writeRelease(folder, await pack(folder, NAMES));
  return readFileSync(path.join(folder, "SHA256SUMS"), "utf8");
}

/** The same from a copy of this checkout, at a place of another depth. */
function digestsElsewhere(): string {
  const place = mkdtempSync(path.join(root, ".arbor", "bytes-"));
  folders.push(place);
  const copy = path.join(place, "another", "checkout");
  mkdirSync(copy, { recursive: true });
  const parts = ["actors", "deno.json", "deno.prod.lock", "LICENSE", "machines", "node_modules", "package.json", "src"];
  if (existsSync(path.join(root, "dist/docs"))) parts.push("dist", "docs");
  execFileSync("cp", ["-al", ...parts, copy], { cwd: root });
  const only = (NAMES ?? []).flatMap((name) => ["--only", name]);
  const args = [
    "run",
    "-A",
    "--quiet",
    "--no-lock",
    "src/packages/pack.ts",
    "--release",
    ...only,
    path.join(place, "packed"),
  ];
  execFileSync(process.execPath, args, { cwd: copy, stdio: ["ignore", "ignore", "inherit"] });
  return readFileSync(path.join(place, "packed", "SHA256SUMS"), "utf8");
}

describe.skipIf(!hasNode)("packages", () => {
  it("have the digests that are written beside them", () => {
    const lines = first.trim().split("\n").map((line) => line.split("  "));
    // and the bill of materials and the README
    expect(lines.length).toBe((NAMES?.length ?? 7) + 2);
    for (const [digest, file] of lines) {
      const bytes = readFileSync(path.join(folders[0]!, file!));
      expect([file, digest]).toEqual([file, createHash("sha256").update(bytes).digest("hex")]);
    }
  });

  it("have the same bytes when they are packed again in another folder", () => {
    expect(digestsElsewhere()).toBe(first);
  }, 1_800_000);

  it("name no folder of the machine that packed them", () => {
    for (const place of [root, path.join(tmpdir(), "arbor-pack-")]) {
      const { status, stdout } = spawnSync("grep", ["-rlF", place.slice(1), unpacked], { encoding: "utf8" });
      expect([status, stdout]).toEqual([1, ""]);
    }
  });
});
