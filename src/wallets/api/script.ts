/** Script templates in requests and answers; safe in a browser. */
import { z } from "zod";

/** A script whose leaves are texts; the names of the members are those of the wire. */
export type ScriptBody =
  | string
  | { all: ScriptBody[] }
  | { any: ScriptBody[] }
  | { some: { at_least: number; from: ScriptBody[] } }
  | { active_from: number | bigint }
  | { active_until: number | bigint };

const MAX_SLOT = (1n << 64n) - 1n;
const slot = z.union([
  z.number().int().min(0),
  z.bigint().refine((value) => value >= 0n && value <= MAX_SLOT, "a slot is at most 2^64 - 1"),
]).meta({ type: "integer", minimum: 0 });

/** A cosigner by number: 0 to 255. */
export const cosignerName = z.string().regex(
  /^cosigner#(0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])$/,
  "Cosigner should be of form: cosigner#num",
).meta({ description: "Name of a cosigner.", example: "cosigner#0" });

/** A script with leaves of some kind, registered in the description of the API under an id. */
function scriptOf(leaf: z.ZodType<string, string>, id: string): z.ZodType<ScriptBody, ScriptBody> {
  const script: z.ZodType<ScriptBody, ScriptBody> = z.lazy(() =>
    z.union([
      leaf,
      z.object({ all: z.array(script) }).strict(),
      z.object({ any: z.array(script) }).strict(),
      z.object({ some: z.object({ at_least: z.number().int().min(0).max(255), from: z.array(script) }).strict() })
        .strict(),
      z.object({ active_from: slot }).strict(),
      z.object({ active_until: slot }).strict(),
    ])
  ).meta({ id });
  return script;
}

/** A script of cosigners: that of a shared wallet's templates, and of policies (`cosigner#0` alone). */
export const templateScript = scriptOf(cosignerName, "ScriptTemplateValue");

/** A script in answers. */
export const shownNative = scriptOf(z.string(), "NativeScript");

/** A script of keys' hashes, in bech32. */
export const keyScript = scriptOf(
  z.string().min(1).max(300).describe("A key hash or a key, in bech32."),
  "ScriptValue",
);
