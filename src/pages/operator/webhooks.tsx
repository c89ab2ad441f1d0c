/// <reference lib="dom" />
/** Webhooks: their transitions, their delivery state, their last messages, and adding one. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { count } from "../kit/amounts.tsx";
import { Loaded, useData } from "../kit/data.tsx";
import { Dialog } from "../kit/Dialog.tsx";
import { Form, SelectField, TextField } from "../kit/forms.tsx";
import { copyText } from "../kit/Id.tsx";
import { Badge, Heading, Panel } from "../kit/parts.tsx";
import { pathOf } from "../kit/router.ts";
import { Empty } from "../kit/states.tsx";
import { Ago } from "../kit/time.tsx";
import { LongText } from "../kit/values.tsx";
import { kebab } from "./kebab.ts";
import { get, lessThanWanted, send } from "./service.ts";
import { Decisions, Settled } from "./shared.tsx";
import type { Deliveries, Kinds, Webhook, WebhookMade, Webhooks } from "./types.ts";

const TONES = { active: "good", failing: "warn", disabled: "bad" } as const;
/** Deliveries that are shown. */
const LIMIT = 20;

export function WebhooksView() {
  const data = useData((signal) => get<Webhooks>("/webhooks", signal), [], { everyMs: 5_000 });
  const [adding, add] = useState(false);
  const [made, setMade] = useState<WebhookMade>();
  return (
    <Settled data={[data]}>
      <Heading
        title="Webhooks"
        aside={<button type="button" class="primary" onClick={() => add(true)}>Add a webhook</button>}
      >
        Webhooks
      </Heading>
      {adding && (
        <Add
          close={() => add(false)}
          after={async (webhook) => {
            setMade(webhook);
            await data.reload();
          }}
        />
      )}
      {made && <Secret made={made} stored={() => setMade(undefined)} />}
      <Loaded data={data} rows={5}>
        {({ webhooks }) =>
          webhooks.length === 0
            ? (
              <div class="panel">
                <Empty title="No webhook.">
                  A webhook sends signed transitions to your URL, in order, until each is acknowledged.
                </Empty>
              </div>
            )
            : (
              <ul class="hooks">
                {webhooks.map((hook) => <Row key={hook.id} hook={hook} after={data.reload} />)}
              </ul>
            )}
      </Loaded>
    </Settled>
  );
}

function Add({ close, after }: { readonly close: () => void; readonly after: (made: WebhookMade) => Promise<void> }) {
  const kinds = useData((signal) => get<Kinds>("/kinds", signal), []);
  const [url, setUrl] = useState("");
  const [kind, setKind] = useState("");
  const [id, setId] = useState("");
  const [transition, setTransition] = useState("");
  const [from, setFrom] = useState<"now" | "start">("now");
  return (
    <Dialog title="Add a webhook" onClose={close}>
      <p>Each transition is sent by POST as a signed CloudEvent, in order, and repeated until it is acknowledged.</p>
      <Form
        verb="Add"
        cancel={close}
        disabled={url.trim() === ""}
        run={async () => {
          const made = await send<WebhookMade>("POST", "/webhooks", {
            url: url.trim(),
            from,
            ...(kind === "" ? {} : { kind }),
            ...(id.trim() === "" ? {} : { id: id.trim() }),
            // In the form of an actor's history, or in that of subscribers.
            ...(transition.trim() === "" ? {} : { transition: kebab(transition.trim()) }),
          });
          close();
          await after(made);
        }}
      >
        <TextField
          label="URL"
          value={url}
          onInput={setUrl}
          placeholder="https://"
          maxLength={2_000}
          required
          autofocus
        />
        <SelectField
          label="Actor kind"
          value={kind}
          onChange={setKind}
          options={[["", "every kind"], ...(kinds.value?.kinds ?? []).map((one) => [one.kind, one.kind] as const)]}
        />
        <TextField label="Only the actor with this id (optional)" value={id} onInput={setId} maxLength={200} />
        <TextField label="Only this transition (optional)" value={transition} onInput={setTransition} maxLength={200} />
        <SelectField
          label="From"
          value={from}
          onChange={setFrom}
          options={[["now", "now on"], ["start", "the oldest retained transition"]]}
        />
      </Form>
    </Dialog>
  );
}

