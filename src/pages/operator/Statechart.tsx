/// <reference lib="dom" />
/** A statechart as SVG: the current state and the way that the actor took are lit. */
import { useEffect, useId, useMemo, useRef } from "preact/hooks";
import { eventName, leavesOf } from "./chartGraph.ts";
import { type Arrow, type Box, layoutChart, NOTE_LINE, takenOf } from "./chartLayout.ts";
import { Step } from "./shared.tsx";
import type { Machine } from "./types.ts";

/** A transition that is lit. */
export interface Taken {
  readonly version: number;
  readonly from: string;
  readonly to: string;
  readonly event: string;
}

const EDGE = 8;
/** States in which something went wrong. */
const WRONG: ReadonlySet<string> = new Set(["refused", "expired", "quarantined"]);

export function Statechart({ machine, state, taken }: {
  readonly machine: Machine;
  /** Undefined before the actor's first transition. */
  readonly state: string | undefined;
  /** The transitions up to the one that led to the state, newest first. */
  readonly taken: readonly Taken[];
}) {
  const head = useId();
  const layout = useMemo(() => layoutChart(machine), [machine]);
  const active = new Set(state === undefined ? [] : leavesOf(state));
  const [last] = taken;
  const now = last && takenOf(layout, last.from, last.to);
  const before = new Set(taken.slice(1).map(({ from, to }) => takenOf(layout, from, to)));
  const holder = useRef<HTMLDivElement>(null);
  const lit = [...active].join(" ");
  useEffect(() => {
    // On a narrow screen the chart is wider than its panel: the state that is lit has to be in view.
    const state = holder.current?.querySelector(".state.lit")?.getBoundingClientRect();
    const panel = holder.current?.getBoundingClientRect();
    if (state === undefined || panel === undefined) return;
    if (state.left < panel.left) holder.current?.scrollBy({ left: state.left - panel.left - EDGE });
    else if (state.right > panel.right) holder.current?.scrollBy({ left: state.right - panel.right + EDGE });
  }, [layout, lit]);
  // What is lit is drawn over what is not.
  const rank = (arrow: Arrow) => arrow === now ? 3 : before.has(arrow) ? 2 : arrow.usual ? 1 : 0;
  const arrows = [...layout.arrows].sort((a, b) => rank(a) - rank(b));
  // A transition without an arrow stays in its state, or leads to it from any.
  const noted = last && now === undefined ? last.from === last.to ? "↻" : "⇥" : undefined;
  return (
    <div class={[...active].some((id) => WRONG.has(id)) ? "statechart wrong" : "statechart"}>
      <div ref={holder} class="statechart-scroll" tabIndex={0} role="group" aria-label="Statechart">
        <svg
          role="img"
          aria-label={`Statechart of the machine ${machine.kind}; ${
            state === undefined ? "the actor has no state yet" : `the state is ${state}`
          }.`}
          viewBox={`${-EDGE} ${-EDGE} ${layout.width + 2 * EDGE} ${layout.height + 2 * EDGE}`}
          style={{ maxWidth: `${layout.width + 2 * EDGE}px`, minWidth: `${Math.round(0.72 * layout.width)}px` }}
        >
          <Heads id={head} />
          {arrows.map((arrow) => {
            const look = arrow === now ? "now" : before.has(arrow) ? "taken" : arrow.usual ? "usual" : "";
            return (
              <ArrowView
                key={`${arrow.from} ${arrow.to}${arrow === now ? ` ${last?.version}` : ""}`}
                arrow={arrow}
                look={look}
                head={`${head}${look}`}
              />
            );
          })}
          {layout.boxes.map((box) => <BoxView key={box.id} box={box} lit={active.has(box.id)} noted={noted} />)}
        </svg>
      </div>
      {last && (
        <p class="last" role="status">
          {`Version ${last.version}: `}
          <b class="mono">{last.event}</b> <Step from={last.from} to={last.to} />
        </p>
      )}
      <Legend boxes={layout.boxes} />
      <TransitionList machine={machine} />
    </div>
  );
}

