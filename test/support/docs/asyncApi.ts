/** Validates messages against the schemas of an AsyncAPI document. */
import { Ajv } from "ajv";
import addFormats from "ajv-formats";

interface Document {
  readonly components: {
    readonly messages: {
      readonly [name: string]: { readonly payload: { $ref: string }; readonly headers?: { $ref: string } };
    };
  };
}

/**
 * Validation errors of the payload (or the headers) of a message, which is given by its name in the document's
 * components.
 */
export function validatorOf(
  document: Document,
): (message: string, value: unknown, part?: "payload" | "headers") => string[] {
  const ajv = new Ajv({ strict: false, allErrors: true });
  (addFormats as unknown as (ajv: Ajv) => void)(ajv);
  ajv.addSchema(document, "asyncapi");
  return (message, value, part = "payload") => {
    const schema = document.components.messages[message]?.[part];
    if (schema === undefined) return [`there is no message ${message}`];
    const validate = ajv.compile({ $ref: `asyncapi${schema.$ref}` });
    validate(value);
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };
}
