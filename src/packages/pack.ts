/**
 * Writes the npm packages as tarballs into `dist`. Each needs Node alone; only `arbor`, the devnet and the runtime have
 * parts of the server and its dependencies. The same sources give the same bytes.
 */
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { VERSION } from "#src/base/version.ts";
import { CREATE, here, type Packed, root } from "#src/packages/packFolder.ts";
import { packClient, packDevnet, packForestry, packRuntime } from "#src/packages/packLibraries.ts";
import { packArbor, packCreate, packPrograms } from "#src/packages/packPrograms.ts";
import { billOfMaterials } from "#src/packages/sbom.ts";

/** What packs each package from an empty folder, in the order in which they are packed. */
const PACKAGES: Readonly<Record<string, (folder: string, dist: string) => Promise<Packed>>> = {
  client: packClient,
  forestry: packForestry,
  cli: packPrograms,
  arbor: packArbor,
  [CREATE]: packCreate,
  devnet: packDevnet,
  runtime: packRuntime,
};

/**
 * Packs packages into a folder: all, or those with these names.
 *
 * @throws {Error} where a source cannot be bundled or declared.
 */
export async function pack(dist: string, names: readonly string[] = Object.keys(PACKAGES)): Promise<Packed[]> {
  // outside the checkout, whose manifest and libraries TypeScript would take into account
  const stage = mkdtempSync(path.join(tmpdir(), "arbor-pack-"));
  try {
    const packed: Packed[] = [];
    for (const [name, one] of Object.entries(PACKAGES)) {
      if (names.includes(name)) packed.push(await one(path.join(stage, name), dist));
    }
    return packed;
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/**
 * Writes what a release has beside its tarballs: a README, the libraries of the programs, and digests for
 * `sha256sum --check`.
 */
export function writeRelease(dist: string, packed: readonly Packed[]): void {
  const bill = path.join(dist, `arbor-${VERSION}.cdx.json`);
  writeFileSync(bill, `${JSON.stringify(billOfMaterials(root), null, 2)}\n`);
  const readme = path.join(dist, "README.md");
  copyFileSync(path.join(here, "release.md"), readme);
  const lines = [...packed.map(({ tarball }) => tarball), bill, readme].map((file) => {
    const digest = createHash("sha256").update(readFileSync(file)).digest("hex");
    return `${digest}  ${path.basename(file)}\n`;
  });
  writeFileSync(path.join(dist, "SHA256SUMS"), lines.join(""));
}

if (import.meta.main) {
  const { values: { only, release }, positionals: [folder] } = parseArgs({
    options: { only: { type: "string", multiple: true }, release: { type: "boolean" } },
    allowPositionals: true,
  });
  const dist = path.resolve(folder ?? path.join(root, "dist"));
  mkdirSync(dist, { recursive: true });
  const packed = await pack(dist, only);
  if (release) writeRelease(dist, packed);
  for (const { tarball: file, sizes } of packed) {
    console.log(`${path.relative(process.cwd(), file)}  ${(statSync(file).size / 1024).toFixed(0)} kB`);
    for (const [entry, bytes] of Object.entries(sizes)) {
      console.log(`  ${entry.padEnd(16)} ${(bytes / 1000).toFixed(1)} kB gzip`);
    }
  }
}
