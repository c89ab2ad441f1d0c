/// <reference lib="dom" />
/** An operation: its parameters, body and answers, a form that sends a request, and the same request as code. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { TextField } from "../kit/forms.tsx";
import { copyText } from "../kit/Id.tsx";
import { Badge, Choice, Heading, Panel } from "../kit/parts.tsx";
import { Alert } from "../kit/states.tsx";
import { JsonTree, LongText } from "../kit/values.tsx";
import { type ApiDocument, type Content, limitsOf, type Operation, resolved, typeOf } from "./document.ts";
import { Marked } from "./Marked.tsx";
import { bodyType, curlOf, type Entered, examplesOf, requestOf, typeScriptOf } from "./request.ts";
import { SchemaView } from "./Schema.tsx";
import { type Answered, send, token } from "./service.ts";
import { parseJson } from "#src/base/json.ts";

export function OperationView({ document, operation }: {
  readonly document: ApiDocument;
  readonly operation: Operation;
}) {
  const { title, method, prefix, path, description, responses = {}, requestBody } = operation;
  const [entered, setEntered] = useState<Entered>(() => examplesOf(operation));
  const type = bodyType(operation);
  return (
    <>
      <Heading title={title}>
        <Marked text={title} />
      </Heading>
      <p class="api-path">
        <Method name={method} />
        <code>{prefix}{path}</code>
      </p>
      {description !== undefined && (
        <p class="api-text">
          <Marked text={description} />
        </p>
      )}
      <div class="api-columns">
        <div>
          <Parameters document={document} operation={operation} entered={entered} onChange={setEntered} />
          {requestBody && (
            <Panel title="Body">
              <BodyView document={document} content={requestBody.content} examples={false} />
              <TextField
                label={`Body (${type})`}
                lines={Math.min(20, entered.body.split("\n").length + 1)}
                mono
                value={entered.body}
                onInput={(body) => setEntered({ ...entered, body })}
              />
            </Panel>
          )}
          <Panel title="Answers">
            {Object.entries(responses).map(([status, response]) => (
              <details key={status} class="api-answer">
                <summary>
                  <Badge tone={status.startsWith("2") ? "good" : "quiet"}>{status}</Badge>{" "}
                  <Marked text={response.description ?? ""} />
                </summary>
                <BodyView document={document} content={response.content ?? {}} examples />
              </details>
            ))}
          </Panel>
        </div>
        <Request operation={operation} entered={entered} />
      </div>
    </>
  );
}

/** The HTTP method in its colour. */
export function Method({ name }: { readonly name: string }) {
  return <span class="api-method" data-method={name}>{name}</span>;
}

function Parameters({ document, operation, entered, onChange }: {
  readonly document: ApiDocument;
  readonly operation: Operation;
  readonly entered: Entered;
  readonly onChange: (entered: Entered) => void;
}) {
  const parameters = operation.parameters ?? [];
  if (parameters.length === 0) return null;
  return (
    <Panel title="Parameters">
      {parameters.map(({ name, in: place, required = false, description, schema = {} }) => {
        const own = resolved(document, schema);
        const said = description ?? own.description;
        const limits = limitsOf(own);
        return (
          <TextField
            key={`${place} ${name}`}
            label={`${name} (${place}${required ? "" : ", optional"})`}
            mono
            value={entered.parameters[name] ?? ""}
            onInput={(value) => onChange({ ...entered, parameters: { ...entered.parameters, [name]: value } })}
            hint={
              <>
                <span class="api-type">{typeOf(schema)}</span>
                {limits !== "" && ` ${limits}`}
                {said !== undefined && (
                  <>
                    . <Marked text={said} />
                  </>
                )}
              </>
            }
          />
        );
      })}
    </Panel>
  );
}

function BodyView({ document, content, examples }: {
  readonly document: ApiDocument;
  readonly content: Content;
  /** Whether examples are shown; a request's stands in its form. */
  readonly examples: boolean;
}) {
  const types = Object.entries(content);
  if (types.length === 0) return <p class="note">No body.</p>;
  return (
    <>
      {types.map(([type, { schema, example, examples: named = {} }]) => (
        <div key={type}>
          <p class="note">{type}</p>
          {schema !== undefined && <SchemaView document={document} schema={schema} />}
          {examples && example !== undefined && <LongText text={textOf(example)} limit={2_000} />}
          {examples && Object.entries(named).map(([query, { value }]) => (
            <div key={query}>
              {query !== "default" && <p class="note">With {query}</p>}
              <LongText text={textOf(value)} limit={2_000} />
            </div>
          ))}
        </div>
      ))}
    </>
  );
}

const textOf = (example: unknown) => typeof example === "string" ? example : JSON.stringify(example, null, 2);

/** The request as code, the button that sends it, and its answer. */
function Request({ operation, entered }: { readonly operation: Operation; readonly entered: Entered }) {
  const [language, setLanguage] = useState<"curl" | "ts">("curl");
  const [answer, setAnswer] = useState<Answered>();
  const [error, setError] = useState<string>();
  const [sending, setSending] = useState<AbortController>();
  const running = useRef<AbortController | undefined>(undefined);
  running.current = sending;
  useLayoutEffect(() => () => running.current?.abort(), []);
  const request = requestOf(operation, entered, location.origin, token.value);
  const code = language === "curl" ? curlOf(request) : typeScriptOf(request);
  const start = async () => {
    const stop = new AbortController();
    setSending(stop);
    setAnswer(undefined);
    setError(undefined);
    try {
      await send(request, stop.signal, setAnswer);
    } catch {
      if (!stop.signal.aborted) setError("The service cannot be reached. Check that it is running.");
    } finally {
      setSending(undefined);
    }
  };
  return (
    <Panel title="Request" class="api-request">
      <div class="value-bar">
        <Choice
          label="Show the request as"
          options={[["curl", "curl"], ["ts", "TypeScript"]]}
          value={language}
          onChange={setLanguage}
        />
        <button type="button" class="small" onClick={() => void copyText(code, "Copied the request")}>Copy</button>
      </div>
      <pre class="api-code" tabIndex={0} aria-label="The request as code">{code}</pre>
      {sending === undefined
        ? <button type="button" class="primary" onClick={start}>Send</button>
        : <button type="button" onClick={() => sending.abort()}>Stop</button>}
      <Alert error={error} />
      {answer !== undefined && <AnswerView answer={answer} />}
    </Panel>
  );
}

/** JSON with its integers as they are; undefined for other text. */
function exactJsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function AnswerView({ answer: { status, type, ms, text, ended, cut } }: { readonly answer: Answered }) {
  const json = ended && type.includes("json") ? exactJsonOf(text) : undefined;
  return (
    <div class="api-result" role="status">
      <p>
        <Badge tone={status < 400 ? "good" : "bad"}>{status}</Badge> <span class="note">{ms} ms, {type}</span>
      </p>
      {json === undefined ? <LongText text={text} limit={4_000} /> : <JsonTree value={json} />}
      {cut && <p class="note">The rest of the answer is not shown.</p>}
    </div>
  );
}
