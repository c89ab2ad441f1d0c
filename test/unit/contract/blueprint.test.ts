import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { blake2b224 } from "#src/cardano/hash.ts";
import { blueprintText, buildScript, files, publishedText, versionsText } from "#src/contract/build.ts";
import { blueprintOf } from "#src/contract/blueprints.ts";
import published from "#src/contract/published.json" with { type: "json" };
import { cageScript, cageScripts } from "#src/contract/script.ts";
import { compiled, program } from "#src/contract/uplc/program.ts";
import { validator } from "#src/contract/validator/validator.ts";
import { concat, toHex } from "#src/base/bytes.ts";

describe("the committed contract", () => {
  it("is what the source builds, byte for byte", async () => {
    expect(await readFile(files.blueprint, "utf8")).toBe(blueprintText());
    expect(await readFile(files.published, "utf8")).toBe(publishedText(published));
    expect(await readFile(files.versions, "utf8")).toBe(versionsText(published));
    expect([buildScript(), buildScript({ caseOnConstants: true })]).toEqual(cageScripts.slice(1));
    expect(buildScript()).toEqual(buildScript());
  });

  it("has the hash of a Plutus V3 script", () => {
    for (const { hash, compiledCode } of cageScripts) {
      expect(hash).toBe(toHex(blake2b224(concat(Uint8Array.of(3), compiledCode))));
    }
    const blueprint = JSON.parse(blueprintText());
    for (const entry of blueprint.validators) {
      expect(entry).toMatchObject({ hash: cageScript.hash, compiledCode: toHex(cageScript.compiledCode) });
    }
    expect(blueprint.preamble.plutusVersion).toBe("v3");
    for (const script of cageScripts.slice(1)) {
      const { preamble, validators } = blueprintOf(script);
      expect(preamble.version).toBe(script.version);
      for (const { hash, compiledCode } of validators) {
        expect([hash, compiledCode]).toEqual([script.hash, toHex(script.compiledCode)]);
      }
    }
  });

  it("has a separate version for each code", () => {
    expect(new Set(cageScripts.map((script) => script.version)).size).toBe(cageScripts.length);
    expect(new Set(cageScripts.map((script) => script.hash)).size).toBe(cageScripts.length);
  });

  it("has no traces", () => {
    const traced = compiled(program(validator, { traces: true, caseOnConstants: true }));
    expect(traced.length).toBeGreaterThan(cageScript.compiledCode.length);
    const text = (code: Uint8Array) => new TextDecoder("latin1").decode(code);
    expect(text(traced)).toContain("retract: not signed");
    expect(text(cageScript.compiledCode)).not.toContain("retract");
  });

  it("lists the previous versions", () => {
    const older = { version: "0.0.1", hash: "00", compiledCode: "00" };
    expect(publishedText([older, ...published])).toContain('"version": "0.0.1"');
    expect(publishedText([older, ...published]).indexOf("0.0.1")).toBeLessThan(
      publishedText([older, ...published]).indexOf(cageScript.hash),
    );
  });

  it("has a schema for every reference", () => {
    const blueprint = JSON.parse(blueprintText());
    const refs = [...blueprintText().matchAll(/"#\/definitions\/(\w+)"/g)].map((match) => match[1]!);
    expect(refs.filter((name) => !(name in blueprint.definitions))).toEqual([]);
    expect(Object.keys(blueprint.definitions).filter((name) => !refs.includes(name))).toEqual([]);
  });
});
