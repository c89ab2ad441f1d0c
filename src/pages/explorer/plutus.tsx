/** Plutus data: in words where the contract is known, as a tree, and as bytes. */
import { elementAt } from "#src/base/present.ts";
import { useState } from "preact/hooks";
import { Ada } from "../kit/amounts.tsx";
import { copyText, Id } from "../kit/Id.tsx";
import { Choice, Facts } from "../kit/parts.tsx";
import { LongText } from "../kit/values.tsx";
import { hrefOf } from "../kit/router.ts";
import type { PlutusData } from "./api.ts";
import { Linked, Ref } from "./links.tsx";
import { pageOf } from "./names.ts";
import { plutusNode } from "./plutusTree.ts";

type Form = "words" | "tree" | "hex";

/** Data with its forms to choose from. */
export function PlutusView({ data }: { readonly data: PlutusData }) {
  const forms: (readonly [Form, string])[] = [
    ...(data.meaning ? [["words", "In words"] as const] : []),
    ...(data.json === null ? [] : [["tree", "Tree"] as const]),
    ["hex", "Bytes"],
  ];
  const [form, setForm] = useState<Form>(elementAt(forms, 0)[0]);
  return (
    <div class="plutus">
      <div class="value-bar">
        <Choice label="Show the data as" options={forms} value={form} onChange={setForm} />
        <span class="note">
          {`${data.cbor.length / 2} bytes${data.json === null ? ", nested too deeply for a tree" : ""}`}
        </span>
        <button type="button" class="small" onClick={() => void copyText(data.cbor, "Copied the bytes")}>
          Copy bytes
        </button>
      </div>
      {form === "words" && data.meaning ? <Meaning meaning={data.meaning} /> : form === "tree"
        ? (
          <div class="tree">
            <Node json={data.json} depth={0} />
          </div>
        )
        : <LongText text={data.cbor} mono />}
    </div>
  );
}

function Meaning({ meaning: { name, contract, fields } }: { readonly meaning: NonNullable<PlutusData["meaning"]> }) {
  return (
    <div class="meaning">
      <p>
        <b>{name}</b> <span class="note">{contract}</span>
      </p>
      <Facts pairs={fields.map((field) => [field.name, <Field key={field.name} {...field} />])} />
    </div>
  );
}

function Field({ value, kind }: { readonly value: string; readonly kind: string }) {
  switch (kind) {
    case "lovelace":
      return <Ada lovelace={value} />;
    case "token":
      return <Ref kind="asset" id={value} />;
    case "address":
      return <Ref kind="address" id={value} />;
    case "output":
      return <Linked text={value} />;
    case "hex":
      return <Id value={value} name="bytes" />;
    default:
      return <LongText text={value} limit={300} />;
  }
}

/** Children that are shown before the reader asks for more, and depth to which the tree is open at first. */
const [SHOWN, OPEN] = [100, 4];

function Node({ json, depth }: { readonly json: unknown; readonly depth: number }) {
  const [limit, setLimit] = useState(SHOWN);
  const [open, setOpen] = useState(depth < OPEN);
  const node = plutusNode(json);
  switch (node.kind) {
    case "int":
      return <span class="value number">{node.text}</span>;
    case "unknown":
      return <span class="value null">{node.text}</span>;
    case "bytes":
      return (
        <span class="value string bytes">
          {node.hex === "" ? "(no bytes)" : node.hex}
          {node.text !== undefined && (
            <span class="note">
              {` “`}
              <bdi>{node.text}</bdi>
              {`”`}
            </span>
          )}
        </span>
      );
  }
  if (node.children.length === 0) return <span class="value null">{node.title}</span>;
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{node.title}</summary>
      {open && (
        <ul>
          {node.children.slice(0, limit).map(({ key, value }, i) => (
            <li key={i}>
              <span class="name">{`${i}:`}</span>
              {key !== undefined && (
                <>
                  <Node json={key} depth={depth + 1} />
                  <span class="name">→</span>
                </>
              )}
              <Node json={value} depth={depth + 1} />
            </li>
          ))}
          {node.children.length > limit && (
            <li>
              <button type="button" class="small" onClick={() => setLimit(limit + SHOWN)}>
                {`Show more of ${node.children.length}`}
              </button>
            </li>
          )}
        </ul>
      )}
    </details>
  );
}

/** Data behind a summary line. */
export function FoldedData({ data, name }: { readonly data: PlutusData; readonly name: string }) {
  const [open, setOpen] = useState(false);
  return (
    <details class="folded" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {name}
        {data.meaning && (
          <>
            {": "}
            <b>{data.meaning.name}</b>
          </>
        )}
      </summary>
      {open && (
        <>
          <PlutusView data={data} />
          <p class="note">
            Hash <Id value={data.hash} name="datum hash" href={hrefOf(pageOf("datum", data.hash))} />
          </p>
        </>
      )}
    </details>
  );
}
