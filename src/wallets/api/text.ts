/** Building blocks of the wallet service's schemas; safe in a browser. */
import { z } from "zod";
import { isWellFormed } from "#src/base/bytes.ts";

/** The greatest quantity that an output can hold. */
export const MOST = 2n ** 64n - 1n;
/**
 * Bound of a requested quantity of an asset: a quantity that no output can hold is refused with its own code,
 * `output_token_quantity_exceeds_limit`.
 */
export const MOST_ASKED = 10n ** 40n;
/** The maximum supply in lovelace. */
export const MOST_LOVELACE = 45_000_000_000_000_000n;

/** An integer between bounds, as a `bigint`: JSON numbers with every digit. */
export const integer = (least: bigint, most: bigint) =>
  z.custom<number | bigint>((value) => typeof value === "bigint" || Number.isInteger(value), {
    error: ({ input }) => typeof input === "number" ? "not a whole number" : undefined,
  })
    .transform((value) => BigInt(value))
    .refine((value) => value >= least && value <= most, `expected a whole number from ${least} to ${most}`)
    .meta({ type: "integer", minimum: Number(least), maximum: Number(most) });

/** An integer within the safe range of `number`. */
export const whole = (least: number, most: number, message = `expected a whole number from ${least} to ${most}`) =>
  z.custom<number>((value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most, message)
    .meta({ type: "integer", minimum: least, maximum: most });

export const quantity = <U extends string>(unit: U, most = MOST) =>
  z.object({ quantity: integer(0n, most), unit: z.literal(unit) });
export const lovelace = quantity("lovelace").meta({ id: "Lovelace" });

/** Amounts in answers. */
export const amount = z.object({
  quantity: z.bigint().meta({ type: "integer", minimum: 0 }),
  unit: z.literal("lovelace"),
}).meta({ id: "Amount" });

/** A text of a number of hexadecimal digits in answers. */
export const shownHex = (digits: number) => z.string().length(digits);

const hexText = (digits: number) =>
  z.string().regex(new RegExp(`^[0-9a-fA-F]{${digits}}$`), `${digits} hexadecimal digits`);
export const hash = hexText(64).transform((text) => text.toLowerCase());

/** Characters as a person counts them: 255 of any script. */
const between = (name: string, least: number, most: number) =>
  z.string()
    .refine(
      (text) => [...text].length >= least,
      `${name} is too short: expected at least ${least} character${least === 1 ? "" : "s"}`,
    )
    .refine((text) => [...text].length <= most, `${name} is too long: expected at most ${most} characters`);

/** A wallet's name in answers. */
export const shownName = z.string().min(1).max(255);
export const walletName = between("name", 1, 255).refine(
  (text) => !text.includes("\0"),
  "name contains a NUL character",
).refine(isWellFormed, "name contains a lone surrogate").meta({
  description: "Name of the wallet.",
  minLength: 1,
  maxLength: 255,
  example: "Savings",
});
/** A new passphrase. */
export const newPassphrase = between("passphrase", 10, 255).meta({
  description: "Passphrase that encrypts the root key. It is required for every signature.",
  minLength: 10,
  maxLength: 255,
  format: "password",
});
/** An existing passphrase: a short one is wrong, and the request is not malformed. */
export const passphrase = between("passphrase", 0, 255).meta({ maxLength: 255, format: "password" });
