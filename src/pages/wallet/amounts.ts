/** Amounts as people write and read them: lovelace as ada, and assets with the decimals of their metadata. */

/** Digits after the point of an ada. */
export const ADA_DECIMALS = 6;
/** The greatest quantity that an output can hold. */
const MOST = 2n ** 64n - 1n;
/** The maximum supply in lovelace. */
const MOST_LOVELACE = 45_000_000_000_000_000n;

/** An amount that was read, or what is wrong with the text. */
export type ReadAmount = { readonly ok: true; readonly value: bigint } | {
  readonly ok: false;
  readonly problem: string;
};

const wrong = (problem: string): ReadAmount => ({ ok: false, problem });

/** Units with digits after the point and groups of three, without zeros at the end: `1,234.5`. */
export function unitsText(quantity: bigint, decimals: number): string {
  const sign = quantity < 0n ? "-" : "";
  const digits = String(quantity < 0n ? -quantity : quantity).padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals).replace(/\B(?=(\d{3})+$)/g, ",");
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  return `${sign}${whole}${decimals > 0 && fraction !== "" ? `.${fraction}` : ""}`;
}

/** Lovelace as ada, without the name: `1,234.5`. */
export const adaText = (lovelace: bigint): string => unitsText(lovelace, ADA_DECIMALS);

/** The units in a text such as `1,234.5`. A comma is only a group's separator, so `1,5` is refused and never 15. */
export function readUnits(text: string, decimals: number, most = MOST): ReadAmount {
  const given = text.trim().replaceAll(/[\u0020\u00a0\u202f_']/g, "");
  if (given === "") return wrong("Enter an amount.");
  if (!/^\d*(\.\d*)?$/.test(given) && !/^\d{1,3}(,\d{3})+(\.\d*)?$/.test(given)) {
    return wrong("Enter digits, with a point before the fraction: 1234.5");
  }
  const [whole = "", fraction = ""] = given.replaceAll(",", "").split(".");
  if (whole === "" && fraction === "") return wrong("Enter an amount.");
  if (fraction.replace(/0+$/, "").length > decimals) {
    return wrong(decimals === 0 ? "This has no fractions." : `At most ${decimals} digits after the point.`);
  }
  const value = BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, "0"));
  if (value > most) return wrong("More than can exist.");
  return { ok: true, value };
}

/** The lovelace in a text of ada. */
export const readAda = (text: string): ReadAmount => readUnits(text, ADA_DECIMALS, MOST_LOVELACE);

/** The digits that a field takes for an amount: as `unitsText`, without separators. */
export const fieldText = (quantity: bigint, decimals: number): string =>
  unitsText(quantity, decimals).replaceAll(",", "");

/** What an asset is called: by its metadata, or its name where that is readable text, or its fingerprint. */
export function assetTitle(
  { name, fingerprint, metadata }: {
    readonly name: string;
    readonly fingerprint?: string | undefined;
    readonly metadata?: { readonly name?: string | undefined; readonly ticker?: string | undefined } | undefined;
  },
): string {
  return metadata?.ticker ?? metadata?.name ?? readableName(name) ?? fingerprint ?? (name === "" ? "(no name)" : name);
}

/** An asset's name as text where all of it is printable; a label of CIP-67 before it is left out. */
export function readableName(hex: string): string | undefined {
  if (hex === "") return undefined;
  const bytes = Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  const [first = 0, , , fourth = 0] = bytes;
  const labelled = bytes.length > 4 && first >> 4 === 0 && (fourth & 15) === 0;
  for (const some of labelled ? [bytes.subarray(4), bytes] : [bytes]) {
    try {
      const text = new TextDecoder("utf-8", { fatal: true }).decode(some);
      if (/^[\p{L}\p{N}\p{P}\p{S} ]+$/u.test(text) && text.trim() !== "") return text;
    } catch {
      // bytes that are no text
    }
  }
  return undefined;
}
