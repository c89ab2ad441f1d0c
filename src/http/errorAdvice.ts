/** Advice on error codes in OpenAPI documents. */
import { type AdvisedService, ERROR_ADVICE } from "#src/base/errorAdvice.ts";
import type { Document } from "#src/http/examples.ts";

const ERROR_SCHEMA = /^(Wallet)?Error$/;

/**
 * The document with the advice of a service on each code that its responses name, as `x-advice` of the member `code` of
 * its error.
 */
export function withAdvice(document: Document, service: AdvisedService): Document {
  const advice: Readonly<Record<string, string>> = ERROR_ADVICE[service];
  const named = new Set(JSON.stringify([document.info, document.paths]).match(/(?<=`)[a-z]\w+(?=`)/g));
  const own = Object.fromEntries(Object.entries(advice).filter(([code]) => named.has(code)));
  const schemas = Object.entries(document.components?.schemas ?? {}).map(([name, schema]) => {
    if (!ERROR_SCHEMA.test(name) || !("properties" in schema)) return [name, schema] as const;
    const { code } = schema.properties ?? {};
    return [name, { ...schema, properties: { ...schema.properties, code: { ...code, "x-advice": own } } }] as const;
  });
  return { ...document, components: { ...document.components, schemas: Object.fromEntries(schemas) } };
}
