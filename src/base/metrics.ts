/**
 * Metrics of a process, kept and written as Prometheus text by prom-client.
 *
 * This file adds what prom-client leaves to its user: a bound on the number of series, series that are found without
 * building a label object for each measurement, and gauges that read their value at each scrape. Names follow
 * Prometheus (`arbor_…_total`, `…_seconds`). Labels come from small sets (kinds, routes, outcomes) and never hold an
 * id.
 *
 * @example
 * ```ts
 * const turns = metrics.counter("arbor_turns_total", "Turns written.", ["kind"]);
 * turns.of("token").inc();
 * ```
 */
import * as prometheus from "prom-client";

/** Most label sets of one metric; further ones are counted together, with every label set to `other`. */
export const MOST_SERIES = 500;
/** The content type of `Metrics.text`. */
export const METRICS_TYPE = prometheus.prometheusContentType;
/** Longest label value, in UTF-16 units; the rest is cut off. */
const LONGEST_LABEL = 200;
/** Upper bounds of durations, in seconds: from half a millisecond to half a minute. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export interface Counter {
  /** Adds `by`, 1 by default. */
  inc(by?: number): void;
}

export interface Gauge {
  set(value: number): void;
  /** Adds the value of `source`, read at each scrape, to what was set; returns the function that removes it. */
  from(source: () => number): () => void;
}

export interface Histogram {
  observe(value: number): void;
  /** Observes the time since `start` (by `performance.now()`), in seconds. */
  since(start: number): void;
}

type Names = readonly string[];
/** A value for each label. */
type ValuesOf<Labels extends Names> = { [Label in keyof Labels]: string };

/** One metric: a series for each set of label values. */
export class Metric<Series, Values extends Names> {
  private readonly series = new Map<string, Series>();

  constructor(private readonly create: (labels: string[]) => Series) {}

  /** The series of these label values, in the order of the labels. */
  of(...labels: Values): Series {
    return this.series.get(labels.join("\0")) ?? this.add(labels);
  }

  private add(labels: Names): Series {
    const values = labels.map((value) => this.series.size < MOST_SERIES ? value.slice(0, LONGEST_LABEL) : "other");
    const key = values.join("\0");
    const series = this.series.get(key) ?? this.create(values);
    this.series.set(key, series);
    return series;
  }
}

/** The metrics of a process. A name that is taken, or that Prometheus does not allow, makes the declaration throw. */
export class Metrics {
  readonly registry = new prometheus.Registry();

  counter<const L extends Names = []>(name: string, help: string, labels?: L): Metric<Counter, ValuesOf<L>> {
    const counter = new prometheus.Counter(this.configuration(name, help, labels, true));
    return new Metric((values) => counter.labels(...values));
  }

  gauge<const L extends Names = []>(name: string, help: string, labels?: L): Metric<Gauge, ValuesOf<L>> {
    const collectors: (() => void)[] = [];
    const collect = () => collectors.forEach((collector) => collector());
    const gauge = new prometheus.Gauge({ ...this.configuration(name, help, labels), collect });
    return new Metric((values) => {
      const series = gauge.labels(...values);
      const sources = new Set<() => number>();
      let value = 0;
      collectors.push(() => series.set([...sources].reduce((sum, source) => sum + source(), value)));
      return {
        set: (to) => void (value = to),
        from: (source) => {
          sources.add(source);
          return () => void sources.delete(source);
        },
      };
    });
  }

  /** `bounds` are the upper bounds of the buckets, growing; by default those of durations in seconds. */
  histogram<const L extends Names = []>(
    name: string,
    help: string,
    labels?: L,
    bounds: readonly number[] = SECONDS,
  ): Metric<Histogram, ValuesOf<L>> {
    const buckets = [...bounds];
    const histogram = new prometheus.Histogram({ ...this.configuration(name, help, labels), buckets });
    return new Metric((values) => {
      const { observe } = histogram.labels(...values);
      return { observe, since: (start) => observe((performance.now() - start) / 1_000) };
    });
  }

  /** All metrics in Prometheus's text format. */
  async text(): Promise<string> {
    // prom-client writes "Nan"; the format has "NaN".
    return (await this.registry.metrics()).replace(/ Nan$/gm, " NaN");
  }

  private configuration(name: string, help: string, labels: Names = [], isCounter = false) {
    if (isCounter !== name.endsWith("_total")) throw new TypeError(`${name}: counters, and only they, end in _total`);
    return { name, help, labelNames: [...labels], registers: [this.registry] };
  }
}

/** The metrics of this process. Each module declares its own, beside what it measures. */
export const metrics = new Metrics();
