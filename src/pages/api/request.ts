/** A request to an operation from the values of a form, and the same request as code. */
import type { Operation, Parameter } from "./document.ts";

/** What the reader entered: parameters by name, and the body as text. */
export interface Entered {
  readonly parameters: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface ApiRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The media type of the request's body; undefined where the operation takes none. */
export const bodyType = ({ requestBody }: Operation): string | undefined => Object.keys(requestBody?.content ?? {})[0];

/** A value as it is entered in a field. */
export const textOf = (value: unknown): string =>
  value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);

const exampleOf = ({ example, schema }: Parameter) => textOf(example ?? schema?.example);

/** The form at first: examples of what is required and of paths; nothing else is sent. */
export function examplesOf(operation: Operation): Entered {
  const type = bodyType(operation);
  const example = type === undefined ? undefined : operation.requestBody?.content[type]?.example;
  const body = typeof example === "string" ? example : example === undefined ? "" : JSON.stringify(example, null, 2);
  const needed = (operation.parameters ?? []).filter((one) => one.required === true);
  return { parameters: Object.fromEntries(needed.map((one) => [one.name, exampleOf(one)])), body };
}

/** The request. An empty parameter outside of the path is left out. */
export function requestOf(operation: Operation, entered: Entered, origin: string, token: string): ApiRequest {
  const { parameters = [], method, prefix, path } = operation;
  const value = ({ name }: Parameter) => entered.parameters[name] ?? "";
  const given = (place: Parameter["in"]) => parameters.filter((one) => one.in === place && value(one) !== "");
  const route = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(entered.parameters[name] ?? ""));
  const query = new URLSearchParams(given("query").map((one) => [one.name, value(one)])).toString();
  const type = bodyType(operation);
  return {
    method,
    url: `${origin}${prefix}${route}${query === "" ? "" : `?${query}`}`,
    headers: {
      ...Object.fromEntries(given("header").map((one) => [one.name.toLowerCase(), value(one)])),
      ...(token === "" ? {} : { authorization: `Bearer ${token}` }),
      ...(type === undefined ? {} : { "content-type": type }),
    },
    ...(type === undefined ? {} : { body: entered.body }),
  };
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
/** Bytes cannot be written as text: they come from a file. */
const BYTES = ["application/octet-stream", "application/cbor"];
const isBytes = ({ headers }: ApiRequest) => BYTES.includes(headers["content-type"] ?? "");

/** The request as a command of a POSIX shell. */
export function curlOf(request: ApiRequest): string {
  const { method, url, headers, body } = request;
  const method_ = method === "GET" || (method === "POST" && body !== undefined) ? [] : [`-X ${method}`];
  const data = body === undefined ? [] : [isBytes(request) ? "--data-binary @FILE" : `--data-binary ${quoted(body)}`];
  const named = Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  return ["curl -sS", ...method_, ...named, ...data, quoted(url)].join(" \\\n  ");
}

/** The request as TypeScript for Deno, Node and browsers. */
export function typeScriptOf(request: ApiRequest): string {
  const { method, url, headers, body } = request;
  const indented = (value: unknown) => JSON.stringify(value, null, 2).replaceAll("\n", "\n  ");
  const json = headers["content-type"]?.includes("json") ? jsonText(body) : undefined;
  const bodyCode = body === undefined
    ? []
    : [`  body: ${
      isBytes(request)
        ? "bytes"
        : json === undefined
        ? JSON.stringify(body)
        : `JSON.stringify(${json.replaceAll("\n", "\n  ")})`
    },`];
  const init = [
    ...(method === "GET" ? [] : [`  method: ${JSON.stringify(method)},`]),
    ...(Object.keys(headers).length === 0 ? [] : [`  headers: ${indented(headers)},`]),
    ...bodyCode,
  ];
  return [
    `const response = await fetch(${JSON.stringify(url)}${init.length === 0 ? "" : `, {\n${init.join("\n")}\n}`});`,
    "if (!response.ok) throw new Error(await response.text());",
    "console.log(await response.text());",
  ].join("\n");
}

/** A body in JSON as it stands, with its numbers as they were written; undefined where it is none. */
function jsonText(body: string | undefined): string | undefined {
  if (body === undefined) return undefined;
  try {
    JSON.parse(body);
    return body;
  } catch {
    return undefined;
  }
}
