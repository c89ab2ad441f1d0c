/** Data whose form is almost right. */
import { Constr, constr, type Data } from "#src/cardano/data.ts";

/**
 * Every variant of some data with the form of one node changed: another tag, one field more, one less, another kind.
 */
export function malformedVariants(data: Data): Data[] {
  if (!(data instanceof Constr)) return [typeof data === "bigint" ? new Uint8Array(28) : 5n, constr(0)];
  const { tag, fields } = data;
  const variants: Data[] = [constr(Number(tag) + 7, ...fields), constr(tag, ...fields, 0n), [...fields]];
  if (fields.length > 0) variants.push(constr(tag, ...fields.slice(1)));
  fields.forEach((field, i) => {
    for (const other of malformedVariants(field)) {
      variants.push(constr(tag, ...fields.slice(0, i), other, ...fields.slice(i + 1)));
    }
  });
  return variants;
}
