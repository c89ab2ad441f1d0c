/** The steps of the Dockerfile, and its process as an account that can write nothing but `/data` and `/tmp`. */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { afterAll, beforeAll, expect, it } from "vitest";
import { VERSION } from "#src/base/version.ts";
import { freePort } from "#src/embedded/postgres/ports.ts";
import { ACCOUNT, buildImage, type Image, makeReadOnly, startIn } from "../support/infra/imageSteps.ts";

const checkout = process.cwd();
const base = mkdtempSync(path.join(tmpdir(), "arbor-image-"));
const folder = path.join(base, "image");
let image: Image;

beforeAll(async () => {
  chmodSync(base, 0o755);
  image = await buildImage(checkout, folder, { REVISION: "0123abc" });
  for (const one of ["data", "tmp"]) {
    if (ACCOUNT.uid !== undefined) chownSync(path.join(folder, one), ACCOUNT.uid, ACCOUNT.gid);
  }
  for (const one of ["arbor", "deno-dir"]) await makeReadOnly(path.join(folder, one));
}, 600_000);
afterAll(() => {
  execFileSync("chmod", ["-R", "u+w", base]);
  rmSync(base, { recursive: true, force: true });
});

/** The files below a folder with their sizes and times. */
function filesOf(name: string): string[] {
  const root = path.join(folder, name);
  return readdirSync(root, { recursive: true, encoding: "utf8" }).sort().map((file) => {
    const { size, mtimeMs } = statSync(path.join(root, file), { throwIfNoEntry: false }) ?? {};
    return `${file} ${size} ${mtimeMs}`;
  });
}

it("has the libraries of programs alone, and no bundler", () => {
  const has = (name: string) => existsSync(path.join(folder, "arbor/node_modules", name));
  const { dependencies, devDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
  expect(Object.keys(dependencies).filter((name) => !has(name))).toEqual(["esbuild"]);
  expect(Object.keys(devDependencies).filter(has)).toEqual([]);
  expect(readdirSync(path.join(folder, "arbor/node_modules/.deno")).filter((name) => name.includes("esbuild"))).toEqual(
    [],
  );
  expect(existsSync(path.join(folder, "arbor/test"))).toBe(false);
  expect(existsSync(path.join(folder, "arbor/dist/docs/index.html"))).toBe(true);
});

it("says what it is", () => {
  expect(image.user).toBe("deno");
  expect(image.labels).toMatchObject({
    "org.opencontainers.image.version": VERSION,
    "org.opencontainers.image.revision": "0123abc",
  });
});

it("starts all roles, serves pages, is healthy by its own program, and ends on SIGTERM", async () => {
  const before = [filesOf("arbor"), filesOf("deno-dir")];
  const names = [
    "TOKEN",
    "WALLET",
    "OPERATOR",
    "DEVNET",
    "INDEXER",
    "NODE",
    "NATS",
    "OGMIOS",
    "KUPO",
    "UTXORPC",
    "HEALTH",
  ];
  const ports = await Promise.all(names.map(() => freePort()));
  const env = Object.fromEntries(names.map((name, i) => [`ARBOR_${name}_PORT`, String(ports[i])]));
  const port = (name: string) => ports[names.indexOf(name)];
  const child = startIn(folder, image, image.command, {
    ...env,
    ARBOR_HOST: "127.0.0.1",
    ARBOR_WALLET_HOST: "127.0.0.1",
  });
  const ended = once(child, "close");
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => printed += text);
  try {
    const healthy = async () => {
      const [code] = await once(
        startIn(folder, image, image.healthCommand, { ...env, ARBOR_HOST: "127.0.0.1" }),
        "close",
      );
      return code === 0;
    };
    while (child.exitCode === null && !(await healthy()));
    expect(printed).toContain("Ready after");
    for (const page of ["TOKEN", "WALLET", "OPERATOR", "DEVNET"]) {
      const response = await fetch(`http://127.0.0.1:${port(page)}/`);
      const document = await response.text();
      const [, script] = /rel="modulepreload" href="([^"]+)"/.exec(document) ?? [];
      expect(script, page).toBeDefined();
      expect((await fetch(`http://127.0.0.1:${port(page)}${script}`)).status).toBe(200);
    }
    expect((await fetch(`http://127.0.0.1:${port("TOKEN")}/docs/guide/`)).status).toBe(200);
    const metrics = await (await fetch(`http://127.0.0.1:${port("HEALTH")}/metrics`)).text();
    expect(metrics).toContain(`arbor_build_info{version="${VERSION}",revision="0123abc",runtime="deno `);
  } finally {
    process.kill(child.pid!, "SIGTERM");
  }
  expect(await ended, printed).toEqual([0, null]);
  // nothing was written but data
  expect([filesOf("arbor"), filesOf("deno-dir")]).toEqual(before);
});
