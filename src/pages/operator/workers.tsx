/// <reference lib="dom" />
/** Workers, and a map of the partitions: the owner of each, the rest of its lease, and moving it to another worker. */
import { elementAt, present } from "#src/base/present.ts";
import { useRef, useState } from "preact/hooks";
import { count } from "../kit/amounts.tsx";
import { Loaded, useData } from "../kit/data.tsx";
import { Dialog } from "../kit/Dialog.tsx";
import { Form, SelectField } from "../kit/forms.tsx";
import { Badge, Heading, Panel } from "../kit/parts.tsx";
import { Empty } from "../kit/states.tsx";
import { span } from "../kit/span.ts";
import { Ago } from "../kit/time.tsx";
import { toast } from "../kit/toast.tsx";
import { get, lessThanWanted, send } from "./service.ts";
import { Settled } from "./shared.tsx";
import type { Leases, PartitionLine, Partitions, Worker, Workers } from "./types.ts";

/** Colours of owners; there are letters too, so that nothing hangs on colours alone. */
const COLOURS = 8;
/** Difference of clocks from which it is shown, in milliseconds. */
const SKEW_MS = 1_000;

export function WorkersView() {
  const data = useData(
    async (signal) => {
      const [{ workers }, { partitions }, { leases }] = await Promise.all([
        get<Workers>("/workers", signal),
        get<Partitions>("/partitions", signal),
        get<Leases>("/leases", signal),
      ]);
      return { workers, partitions, leases };
    },
    [],
    { everyMs: 2_000, remember: "workers" },
  );
  // Number of an owner on this page, the same as long as it is open.
  const numbers = useRef(new Map<string, number>()).current;
  const numberOf = (owner: string): number => {
    const number = numbers.get(owner) ?? numbers.size;
    numbers.set(owner, number);
    return number;
  };
  const [moving, move] = useState<PartitionLine>();
  return (
    <Settled data={[data]}>
      <Heading title="Workers">Workers</Heading>
      <Loaded data={data} rows={8}>
        {({ workers, partitions, leases }) => {
          for (const { id } of [...workers].sort((a, b) => a.id < b.id ? -1 : 1)) numberOf(id);
          return (
            <div class="column">
              <div class="workers">
                {workers.map((worker) => <Card key={worker.id} worker={worker} number={numberOf(worker.id)} />)}
                {workers.length === 0 && (
                  <div class="panel">
                    <Empty title="No worker runs.">Start a process with the role worker.</Empty>
                  </div>
                )}
              </div>
              <Panel title="Partitions">
                <PartitionMap partitions={partitions} numberOf={numberOf} onMove={move} />
              </Panel>
              <Panel title="Tasks that run in one process at a time">
                <ul class="rows leases">
                  {leases.map(({ name, owner, epoch, expiresInMs }) => (
                    <li key={name}>
                      <span class="mono">{name}</span>
                      {owner === null || expiresInMs <= 0 ? <Badge tone="bad">no process</Badge> : <bdi>{owner}</bdi>}
                      <span class="note">
                        {`epoch ${count(epoch)}, ${expiresInMs > 0 ? `${span(expiresInMs)} left` : "lapsed"}`}
                      </span>
                    </li>
                  ))}
                  {leases.length === 0 && <li class="nothing">No lease was taken yet.</li>}
                </ul>
              </Panel>
              {moving && (
                <Move
                  partition={moving}
                  workers={workers}
                  close={() => move(undefined)}
                  after={data.reload}
                />
              )}
            </div>
          );
        }}
      </Loaded>
    </Settled>
  );
}

/** A, B, … Z, A1, B1 … */
const letter = (number: number) => String.fromCharCode(65 + number % 26) + (number < 26 ? "" : Math.floor(number / 26));

function Card({ worker, number }: { readonly worker: Worker; readonly number: number }) {
  const { id, alive, suspect, draining, seen, clockAheadMs } = worker;
  const counts: readonly (readonly [string, number, string])[] = [
    ["partitions", worker.partitions.length, "Partitions that it owns"],
    ["in memory", worker.resident, "Actors in its memory"],
    ["waiting", worker.waiting, "Commands and events in its queues"],
    ["turns", worker.turns, "Turns written since it started"],
    ["events", worker.events, "Events applied since it started"],
    ["effects", worker.effects, "Effects that run or are queued"],
    ["fenced", worker.fenced, "Stale writes that were rejected because another worker had taken over"],
  ];
  return (
    <article class="worker panel">
      <h2>
        <span class={`letter w${number % COLOURS}`}>{letter(number)}</span>
        <span class="mono">{id}</span>
        {!alive
          ? <Badge tone="bad">gone</Badge>
          : suspect
          ? <Badge tone="warn">does not answer</Badge>
          : draining
          ? <Badge tone="warn">draining</Badge>
          : <Badge tone="good">alive</Badge>}
      </h2>
      <p class="note">
        seen <Ago at={seen} />
        {Math.abs(clockAheadMs) >= SKEW_MS && (
          <>
            {" · "}
            <Badge tone="warn">{`clock ${span(clockAheadMs)} ${clockAheadMs > 0 ? "ahead" : "behind"}`}</Badge>
          </>
        )}
      </p>
      <dl class="counts">
        {counts.map(([name, n, hint]) => (
          <div key={name} title={hint}>
            <dt>{name}</dt>
            <dd>{count(n)}</dd>
          </div>
        ))}
      </dl>
    </article>
  );
}

