/// <reference lib="dom" />
/** A schema as a list of members; the members of a member are shown when the reader opens it. */
import { useState } from "preact/hooks";
import { type ApiDocument, limitsOf, resolved, type Schema, typeOf } from "./document.ts";
import { Marked } from "./Marked.tsx";

interface SchemaProps {
  readonly document: ApiDocument;
  readonly schema: Schema;
}

/** The members of an object, of the items of a list, or of each form that a value may have. */
export function SchemaView({ document, schema }: SchemaProps) {
  const inner = innerOf(document, schema);
  if (inner === undefined) {
    return (
      <p class="api-type">
        {typeOf(schema)} <Limits schema={schema} />
      </p>
    );
  }
  return <Members document={document} schema={inner} />;
}

/** The schema whose members are worth showing; undefined for a plain value. */
function innerOf(document: ApiDocument, schema: Schema): Schema | undefined {
  const own = resolved(document, schema);
  if (own.items !== undefined) return innerOf(document, own.items);
  if (own.properties ?? own.oneOf ?? own.anyOf ?? own.allOf) return own;
  return typeof own.additionalProperties === "object" ? own : undefined;
}

function Members({ document, schema }: SchemaProps) {
  const { properties = {}, required = [], additionalProperties } = schema;
  const forms = schema.oneOf ?? schema.anyOf ?? schema.allOf ?? [];
  const members: (readonly [string, Schema])[] = [
    ...Object.entries(properties),
    ...(typeof additionalProperties === "object" ? [["(any name)", additionalProperties] as const] : []),
  ];
  return (
    <>
      {members.length > 0 && (
        <ul class="api-members">
          {members.map(([name, member]) => (
            <Member key={name} name={name} member={member} required={required.includes(name)} document={document} />
          ))}
        </ul>
      )}
      {forms.length > 0 && (
        <>
          <p class="note">{schema.allOf ? "All of:" : "One of:"}</p>
          <ul class="api-members">
            {forms.map((form, i) => <Member key={i} name="" member={form} required document={document} />)}
          </ul>
        </>
      )}
    </>
  );
}

function Member({ name, member, required, document }: {
  readonly name: string;
  readonly member: Schema;
  readonly required: boolean;
  readonly document: ApiDocument;
}) {
  const [open, setOpen] = useState(false);
  const own = resolved(document, member);
  const inner = innerOf(document, member);
  return (
    <li>
      {name !== "" && <code>{name}</code>} <span class="api-type">{typeOf(member)}</span>
      {!required && <span class="note">optional</span>} <Limits schema={own} />
      {own.description !== undefined && (
        <p>
          <Marked text={own.description} />
        </p>
      )}
      {inner !== undefined && (
        <details onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>
            Members<span class="sr">of {name === "" ? typeOf(member) : name}</span>
          </summary>
          {open && <Members document={document} schema={inner} />}
        </details>
      )}
    </li>
  );
}

function Limits({ schema }: { readonly schema: Schema }) {
  const limits = limitsOf(schema);
  return limits === "" ? null : <span class="note">{limits}</span>;
}