/** Shows a new webhook's secret until it is confirmed. */
function Secret({ made: { url, secret }, stored }: { readonly made: WebhookMade; readonly stored: () => void }) {
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => field.current?.focus(), []);
  return (
    <Panel title="Store this secret: it is not shown again" class="fresh">
      <p class="note">
        {"The messages to "}
        <span class="mono">{url}</span>
        {" are signed with it."}
      </p>
      <div class="field">
        <label for="secret">Secret</label>
        <input
          ref={field}
          id="secret"
          class="mono"
          readonly
          value={secret}
          spellcheck={false}
          onFocus={(event) => event.currentTarget.select()}
        />
      </div>
      <div class="buttons">
        <button type="button" onClick={() => void copyText(secret, "Copied the secret")}>Copy</button>
        <button type="button" class="primary" onClick={stored}>I have stored it</button>
      </div>
    </Panel>
  );
}

function Row({ hook, after }: { readonly hook: Webhook; readonly after: () => Promise<void> }) {
  const { id, url, filter, status, reason, pending, created } = hook;
  const at = `/webhooks${pathOf(id)}`;
  const wanted = Object.values(filter).filter((one) => one !== null);
  const [open, setOpen] = useState(false);
  return (
    <li class="panel">
      <div class="row">
        <h2 class="mono">{url}</h2>
        <Badge tone={TONES[status]}>{status}</Badge>
      </div>
      <p class="note">
        {wanted.length > 0 ? `Receives ${wanted.join(", ")}` : "Receives all transitions"}
        {` · ${count(pending)} waiting · since `}
        <Ago at={created} />
      </p>
      {reason !== null && (
        <div class="reason error">
          <LongText text={reason} />
        </div>
      )}
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Last deliveries</summary>
        {open && <LastDeliveries at={at} />}
      </details>
      <Decisions
        about={`the webhook ${url}`}
        after={after}
        decisions={[
          {
            name: "Test",
            done: "The test was delivered.",
            title: "Send a test event now?",
            text: `It is sent to ${url} once.`,
            run: async () => {
              const { delivered, error, code } = await send<
                { delivered: boolean; error: string | null; code: number | null }
              >("POST", `${at}/test`);
              if (!delivered) throw lessThanWanted(error ?? `The response was ${code}.`);
            },
          },
          ...status === "active" ? [] : [{
            name: "Resume",
            done: "Resumed.",
            title: "Attempt pending deliveries now?",
            text: "Deliveries continue where they stopped.",
            run: () => send("POST", `${at}/resume`),
          }],
          {
            name: "Remove",
            done: "Removed.",
            title: "Remove this webhook?",
            text: "Its pending deliveries are deleted too.",
            danger: true,
            run: () => send("DELETE", at),
          },
        ]}
      />
    </li>
  );
}

function LastDeliveries({ at }: { readonly at: string }) {
  const data = useData((signal) => get<Deliveries>(`${at}/deliveries`, signal, { limit: LIMIT }), [at], {
    everyMs: 5_000,
  });
  return (
    <Loaded data={data} rows={2}>
      {({ deliveries }) =>
        deliveries.length === 0 ? <p class="nothing">No delivery yet.</p> : (
          <ul class="rows">
            {deliveries.map(({ n, event, status, attempts, code, nextAttempt, error }) => (
              <li key={n}>
                <span class="mono">{event}</span>
                <Badge tone={status === "delivered" ? "good" : "warn"}>{status}</Badge>
                <span class="note">
                  {attempts === 0 ? "not attempted yet" : `${count(attempts)} attempt${attempts === 1 ? "" : "s"}`}
                  {code !== null && ` · answered ${code}`}
                  {attempts > 0 && nextAttempt !== null && (
                    <>
                      {" · next "}
                      <Ago at={nextAttempt} />
                    </>
                  )}
                </span>
                {error !== null && <p class="error">{error}</p>}
              </li>
            ))}
          </ul>
        )}
    </Loaded>
  );
}
