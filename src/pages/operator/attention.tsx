/** What needs attention, each with what to do about it. */
import { count } from "../kit/amounts.tsx";
import { Loaded, useData } from "../kit/data.tsx";
import { Badge, Heading } from "../kit/parts.tsx";
import { Empty } from "../kit/states.tsx";
import { Ago } from "../kit/time.tsx";
import { LongText } from "../kit/values.tsx";
import { get } from "./service.ts";
import { ActorLink, Settled } from "./shared.tsx";
import type { Attention, AttentionItem } from "./types.ts";

const TONES = { bad: "bad", warning: "warn", notice: "quiet" } as const;
const WORDS = { bad: "Error", warning: "Warning", notice: "Notice" } as const;
const LINKS: Readonly<Record<AttentionItem["category"], string>> = {
  check: "See the workers",
  clock: "See the workers",
  "dead-letter": "Decide on the dead letters",
  effect: "Open the actor",
  lag: "See what waits",
  partition: "See the workers and partitions",
  paused: "See the paused actors",
  quarantine: "Open the token",
  stream: "See the workers",
  webhook: "See the webhooks",
  worker: "See the workers",
};

export function AttentionView() {
  const data = useData((signal) => get<Attention>("/attention", signal), [], {
    everyMs: 3_000,
    remember: "attention",
  });
  return (
    <Settled data={[data]}>
      <Heading title="Attention">What needs attention</Heading>
      <Loaded data={data} rows={6}>
        {({ items }) =>
          items.length === 0
            ? (
              <div class="panel">
                <Empty title="Nothing needs attention.">
                  Effects, backlogs, partitions, workers, clocks, quarantined tokens, dead letters, webhooks and checks
                  are in order.
                </Empty>
              </div>
            )
            : <ul class="attention">{items.map((item) => <Item key={item.id} item={item} />)}</ul>}
      </Loaded>
    </Settled>
  );
}

function Item({ item }: { readonly item: AttentionItem }) {
  const { severity, title, detail, advice, page, actors, nextAttempt, category } = item;
  return (
    <li class={`panel item ${severity}`}>
      <div class="row">
        <Badge tone={TONES[severity]}>{WORDS[severity]}</Badge>
        <h2>{title}</h2>
      </div>
      {detail !== null && detail !== "" && (
        <div class="reason">
          <LongText text={detail} />
        </div>
      )}
      {nextAttempt !== null && (
        <p class="note">
          Next attempt <Ago at={nextAttempt} />.
        </p>
      )}
      <p>
        <b>What to do:</b> {advice}
      </p>
      {category === "effect" && actors.length > 0
        ? (
          <p class="row">
            {actors.map(({ kind, id }) => <ActorLink key={`${kind}/${id}`} kind={kind} id={id} />)}
            {item.count > actors.length && <span class="note">{`and ${count(item.count - actors.length)} more`}</span>}
          </p>
        )
        : (
          <p>
            <a href={page}>{LINKS[category]}</a>
          </p>
        )}
    </li>
  );
}