/** The heads of arrows, one for each look. */
function Heads({ id }: { readonly id: string }) {
  return (
    <defs>
      {["", "usual", "taken", "now"].map((name) => (
        <marker
          key={name}
          id={`${id}${name}`}
          class={`head ${name}`}
          viewBox="0 0 8 8"
          refX={7}
          refY={4}
          markerWidth={8}
          markerHeight={8}
          markerUnits="userSpaceOnUse"
          orient="auto"
        >
          <path d="M0 .6 8 4 0 7.4Z" />
        </marker>
      ))}
    </defs>
  );
}

function ArrowView({ arrow, look, head }: {
  readonly arrow: Arrow;
  readonly look: string;
  /** Id of the marker at its end. */
  readonly head: string;
}) {
  return (
    <g
      class={`arrow ${look}`}
      data-from={arrow.from}
      data-to={arrow.to}
    >
      <title>{`${arrow.from} → ${arrow.to}: ${arrow.events.join(", ")}`}</title>
      <path class="hit" d={arrow.path} />
      <path class="line" d={arrow.path} marker-end={`url(#${head})`} />
      {look === "now" && <path class="run" d={arrow.path} pathLength={1} />}
      {arrow.usual && <text class="event" x={arrow.label.x} y={arrow.label.y}>{arrow.text}</text>}
    </g>
  );
}

function BoxView({ box, lit, noted }: {
  readonly box: Box;
  readonly lit: boolean;
  /** What the notes begin with that the last transition lights; undefined for none. */
  readonly noted: string | undefined;
}) {
  return (
    <g
      class={`state${box.usual ? " usual" : ""}${lit ? " lit" : ""}`}
      data-state={box.id}
      transform={`translate(${box.x} ${box.y})`}
    >
      {box.final && <rect class="around" x={-3} y={-3} width={box.w + 6} height={box.h + 6} rx={11} />}
      <rect class="body" width={box.w} height={box.h} rx={8} />
      <text class="name" x={box.w / 2} y={23}>{box.label}</text>
      {box.notes.map((note, i) => (
        <text
          key={note}
          class={noted !== undefined && lit && note.startsWith(noted) ? "row now" : "row"}
          x={box.w / 2}
          y={41 + i * NOTE_LINE}
        >
          {note}
        </text>
      ))}
      {box.initial && <circle class="begin" cx={0} cy={box.h > 40 ? 18 : box.h / 2} r={4} />}
    </g>
  );
}

function Legend({ boxes }: { readonly boxes: readonly Box[] }) {
  const has = (mark: string) => boxes.some(({ notes }) => notes.some((note) => note.startsWith(mark)));
  return (
    <p class="note legend">
      <span>● begins here</span>
      {has("↻") && <span>↻ events that leave it in its state</span>}
      {has("?") && <span>? intents: builds that the state permits</span>}
      {has("⇥") && <span>⇥ events that lead here from every state</span>}
    </p>
  );
}

/** The machine's transitions as a table, for readers without the drawing. */
function TransitionList({ machine }: { readonly machine: Machine }) {
  return (
    <details class="as-list">
      <summary>As a list</summary>
      <div class="scroll">
        <table>
          <caption class="sr">{`Transitions of the machine ${machine.kind}`}</caption>
          <thead>
            <tr>{["From", "Event", "If", "To"].map((name) => <th key={name} scope="col">{name}</th>)}</tr>
          </thead>
          <tbody>
            {machine.edges.map(({ from, event, guard, to, intent }, i) => (
              <tr key={i}>
                <td>{from === "*" ? "any state" : from}</td>
                <td>{eventName(event)}</td>
                <td>{guard ?? ""}</td>
                <td>{intent ? "permits a build" : to === "*" || to === from ? "stays" : to}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
