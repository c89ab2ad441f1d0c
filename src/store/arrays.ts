/**
 * Arrays of integers and texts on the way to PostgreSQL and back.
 *
 * postgres.js learns of array types by asking on each new connection, and was seen to bind the first statement of a connection
 * before it had the answer, which PostgreSQL refuses as a malformed array. The ones in use here are therefore known from the start,
 * and nothing is asked.
 */

const QUOTED = /["\\]/;
const QUOTE = /["\\]/g;

/**
 * An array as PostgreSQL reads it: `{1,2}`, `{"a","say \"b\"",NULL}`. One dimension. One that is written already stays as it is.
 * A turn writes many: the client's own writer takes several times as long.
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

/** The values of an array as PostgreSQL writes it. Throws a `SyntaxError` where it has more than one dimension. */
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

/** For postgres.js's option `types`. */
export const arrayTypes = {
  intArray: { to: 1007, from: [1007], serialize: writeArray, parse: (text: string) => readArray(text, Number) },
  bigintArray: { to: 1016, from: [1016], serialize: writeArray, parse: (text: string) => readArray(text, BigInt) },
  textArray: { to: 1009, from: [1009], serialize: writeArray, parse: (text: string) => readArray(text, String) },
};

/** The array type of an element type, for `sql.array`. */
export const arraysOf = { 20: 1016, 23: 1007, 25: 1009 };
