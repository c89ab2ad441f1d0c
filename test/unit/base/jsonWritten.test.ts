/** JSON that a database wrote is parsed with the same precision. */
import { expect, it } from "vitest";
import { parseJson, parseWritten, toJson } from "#src/base/json.ts";

it.each([
  "[]",
  "null",
  "-9007199254740993",
  '{"quantity":18446744073709551615,"name":"x"}',
  "[999999999999999,9007199254740991,9007199254740992,-18446744073709551615]",
  "[ 18446744073709551615 ,\n18446744073709551614]",
  '{"hash":"12345678901234567890","text":":12345678901234567890"}',
  "[0.1234567890123456789,1e3,12]",
])("parses %s without losing a digit", (text) => {
  expect(parseWritten(text)).toEqual(parseJson(text));
  expect(parseWritten(toJson(parseJson(text)))).toEqual(parseJson(text));
});
