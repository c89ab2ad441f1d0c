/** The table of error codes in docs/wallet-errors.md names tests that exist and that expect the code. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { root } from "../../support/docs/pages.ts";
import { statusCodes } from "#src/wallets/http/status.ts";

const read = (file: string) => readFileSync(path.join(root, file), "utf8");
const page = read("docs/wallet-errors.md");
const given = [...page.matchAll(/^\| `(\w+)` +\| ([\d, ]+?) +\| `(test\/[\w./-]+\.ts)` +\| (.+?) +\|$/gm)].map(
  ([, code, status, file, name]) => ({ code: code!, status: status!, file: file!, name: name! }),
);
const absent = [...page.matchAll(/^\| `(\w+)` +\| ([A-Z][^|]*?) +\|$/gm)].map(([, code, why]) => ({
  code: code!,
  why: why!,
}));

/** Answers that several scenarios expect, by name. */
const words = read("test/system/cardano-wallet/words.ts");
const START = /^ *(?:it|test|flow|row|twins|invalid|cases|\.\.\.cases|begins|restored)(?:\.\w+)*\(/gm;

/** The text of a test, with the expected answers that it names; undefined if there is none. "…" ends a part of a name. */
function textOf(file: string, name: string): string | undefined {
  if (!existsSync(path.join(root, file))) return undefined;
  const text = read(file);
  const at = text.indexOf(name.endsWith(" …") ? `"${name.slice(0, -1)}` : `"${name}"`);
  if (at < 0) return undefined;
  START.lastIndex = at;
  const own = text.slice(at, START.exec(text)?.index);
  const named = [...own.matchAll(/\b[A-Z]{2}[A-Z_]+\b/g)].map(([constant]) => {
    const from = words.indexOf(`const ${constant} =`);
    return from < 0 ? "" : words.slice(from, words.indexOf("};", from));
  });
  return [own, ...named].join("\n");
}

test("the 104 codes of cardano-wallet and two spellings of its description are there, each once", () => {
  const codes = [...given, ...absent].map(({ code }) => code);
  expect(codes).toHaveLength(106);
  expect(new Set(codes).size).toBe(106);
});

test("each code that is given has a test that expects it, and the status of the service", () => {
  const without = given.filter(({ file, name, code }) => !textOf(file, name)?.match(new RegExp(`\\b${code}\\b`)));
  expect(without.map(({ code, file, name }) => `${code}: ${file}: ${name}`)).toEqual([]);
  const statuses: Readonly<Record<string, number>> = statusCodes;
  const wrong = given.filter(({ code, status }) =>
    statuses[code] !== undefined && !status.split(", ").includes(String(statuses[code]))
  );
  expect(wrong.map(({ code, status }) => `${code}: ${status}`)).toEqual([]);
});

test("each code that does not occur has a reason", () => {
  for (const { code, why } of absent) expect(why, code).toMatch(/^[A-Z].* .*\.$/);
});
