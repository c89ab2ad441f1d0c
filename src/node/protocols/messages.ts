/**
 * The messages of a mini-protocol as a table, which gives their type and both directions of their encoding: an array of
 * a tag and arguments.
 */
import { CborError, decode, type Encodable, encode } from "#src/cardano/cbor.ts";
import { messageParts, requireCount } from "#src/node/protocols/values.ts";
import { type CborShape, type ShapeValue, UNVERSIONED } from "#src/node/queries/shape.ts";

/** The tag of each message, and the shapes of its arguments in order. With "optional", the last one may be missing. */
type MessageTable = Readonly<
  Record<string, readonly [tag: number, fields?: Readonly<Record<string, CborShape<unknown>>>, last?: "optional"]>
>;

/** The messages of a table. */
export type MessageOf<T extends MessageTable> = {
  [K in keyof T & string]: { readonly type: K } & { readonly [F in keyof T[K][1]]: ShapeValue<T[K][1][F]> };
}[keyof T & string];

/** The codec of a table's messages. `decode` throws `CborError` for anything else. */
export function messageCodec<const T extends MessageTable>(table: T): {
  encode(message: MessageOf<T>): Uint8Array;
  decode(bytes: Uint8Array): MessageOf<T>;
} {
  const entries = Object.entries(table).map(([type, [tag, fields = {}, last]]) => ({
    type,
    tag,
    fields: Object.entries(fields),
    optional: last === "optional",
  }));
  const byType = new Map(entries.map((entry) => [entry.type, entry]));
  const byTag = new Map(entries.map((entry) => [entry.tag, entry]));
  return {
    encode(message) {
      const entry = byType.get(message.type);
      if (!entry) throw new CborError(`there is no message ${message.type}`);
      const values: Readonly<Record<string, unknown>> = message;
      const parts: Encodable[] = [entry.tag];
      for (const [name, shape] of entry.fields) {
        if (values[name] !== undefined || !entry.optional) parts.push(shape.write(values[name], UNVERSIONED));
      }
      return encode(parts);
    },
    decode(bytes) {
      const { tag, rest } = messageParts(decode(bytes));
      const entry = byTag.get(tag);
      if (!entry) throw new CborError(`there is no message ${tag}`);
      const { type, fields, optional } = entry;
      if (!optional || rest.length !== fields.length - 1) requireCount(fields.length, rest);
      const values = fields.map(([name, shape], i) => [name, rest[i] && shape.read(rest[i], UNVERSIONED)]);
      return { type, ...Object.fromEntries(values) } as MessageOf<T>;
    },
  };
}
