/** Plutus data, in the detailed JSON of `cardano-cli`, as a tree for readers. */
import { isRecord } from "#src/base/record.ts";
import { shownText } from "./names.ts";

/** A node; its children are read when the node is opened, so that deep data costs nothing until then. */
export type PlutusNode =
  | { readonly kind: "int"; readonly text: string }
  | { readonly kind: "bytes"; readonly hex: string; readonly text?: string }
  | { readonly kind: "list" | "map" | "constructor"; readonly title: string; readonly children: readonly PlutusChild[] }
  /** JSON of another form. */
  | { readonly kind: "unknown"; readonly text: string };

export interface PlutusChild {
  /** The key of a map's entry. */
  readonly key?: unknown;
  readonly value: unknown;
}

const counted = (n: number, what: string) => `${n} ${what}${n === 1 ? "" : "s"}`;

/** The node of some JSON, without what is below its children. */
export function plutusNode(json: unknown): PlutusNode {
  if (!isRecord(json)) return { kind: "unknown", text: String(json) };
  const { int, bytes, list, map, constructor, fields } = json;
  if (typeof int === "number" || typeof int === "bigint") return { kind: "int", text: String(int) };
  if (typeof bytes === "string") {
    const text = bytes === "" ? undefined : shownText(bytes);
    return { kind: "bytes", hex: bytes, ...(text === undefined ? {} : { text }) };
  }
  if (Array.isArray(list)) {
    return {
      kind: "list",
      title: `List of ${counted(list.length, "item")}`,
      children: list.map((value) => ({ value })),
    };
  }
  if (Array.isArray(map)) {
    const children = map.map((entry) => isRecord(entry) ? { key: entry.k, value: entry.v } : { value: entry });
    return { kind: "map", title: `Map of ${map.length === 1 ? "1 entry" : `${map.length} entries`}`, children };
  }
  if ((typeof constructor === "number" || typeof constructor === "bigint") && Array.isArray(fields)) {
    const title = `Constructor ${constructor}${fields.length === 0 ? "" : `, ${counted(fields.length, "field")}`}`;
    return { kind: "constructor", title, children: fields.map((value) => ({ value })) };
  }
  return { kind: "unknown", text: JSON.stringify(json) ?? "" };
}
