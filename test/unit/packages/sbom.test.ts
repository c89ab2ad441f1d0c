/** The bill of materials: it conforms to CycloneDX 1.6, has every library of the programs, and is the same when made again. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { Ajv } from "ajv";
import formats from "ajv-formats";
import { describe, expect, it } from "vitest";
import { libraryComponents } from "#src/packages/components.ts";
import { billOfMaterials } from "#src/packages/sbom.ts";
import { root } from "../../support/docs/pages.ts";

const bill = billOfMaterials(root);
const schemas = path.join(root, "node_modules/@cyclonedx/cyclonedx-library/res/schema");
const schema = (name: string) => JSON.parse(readFileSync(path.join(schemas, `${name}.SNAPSHOT.schema.json`), "utf8"));

/** Licences that let the programs be passed on under Apache-2.0, with the text of each. */
const ALLOWED = new Set([
  "MIT",
  "Apache-2.0",
  "ISC",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "0BSD",
  "Unlicense",
  "CC0-1.0",
  "MPL-2.0",
]);

describe("the bill of materials", () => {
  it("conforms to the schema", () => {
    const ajv = formats.default(new Ajv({ strict: false, allErrors: true }));
    // the formats of internationalized names, which npm's libraries do not have
    for (const format of ["idn-email", "iri-reference"]) ajv.addFormat(format, true);
    for (const name of ["jsf-0.82", "spdx"]) {
      // the schema refers to them by the names of its own files
      const $id = `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`;
      ajv.addSchema({ ...schema(name), $id });
    }
    const validate = ajv.compile(schema("bom-1.6"));
    expect([validate(bill), validate.errors]).toEqual([true, null]);
    expect(validate({ ...bill, specVersion: 1 })).toBe(false);
  });

  it("names what each library needs, and nothing that is not there", () => {
    const refs = new Set(bill.components.map((one) => one["bom-ref"]));
    expect(refs.size).toBe(bill.components.length);
    expect(bill.dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !refs.has(ref))).toEqual([]);
    const reached = new Set<string>();
    const needs = new Map(bill.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
    const reach = (ref: string): void => {
      if (reached.has(ref)) return;
      reached.add(ref);
      needs.get(ref)?.forEach(reach);
    };
    reach(bill.metadata.component["bom-ref"]);
    expect([...refs].filter((ref) => !reached.has(ref))).toEqual([]);
  });

  it("is the same bytes when it is made again", () => {
    expect(JSON.stringify(billOfMaterials(root))).toBe(JSON.stringify(bill));
  });

  it("has licences under which the programs may be passed on", () => {
    const refused = libraryComponents(root).filter(({ licence }) =>
      !licence.split(" OR ").some((one) => one.split(" AND ").every((part) => ALLOWED.has(part)))
    );
    expect(refused).toEqual([]);
  });
});
