/// <reference lib="dom" />
/** The API page of a service: its operations in groups, each with a form that sends a request. */
import "./api.css";
import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { ApiError } from "#src/client/http.ts";
import { useData } from "../kit/data.tsx";
import { TextField } from "../kit/forms.tsx";
import { mount } from "../kit/mount.tsx";
import { Heading } from "../kit/parts.tsx";
import { here, hrefOf, pathOf, type ViewProps } from "../kit/router.ts";
import { Search } from "../kit/Search.tsx";
import { TokenForm } from "../kit/TokenForm.tsx";
import { setting } from "../kit/setting.ts";
import { Failure, Loading } from "../kit/states.tsx";
import { type ApiDocument, found, groupsOf, type Operation, type OperationGroup } from "./document.ts";
import { Marked } from "./Marked.tsx";
import { Method, OperationView } from "./OperationView.tsx";
import { DOCUMENT, keepToken, readDocument, token } from "./service.ts";

/** What the reader searches for; it stays while operations are opened. */
const searched = signal("");
const addressOf = (operation: Operation) => pathOf("operation", operation.id);

function ApiView({ params }: ViewProps) {
  const { value: document, error, reload } = useData(readDocument, [token.value], { remember: "document" });
  const [unfit, setUnfit] = useState(false);
  if (error instanceof ApiError && error.status === 401) {
    return (
      <TokenForm
        heading="Token"
        rejected={unfit || token.value !== ""}
        onToken={(text) => {
          // a header cannot carry others
          const fit = /^[!-~]+$/.test(text);
          setUnfit(!fit);
          if (fit) keepToken(text);
        }}
      >
        This service requires its token. It is stored only in this tab.
      </TokenForm>
    );
  }
  if (document === undefined) {
    return error === undefined ? <Loading rows={8} /> : <Failure error={error} retry={reload} />;
  }
  const groups = groupsOf(document);
  const id = params["id"];
  const operation = groups.flatMap(({ operations }) => operations).find((one) => one.id === id);
  return (
    <div class="api">
      <Contents groups={groups} />
      <div class="api-main">
        {id === undefined
          ? <Overview document={document} groups={groups} />
          : operation === undefined
          ? <Heading title="No such operation">This service has no such operation</Heading>
          : <OperationView key={id} document={document} operation={operation} />}
      </div>
    </div>
  );
}

/** The operations by group, with a search. */
function Contents({ groups }: { readonly groups: readonly OperationGroup[] }) {
  const text = searched.value;
  const shown = found(groups, text);
  const { path } = here.value;
  const isOpen = (group: OperationGroup) => text !== "" || group.operations.some((one) => addressOf(one) === path);
  return (
    <nav class={path === "/" && text === "" ? "api-contents all" : "api-contents"} aria-label="Operations">
      <Search
        label="Find an operation"
        placeholder="Word, path or parameter"
        value={text}
        onSearch={(next) => {
          searched.value = next;
        }}
      />
      {shown.length === 0 && <p class="note" role="status">No operation has these words.</p>}
      {shown.map((group) => (
        <details key={`${group.name} ${isOpen(group)}`} open={isOpen(group)}>
          <summary>
            {group.name} <span class="note">{group.operations.length}</span>
          </summary>
          <ul>
            {group.operations.map((operation) => (
              <li key={operation.id}>
                <a
                  href={hrefOf(addressOf(operation))}
                  {...(addressOf(operation) === path ? { "aria-current": "page" as const } : {})}
                >
                  <Method name={operation.method} />
                  <span>
                    <Marked text={operation.title} />
                  </span>
                </a>
              </li>
            ))}
          </ul>
        </details>
      ))}
    </nav>
  );
}

function Overview({ document, groups }: {
  readonly document: ApiDocument;
  readonly groups: readonly OperationGroup[];
}) {
  const { title, version, description } = document.info;
  return (
    <>
      <Heading title={title}>{title}</Heading>
      <p class="note">
        Version {version}. <a href={DOCUMENT}>OpenAPI 3.1 document</a>
      </p>
      {description !== undefined && (
        <p class="api-text">
          <Marked text={description} />
        </p>
      )}
      {document.security !== undefined && (
        <TextField
          label="Token"
          type="secret"
          hint="Sent as a bearer token with each request. It stays in this tab."
          value={token.value}
          onInput={keepToken}
        />
      )}
      {groups.map((group) => (
        <section key={group.name} class="api-group" aria-labelledby={`group-${group.name}`}>
          <h2 id={`group-${group.name}`}>{group.name}</h2>
          <p class="note">{group.description}</p>
          <ul>
            {group.operations.map((operation) => (
              <li key={operation.id}>
                <a href={hrefOf(addressOf(operation))}>
                  <Method name={operation.method} />
                  <code>
                    {(operation.prefix + operation.path).split("/").map((part, i) =>
                      i === 0 ? part : (
                        <>
                          /<wbr />
                          {part}
                        </>
                      )
                    )}
                  </code>
                </a>
                <span>
                  <Marked text={operation.title} />
                </span>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

mount({
  service: "API",
  api: setting("document")?.replace(/openapi\.json$/, "docs") ?? "/docs",
  mode: "hash",
  sections: [
    { name: "Operations", path: "/" },
    { name: setting("back-name") ?? "Service", path: setting("back") ?? "/", outside: true },
  ],
  routes: [
    { path: "/", title: "API", view: ApiView },
    { path: "/operation/:id", title: "API", view: ApiView, section: "/" },
  ],
});
