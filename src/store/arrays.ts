/**
 * Encodes and decodes PostgreSQL arrays of integers and texts.
 *
 * By default postgres.js queries the array types on each new connection, and sometimes binds the first statement before
 * it has them, which PostgreSQL refuses as a malformed array. The types used here are therefore declared, and that
 * query is off.
 */

const QUOTED = /["\\]/;
const QUOTE = /["\\]/g;

/**
 * Encodes a one-dimensional array: `{1,2}`, `{"a","say \"b\"",NULL}`. An encoded array stays as it is. The library's
 * own encoder takes several times as long, and a turn writes many arrays.
 */
export function writeArray(values: readonly unknown[] | string): string {
  if (typeof values === "string") return values;
  let text = "{";
  for (let i = 0; i < values.length; i++) {
    if (i > 0) text += ",";
    const value = values[i];
    if (value === null || value === undefined) text += "NULL";
    else if (typeof value === "number" || typeof value === "bigint") text += value;
    else {
      const item = String(value);
      text += `"${QUOTED.test(item) ? item.replace(QUOTE, "\\$&") : item}"`;
    }
  }
  return text + "}";
}

/** Decodes a one-dimensional array. @throws SyntaxError when it has more than one dimension. */
export function readArray<T>(text: string, read: (item: string) => T): (T | null)[] {
  const values: (T | null)[] = [];
  for (let i = 1; i < text.length - 1;) {
    if (text[i] === "{") throw new SyntaxError("an array of arrays");
    let item = "";
    const quoted = text[i] === '"';
    if (quoted) {
      for (i++; text[i] !== '"'; i++) item += text[i] === "\\" ? text[++i] : text[i];
      i++;
    } else {
      const end = text.indexOf(",", i);
      item = text.slice(i, i = end < 0 ? text.length - 1 : end);
    }
    values.push(!quoted && item === "NULL" ? null : read(item));
    i++;
  }
  return values;
}

/** Array types, for the option `types` of postgres.js. */
export const arrayTypes = {
  intArray: { to: 1007, from: [1007], serialize: writeArray, parse: (text: string) => readArray(text, Number) },
  bigintArray: { to: 1016, from: [1016], serialize: writeArray, parse: (text: string) => readArray(text, BigInt) },
  textArray: { to: 1009, from: [1009], serialize: writeArray, parse: (text: string) => readArray(text, String) },
};

/** Array types by element type, for `sql.array`. */
export const arraysOf = { 20: 1016, 23: 1007, 25: 1009 };
