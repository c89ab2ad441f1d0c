/**
 * Writes the software bill of materials of the programs: CycloneDX 1.6 in JSON, from the lock file. It has no time and no
 * random number, so that two runs of one release write the same bytes.
 *
 * `deno task sbom [FILE]`; by default `dist/arbor-VERSION.cdx.json`.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { VERSION } from "#src/base/version.ts";
import { type LibraryComponent, libraryComponents } from "#src/packages/components.ts";

/** A package URL of npm, by the specification of package URLs. */
const purl = (name: string, version: string) => `pkg:npm/${name.replace(/^@/, "%40")}@${version}`;

function componentOf({ id, name, version, licence, sha512 }: LibraryComponent) {
  const [scope, plain = scope] = name.startsWith("@") ? name.split("/") : [undefined, name];
  return {
    type: "library",
    "bom-ref": id,
    ...(scope === undefined ? {} : { group: scope }),
    name: plain,
    version,
    hashes: [{ alg: "SHA-512", content: sha512 }],
    licenses: [{ expression: licence }],
    purl: purl(name, version),
  };
}

/** The bill of materials of a checkout. */
export function billOfMaterials(root: string, components = libraryComponents(root)) {
  const arbor = `arbor@${VERSION}`;
  const { dependencies } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: {
        type: "application",
        "bom-ref": arbor,
        name: "arbor",
        version: VERSION,
        licenses: [{ expression: "Apache-2.0" }],
      },
    },
    components: components.map(componentOf),
    dependencies: [
      { ref: arbor, dependsOn: Object.entries(dependencies).map((one) => one.join("@")).sort() },
      ...components.map(({ id, needs }) => ({ ref: id, dependsOn: needs })),
    ],
  };
}

if (import.meta.main) {
  const root = fileURLToPath(new URL("../../", import.meta.url));
  const file = path.resolve(process.argv[2] ?? path.join(root, `dist/arbor-${VERSION}.cdx.json`));
  mkdirSync(path.dirname(file), { recursive: true });
  const bill = billOfMaterials(root);
  writeFileSync(file, `${JSON.stringify(bill, null, 2)}\n`);
  console.log(`${path.relative(process.cwd(), file)}: ${bill.components.length} libraries`);
}
