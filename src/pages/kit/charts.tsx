/** Charts in SVG, each with its numbers as a table for those who cannot see it. */
import { count } from "./amounts.tsx";

export interface Series {
  readonly name: string;
  readonly values: readonly number[];
  /** Number of its colour; by default its place among the series. */
  readonly colour?: number;
}

/** Colours `c0` to `c5` in the styles. */
const COLOURS = 6;
const colour = ({ colour: own }: Series, place: number) => `c${(own ?? place) % COLOURS}`;

/** A round number at or above a value, for the end of a scale: 1, 2 or 5 times a power of ten. */
export function niceMaximum(value: number): number {
  if (value <= 5) return 5;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5].map((factor) => factor * power).find((one) => one >= value) ?? 10 * power;
}

const WIDTH = 720;

/** Stacked bars over some intervals, such as transitions a minute by kind. */
export function Bars(
  { label, series, labels, height = 140, unit, show = (value) => `${count(value)} ${unit}`, axis = "Time", least = 0 }:
    {
      /** What the chart shows, in a sentence. */
      readonly label: string;
      readonly series: readonly Series[];
      /** A name for each interval, as many as each series has values. */
      readonly labels: readonly string[];
      readonly height?: number;
      /** What a value counts: `transitions`. */
      readonly unit: string;
      /** A value in words. */
      readonly show?: (value: number) => string;
      /** What the labels are. */
      readonly axis?: string;
      /** The least end of the scale, so that values near nothing look like that. */
      readonly least?: number;
    },
) {
  const totals = labels.map((_, i) => series.reduce((sum, { values }) => sum + (values[i] ?? 0), 0));
  const maximum = niceMaximum(Math.max(...totals, least));
  const plot = height - 20;
  const step = WIDTH / Math.max(1, labels.length);
  const y = (value: number) => plot - (value / maximum) * (plot - 8);
  // a label every sixth of the width, and none that the right edge would cut
  const every = Math.max(1, Math.ceil(labels.length / 6));
  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${WIDTH} ${height}`} role="img" aria-label={label} preserveAspectRatio="none">
        {[0, 0.5, 1].map((share) => (
          <line key={share} class="grid" x1={0} x2={WIDTH} y1={y(maximum * share)} y2={y(maximum * share)} />
        ))}
        {labels.map((name, i) => {
          let below = 0;
          return (
            <g key={i}>
              <title>{`${name}: ${show(totals[i] ?? 0)}`}</title>
              <rect class="hit" x={i * step} y={0} width={step} height={plot} />
              {series.map((one, s) => {
                const { name: of, values } = one;
                const value = values[i] ?? 0;
                if (value === 0) return null;
                const top = y(below + value);
                const bar = (
                  <rect
                    key={of}
                    class={colour(one, s)}
                    x={i * step + step * 0.1}
                    y={top}
                    width={step * 0.8}
                    height={y(below) - top}
                  />
                );
                below += value;
                return bar;
              })}
            </g>
          );
        })}
      </svg>
      <div class="axis" aria-hidden="true">
        {labels.map((name, i) =>
          i % every === 0 ? <span key={i} style={{ left: `${(i / labels.length) * 100}%` }}>{name}</span> : null
        )}
      </div>
      <figcaption>
        <span class="legend">
          {series.map((one, i) => (
            <span key={one.name}>
              <i class={colour(one, i)} />
              {one.name}
            </span>
          ))}
        </span>
        <span class="note">{`Scale: 0 to ${show(maximum)}`}</span>
      </figcaption>
      <BarsTable label={label} series={series} labels={labels} totals={totals} axis={axis} />
    </figure>
  );
}

/** The numbers of bars; intervals without any are left out. */
function BarsTable({ label, series, labels, totals, axis }: {
  readonly label: string;
  readonly series: readonly Series[];
  readonly labels: readonly string[];
  readonly totals: readonly number[];
  readonly axis: string;
}) {
  return (
    <details class="chart-table">
      <summary>Show as a table</summary>
      <div class="scroll">
        <table>
          <caption class="sr">{label}</caption>
          <thead>
            <tr>
              <th scope="col">{axis}</th>
              {series.map(({ name }) => <th key={name} scope="col" class="right">{name}</th>)}
            </tr>
          </thead>
          <tbody>
            {labels.map((name, i) =>
              totals[i] === 0 ? null : (
                <tr key={i}>
                  <th scope="row">{name}</th>
                  {series.map(({ name: of, values }) => <td key={of} class="right">{count(values[i] ?? 0)}</td>)}
                </tr>
              )
            )}
          </tbody>
        </table>
      </div>
    </details>
  );
}

/** A share of a whole as a bar: epoch progress, memory of a limit. */
export function Meter({ value, max, label }: { readonly value: number; readonly max: number; readonly label: string }) {
  const share = max <= 0 ? 0 : Math.min(1, value / max);
  return (
    <span class="meter" role="meter" aria-label={label} aria-valuemin={0} aria-valuemax={max} aria-valuenow={value}>
      <span style={{ width: `${share * 100}%` }} />
    </span>
  );
}