function PartitionMap({ partitions, numberOf, onMove }: {
  readonly partitions: readonly PartitionLine[];
  readonly numberOf: (owner: string) => number;
  readonly onMove: (partition: PartitionLine) => void;
}) {
  const map = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState<number>();
  const longest = Math.max(1, ...partitions.map(({ expiresInMs }) => expiresInMs));
  const first = partitions[0]?.id;
  const about = partitions.find(({ id }) => id === current);
  const steer = (event: KeyboardEvent) => {
    const cells = [...present(map.current, "the map").querySelectorAll<HTMLElement>(".cell")];
    const here = cells.findIndex((one) => one === document.activeElement);
    if (here < 0) return;
    const top = elementAt(cells, 0).offsetTop;
    const columns = Math.max(1, cells.filter((one) => one.offsetTop === top).length);
    const targets: Readonly<Record<string, number>> = {
      ArrowRight: here + 1,
      ArrowLeft: here - 1,
      ArrowDown: here + columns,
      ArrowUp: here - columns,
      Home: 0,
      End: cells.length - 1,
    };
    const target = targets[event.key];
    if (target === undefined) return;
    event.preventDefault();
    cells[target]?.focus();
  };
  return (
    <>
      <p class="note about">
        {about === undefined
          ? "Select a partition to move it to another worker. Use the arrow keys to navigate."
          : describe(about)}
      </p>
      <div ref={map} class="map" role="group" aria-label="Partitions by owner" onKeyDown={steer}>
        {partitions.map((one) => {
          const { id, owner, expiresInMs } = one;
          const number = owner === null ? undefined : numberOf(owner);
          const held = owner !== null && expiresInMs > 0;
          const looks = `cell ${number === undefined ? "free" : `w${number % COLOURS}`}`;
          return (
            <button
              key={id}
              type="button"
              class={owner !== null && !held ? `${looks} lapsed` : looks}
              tabIndex={id === (current ?? first) ? 0 : -1}
              data-id={id}
              title={describe(one)}
              onClick={() => onMove(one)}
              onFocus={() => setCurrent(id)}
            >
              <span class="sr">Partition</span>
              <b>{id}</b>
              <span class="owner">{number === undefined ? "–" : letter(number)}</span>
              <span class="sr">{restOf(one)}</span>
              <i
                aria-hidden="true"
                style={{ width: `${held ? Math.max(4, Math.round(100 * expiresInMs / longest)) : 0}%` }}
              />
            </button>
          );
        })}
      </div>
    </>
  );
}

function restOf({ owner, actors, epoch }: PartitionLine): string {
  return `, ${owner === null ? "without worker" : `of ${owner}`}, ${count(actors)} actors, epoch ${epoch}`;
}

function describe(one: PartitionLine): string {
  const held = one.owner !== null && one.expiresInMs > 0;
  return `Partition ${one.id}${restOf(one)}, ${held ? `lease for ${span(one.expiresInMs)} more` : "no lease"}`;
}

function Move({ partition: { id, owner }, workers, close, after }: {
  readonly partition: PartitionLine;
  readonly workers: readonly Worker[];
  readonly close: () => void;
  readonly after: () => Promise<void>;
}) {
  const [to, setTo] = useState("");
  return (
    <Dialog title={`Move partition ${id}?`} onClose={close}>
      <p>
        {owner === null ? "It has no worker." : `${owner} completes the current work of its actors and hands it over.`}
      </p>
      <Form
        verb="Move"
        cancel={close}
        run={async () => {
          const moved = await send<{ owner: string | null }>("POST", `/partitions/${id}/move`, to === "" ? {} : { to });
          if (moved.owner === owner) throw lessThanWanted("The partition was not moved.");
          toast(`Partition ${id} now belongs to ${moved.owner ?? "no worker"}.`);
          close();
          await after();
        }}
      >
        <SelectField
          label="To"
          value={to}
          onChange={setTo}
          options={[
            ["", "Worker with the fewest partitions"],
            ...workers.filter((worker) => worker.alive && worker.id !== owner).map((worker) =>
              [worker.id, worker.id] as const
            ),
          ]}
        />
      </Form>
    </Dialog>
  );
}
