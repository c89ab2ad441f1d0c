/** Amounts of ada and of assets, and numbers. */

type Whole = bigint | number | string;

/** A whole number with thousands separated: `1,234,567`. */
export const count = (n: bigint | number): string => n.toLocaleString("en");

/** An amount of smallest units with a number of decimals: `decimalText(1500000n, 6)` is `1.500000`. */
export function decimalText(amount: Whole, decimals: number): string {
  const text = String(amount);
  const negative = text.startsWith("-");
  const digits = (negative ? text.slice(1) : text).padStart(decimals + 1, "0");
  const whole = BigInt(digits.slice(0, digits.length - decimals)).toLocaleString("en");
  return (negative ? "-" : "") + whole + (decimals > 0 ? `.${digits.slice(-decimals)}` : "");
}

/** Lovelace as ada with six decimals and its unit. */
export const adaText = (lovelace: Whole): string => `${decimalText(lovelace, 6)} ada`;

/** The smallest units of an amount that a person typed: `1.5`, `1,234.000001`; undefined where it is no such amount. */
export function unitsOf(text: string, decimals: number): bigint | undefined {
  const found = /^(\d{1,20}|\d{1,3}(?:,\d{3}){1,6})(?:\.(\d*))?$/.exec(text.trim());
  const [, whole, fraction = ""] = found ?? [];
  if (whole === undefined || fraction.length > decimals) return undefined;
  return BigInt(whole.replaceAll(",", "") + fraction.padEnd(decimals, "0"));
}

/** Lovelace of an amount of ada that a person typed; undefined where it is none. */
export const lovelaceOf = (text: string): bigint | undefined => unitsOf(text, 6);

/** An amount of lovelace as ada. The zeros at its end are quieter. `signed`: with a plus where it is positive. */
export function Ada({ lovelace, signed = false }: { readonly lovelace: Whole; readonly signed?: boolean }) {
  return <Amount amount={lovelace} decimals={6} unit="ada" signed={signed} />;
}

/** An amount of an asset, of smallest units. */
export function Amount({ amount, decimals = 0, unit, signed = false, room = decimals }: {
  readonly amount: Whole;
  readonly decimals?: number;
  readonly unit?: string;
  readonly signed?: boolean;
  /** Decimals of the column, so that its points are one below the other. */
  readonly room?: number;
}) {
  const text = decimalText(amount, decimals);
  const missing = room > decimals ? `${decimals === 0 ? "." : ""}${"0".repeat(room - decimals)}` : "";
  const zeros = decimals > 0 ? /\.?0*$/.exec(text)?.[0] ?? "" : "";
  const plus = signed && !text.startsWith("-") && BigInt(amount) !== 0n ? "+" : "";
  return (
    <span class="amount">
      {plus}
      {text.slice(0, text.length - zeros.length)}
      {zeros !== "" && <span class="zeros">{zeros}</span>}
      {missing !== "" && <span class="missing" aria-hidden="true">{missing}</span>}
      {unit !== undefined && <bdi class="unit">{` ${unit}`}</bdi>}
    </span>
  );
}
