/**
 * Numbers about a process, for Prometheus: counters, gauges and histograms, and their text.
 *
 * A series is a plain object whose number goes up; who measures often keeps the series and pays for an addition. Names follow
 * Prometheus (`arbor_…_total`, `…_seconds`). Labels come from small sets (kinds, routes, outcomes) and never hold an id: a
 * family that gets more than `MOST_SERIES` label sets counts the rest as `other`.
 *
 * ```ts
 * const turns = metrics.counter("arbor_turns_total", "Turns written.", ["kind"]);
 * turns.of("token").inc();
 * ```
 */

/** Most label sets of one family. */
export const MOST_SERIES = 500;
/** The content type of `Registry.text`. */
export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";
/** Upper bounds of durations, in seconds: from half a millisecond to half a minute. */
export const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;

/** Counts what happened. */
export class Counter {
  value = 0;
  inc(by = 1): void {
    this.value += by;
  }
}

/** Something that goes up and down: what was set, and what its sources say when they are read. */
export class Gauge {
  private value = 0;
  private sources: (() => number)[] = [];
  set(value: number): void {
    this.value = value;
  }
  /** Adds something to be read with each scrape; gives the function that takes it away. */
  from(source: () => number): () => void {
    this.sources.push(source);
    return () => void (this.sources = this.sources.filter((one) => one !== source));
  }
  read(): number {
    let sum = this.value;
    for (const source of this.sources) sum += source();
    return sum;
  }
}

/** How values spread over buckets. */
export class Histogram {
  readonly counts: number[];
  sum = 0;
  constructor(readonly bounds: readonly number[]) {
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }
  observe(value: number): void {
    const { bounds } = this;
    let i = 0;
    while (i < bounds.length && value > bounds[i]!) i++;
    this.counts[i]!++;
    this.sum += value;
  }
  /** Observes the time since `begun` (by `performance.now()`), in seconds. */
  since(begun: number): void {
    this.observe((performance.now() - begun) / 1_000);
  }
}

type Type = "counter" | "gauge" | "histogram";

/** A node of the tree that finds a series by its label values without making anything. */
class Level<S> {
  readonly next = new Map<string, Level<S>>();
  series: S | undefined;
}

/** All series of one name. */
export class Family<S> {
  private readonly root = new Level<S>();
  private readonly all: { readonly values: readonly string[]; readonly series: S }[] = [];

  constructor(
    readonly name: string,
    readonly help: string,
    readonly type: Type,
    readonly labels: readonly string[],
    private readonly make: () => S,
  ) {
    if (labels.length === 0) this.of();
  }

  /** The series of these label values, in the order of the labels. */
  of(a = "", b = "", c = "", d = ""): S {
    const { length } = this.labels;
    let level: Level<S> | undefined = this.root;
    if (length > 0) level = level.next.get(a);
    if (length > 1) level = level?.next.get(b);
    if (length > 2) level = level?.next.get(c);
    if (length > 3) level = level?.next.get(d);
    return level?.series ?? this.add([a, b, c, d].slice(0, length));
  }

  /** Every series with its label values. */
  series(): readonly { readonly values: readonly string[]; readonly series: S }[] {
    return this.all;
  }

  private add(wanted: readonly string[]): S {
    const values = this.all.length < MOST_SERIES ? wanted : wanted.map(() => "other");
    let level = this.root;
    for (const value of values) {
      let next = level.next.get(value);
      if (next === undefined) level.next.set(value, next = new Level());
      level = next;
    }
    if (level.series === undefined) this.all.push({ values, series: level.series = this.make() });
    return level.series;
  }
}

/** The families of a process. */
export class Registry {
  private readonly families = new Map<string, Family<Counter> | Family<Gauge> | Family<Histogram>>();

  counter(name: string, help: string, labels: readonly string[] = []): Family<Counter> {
    return this.add(new Family(name, help, "counter", labels, () => new Counter()));
  }

  gauge(name: string, help: string, labels: readonly string[] = []): Family<Gauge> {
    return this.add(new Family(name, help, "gauge", labels, () => new Gauge()));
  }

  histogram(
    name: string,
    help: string,
    labels: readonly string[] = [],
    bounds: readonly number[] = SECONDS,
  ): Family<Histogram> {
    return this.add(new Family(name, help, "histogram", labels, () => new Histogram(bounds)));
  }

  /** Name and type of every family. */
  list(): readonly {
    readonly name: string;
    readonly type: Type;
    readonly help: string;
    readonly labels: readonly string[];
  }[] {
    return [...this.families.values()];
  }

  /** Everything as Prometheus reads it. */
  text(): string {
    const lines: string[] = [];
    for (const family of this.families.values()) {
      const { name, help, type, labels } = family;
      lines.push(`# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}`, `# TYPE ${name} ${type}`);
      for (const { values, series } of family.series()) {
        const pairs = labels.map((label, i) => `${label}="${escape(values[i]!)}"`);
        if (series instanceof Histogram) lines.push(...histogramLines(name, pairs, series));
        else lines.push(`${name}${braces(pairs)} ${number(series instanceof Gauge ? series.read() : series.value)}`);
      }
    }
    return lines.join("\n") + "\n";
  }

  private add<F extends Family<Counter> | Family<Gauge> | Family<Histogram>>(family: F): F {
    const { name, labels, type } = family;
    if (!/^[a-z][a-z0-9_]*$/.test(name)) throw new TypeError(`"${name}" is no name for a metric`);
    if (labels.length > 4 || labels.some((label) => !/^[a-z][a-z0-9_]*$/.test(label) || label === "le")) {
      throw new TypeError(`${name}: up to four labels in lower case`);
    }
    if ((type === "counter") !== name.endsWith("_total")) throw new TypeError(`${name}: counters end in _total`);
    if (this.families.has(name)) throw new TypeError(`there are two metrics "${name}"`);
    this.families.set(name, family);
    return family;
  }
}

function histogramLines(name: string, pairs: readonly string[], { bounds, counts, sum }: Histogram): string[] {
  let below = 0;
  const buckets = counts.map((count, i) => {
    below += count;
    const bound = i < bounds.length ? String(bounds[i]) : "+Inf";
    return `${name}_bucket${braces([...pairs, `le="${bound}"`])} ${below}`;
  });
  return [...buckets, `${name}_sum${braces(pairs)} ${number(sum)}`, `${name}_count${braces(pairs)} ${below}`];
}

function braces(pairs: readonly string[]): string {
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escape(value: string): string {
  return value.slice(0, 200).replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

function number(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  return Number.isFinite(value) ? String(value) : value > 0 ? "+Inf" : "-Inf";
}

/** The numbers of this process. Each room declares its own beside what it measures. */
export const metrics = new Registry();
