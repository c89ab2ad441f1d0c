/** Lovelace as ada, for people. */

/** An amount such as `1.5 ada`, without zeros at its end. */
export function adaText(lovelace: bigint): string {
  const [sign, digits] = lovelace < 0n ? ["-", `${-lovelace}`] : ["", `${lovelace}`];
  const padded = digits.padStart(7, "0");
  const part = padded.slice(-6).replace(/0+$/, "");
  return `${sign}${padded.slice(0, -6)}${part === "" ? "" : `.${part}`} ada`;
}
