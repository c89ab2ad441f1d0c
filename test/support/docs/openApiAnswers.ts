/** Compares answers of a running service with its OpenAPI document. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";

interface Response {
  readonly content?: Readonly<Record<string, { readonly schema?: object }>>;
}
interface Operation {
  readonly responses: Readonly<Record<string, Response>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** An answer as it came. */
export interface RawAnswer {
  readonly status: number;
  /** Without parameters; empty if the answer has no body. */
  readonly type: string;
  readonly text: string;
}

/** Statuses that a path or a method outside the document has. */
const UNKNOWN = new Set([404, 405]);

export class Documented {
  private readonly ajv = formats.default(new Ajv2020({ strict: false, allErrors: true }));
  private readonly validators = new Map<string, ValidateFunction>();
  private readonly paths: readonly (readonly [template: string, pattern: RegExp])[];

  constructor(private readonly document: Document) {
    this.ajv.addSchema({ ...document, $id: "document" });
    this.paths = Object.keys(document.paths).filter((path) => !("servers" in document.paths[path]!))
      // a literal segment is before a parameter
      .sort((a, b) => a.split("{").length - b.split("{").length)
      .map((path) => {
        const pattern = path.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{\w+\}/g, "[^/]+");
        return [path, new RegExp(`^${pattern}$`)] as const;
      });
  }

  /** Differences between an answer and the document; `path` is without the service's prefix. */
  faults(method: string, path: string, { status, type, text }: RawAnswer): string[] {
    const plain = path.replace(/\?.*$/s, "");
    const candidates = this.paths.filter(([, pattern]) => pattern.test(plain)).map(([template]) => template);
    const template = candidates.find((one) => method.toLowerCase() in this.document.paths[one]!);
    if (template === undefined) return UNKNOWN.has(status) ? [] : [`${method} ${plain} is not in the document`];
    const name = `${method} ${template}`;
    const { responses } = this.document.paths[template]![method.toLowerCase()] as Operation;
    const response = responses[status];
    if (!response) return [`${name}: the status ${status} is not documented: ${text.slice(0, 500)}`];
    if (!response.content) return text === "" ? [] : [`${name} ${status} has a body, and no documented one`];
    const media = response.content[type];
    if (!media) return [`${name} ${status}: the type "${type}" is not documented`];
    if (type !== "application/json" || !media.schema) return [];
    const validate = this.validator(`${name} ${status}`, media.schema);
    if (validate(JSON.parse(text))) return [];
    return [`${name} ${status}: ${this.ajv.errorsText(validate.errors)}: ${text.slice(0, 2_000)}`];
  }

  private validator(name: string, schema: object): ValidateFunction {
    const known = this.validators.get(name);
    if (known) return known;
    const within = JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#', '"$ref":"document#'));
    const validate = this.ajv.compile(within);
    this.validators.set(name, validate);
    return validate;
  }
}
