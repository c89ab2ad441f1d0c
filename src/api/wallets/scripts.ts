/** Scripts as people write them, with names or keys at their leaves; safe in a browser. */
import { z } from "zod";
import { whole } from "#src/api/wallets/text.ts";

/** A script; what its leaves are is another's matter. */
export type ScriptText =
  | string
  | { readonly all: readonly ScriptText[] }
  | { readonly any: readonly ScriptText[] }
  | { readonly some: { readonly at_least: number; readonly from: readonly ScriptText[] } }
  | { readonly active_from: number | bigint }
  | { readonly active_until: number | bigint };

/** A slot that a script names: any the ledger can write. */
const slot = z.custom<number | bigint>(
  (value) =>
    (typeof value === "bigint" || Number.isSafeInteger(value)) && Number(value) >= 0 && Number(value) < 2 ** 64,
  "expected a slot: a whole number",
).meta({ type: "integer", minimum: 0 });

/** A script whose leaves are as given; `id` names it in the document. */
export function scriptOf(leaf: z.ZodType<string>, id: string): z.ZodType<ScriptText, unknown> {
  const script: z.ZodType<ScriptText, unknown> = z.lazy(() =>
    z.union([
      leaf,
      z.strictObject({ all: z.array(script) }),
      z.strictObject({ any: z.array(script) }),
      z.strictObject({ some: z.strictObject({ at_least: whole(0, 255), from: z.array(script) }) }),
      z.strictObject({ active_from: slot }),
      z.strictObject({ active_until: slot }),
    ]) as z.ZodType<ScriptText, unknown>
  ).meta({ id });
  return script;
}

const cosigner = z.string().regex(/^cosigner#(0|[1-9]\d{0,2})$/, "Cosigner should be of form: cosigner#num").meta({
  example: "cosigner#0",
});

/** A script whose leaves are names such as `cosigner#0`. */
export const scriptTemplate = scriptOf(cosigner, "ScriptTemplate");
/** A script whose leaves are keys or their hashes, in bech32. */
export const keyScript = scriptOf(
  z.string().regex(/^[a-z_]+1[0-9a-z]+$/, "expected a key or its hash, in bech32"),
  "KeyScript",
);
