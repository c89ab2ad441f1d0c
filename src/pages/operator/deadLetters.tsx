/**
 * Dead letters: events that failed each time they were applied. They wait here until an operator retries or drops them.
 */
import { Loaded, useData } from "../kit/data.tsx";
import { Badge, Heading } from "../kit/parts.tsx";
import type { ViewProps } from "../kit/router.ts";
import { Empty } from "../kit/states.tsx";
import { Ago } from "../kit/time.tsx";
import { JsonTree, LongText } from "../kit/values.tsx";
import { get, send } from "./service.ts";
import { ActorLink, Decisions, Settled } from "./shared.tsx";
import type { DeadLetter, DeadLetters } from "./types.ts";

const SOURCES: Readonly<Record<DeadLetter["source"], string>> = {
  command: "from a command",
  input: "from the chain",
  reminder: "from a reminder",
  outcome: "from an effect",
};

export function LettersView({ query }: ViewProps) {
  const after = query.get("after") ?? undefined;
  const data = useData((signal) => get<DeadLetters>("/dead-letters", signal, { after }), [after], {
    everyMs: 5_000,
    keep: true,
  });
  return (
    <Settled data={[data]}>
      <Heading title="Dead letters">Dead letters</Heading>
      <Loaded data={data} rows={6}>
        {({ deadLetters, next }) => (
          <>
            {deadLetters.length === 0 && (
              <div class="panel">
                <Empty title="No dead letters.">
                  Events that cannot be applied to an actor are stored here, and the actor continues without them.
                </Empty>
              </div>
            )}
            <ul class="letters">
              {deadLetters.map((letter) => <Letter key={letter.n} letter={letter} after={data.reload} />)}
            </ul>
            {(after !== undefined || next !== null) && (
              <nav class="pager" aria-label="Pages of dead letters">
                <span class="buttons">
                  {after !== undefined && <a class="button small" href="/ui/dead-letters">Newest</a>}
                  {next !== null && (
                    <a class="button small" href={`/ui/dead-letters?${new URLSearchParams({ after: next })}`}>Older</a>
                  )}
                </span>
              </nav>
            )}
          </>
        )}
      </Loaded>
    </Settled>
  );
}

function Letter({ letter, after }: { readonly letter: DeadLetter; readonly after: () => Promise<void> }) {
  const { n, kind, id, event, error, source, cause, at } = letter;
  return (
    <li class="letter panel">
      <div class="row">
        <h2 class="event mono">{event.type}</h2>
        <ActorLink kind={kind} id={id} />
        <Badge>{SOURCES[source]}</Badge>
        <span class="note">
          <Ago at={at} />
        </span>
      </div>
      <div class="reason error">
        <LongText text={error} />
      </div>
      <p class="note">
        {"Cause: "}
        <span class="mono cause">{cause}</span>
      </p>
      <details>
        <summary>The event</summary>
        <JsonTree value={event} />
      </details>
      <Decisions
        about={`${event.type} of ${kind} ${id}`}
        after={after}
        decisions={[
          {
            name: "Retry",
            done: "Applied.",
            title: "Retry this event?",
            text: `${event.type} is applied to the ${kind} as it is now. If it fails again, it comes back here.`,
            run: () => send("POST", `/dead-letters/${n}/retry`),
          },
          {
            name: "Drop",
            done: "Dropped.",
            title: "Drop this event?",
            text: "It is deleted and cannot be retried.",
            danger: true,
            run: () => send("DELETE", `/dead-letters/${n}`),
          },
        ]}
      />
    </li>
  );
}
