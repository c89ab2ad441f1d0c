import { expect, it } from "vitest";
import { lean } from "#src/http/pages.ts";

it("static pages keep the meaning of their code without comments and indentation", () => {
  const text = '/** a\n * b */\nconst a = 1; // stays\n  // goes\n\n  const b = "/* no comment */";\n';
  expect(lean(text)).toBe('const a = 1; // stays\nconst b = "/* no comment */";\n');
});
