/** The events that subscribers get, against the AsyncAPI document of the service that sent them. */
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { Ajv, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";

interface Document {
  readonly components: { readonly schemas: { readonly [name: string]: object } };
}

/** An event as a subscriber parses it. */
interface SentEvent {
  readonly type: string;
  readonly dataschema: string;
  readonly data: { readonly entity: { readonly kind: string }; readonly content?: object };
}

const EXAMPLES = new URL("../../../src/operators/http/eventExamples.json", import.meta.url);

/**
 * Checks events. With `ARBOR_WRITE_EXAMPLES=1`, an event of a type without an example is written to the examples of the
 * document (`src/operators/http/eventExamples.json`).
 */
export class EventDocument {
  private readonly ajv = new Ajv({ strict: false, allErrors: true });
  private readonly validators = new Map<string, ValidateFunction>();
  /** Types of the checked events, `token.booted`. */
  readonly types = new Set<string>();

  constructor(private readonly document: Document) {
    (addFormats as unknown as (ajv: Ajv) => void)(this.ajv);
    this.ajv.addSchema(document, "asyncapi");
  }

  /** Reads the document of an operator service. */
  static async of(operator: string): Promise<EventDocument> {
    return new EventDocument(await (await fetch(`${operator}/asyncapi.json`)).json());
  }

  /** What is wrong with an event: against its kind's schema, and its content against that of its transition. */
  faults(event: unknown): string[] {
    const { type, dataschema, data: { entity: { kind }, content } } = event as SentEvent;
    const name = type.slice("arbor.".length);
    this.types.add(name);
    const faults = this.check(`${kind}-event`, event);
    if (dataschema !== `urn:arbor:event:${name}:1`) faults.push(`${name} names the schema ${dataschema}`);
    const described = Object.hasOwn(this.document.components.schemas, name);
    if (described !== (content !== undefined)) faults.push(`${name} has ${described ? "no" : "undocumented"} content`);
    else if (content !== undefined) faults.push(...this.check(name, content));
    if (faults.length === 0 && process.env.ARBOR_WRITE_EXAMPLES === "1") writeExample(name, event);
    return faults;
  }

  private check(schema: string, value: unknown): string[] {
    let validate = this.validators.get(schema);
    if (validate === undefined) {
      this.validators.set(schema, validate = this.ajv.compile({ $ref: `asyncapi#/components/schemas/${schema}` }));
    }
    validate(value);
    return (validate.errors ?? []).map(({ instancePath, message }) => `${schema}${instancePath} ${message}`);
  }
}

function writeExample(name: string, event: unknown): void {
  const known: Record<string, unknown> = JSON.parse(readFileSync(EXAMPLES, "utf8"));
  if (Object.hasOwn(known, name)) return;
  const sorted = Object.entries({ ...known, [name]: event }).sort(([a], [b]) => a < b ? -1 : 1);
  writeFileSync(EXAMPLES, JSON.stringify(Object.fromEntries(sorted), null, 2) + "\n");
}
