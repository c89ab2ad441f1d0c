/** Parses Prometheus's text format 0.0.4, and throws on everything that the format does not allow. */

export interface Sample {
  readonly name: string;
  readonly labels: { readonly [label: string]: string };
  readonly value: number;
}

export interface Exposed {
  readonly type: string;
  readonly help: string;
  readonly samples: Sample[];
}

/**
 * Families by name. Histograms are checked to be complete: increasing buckets, the last one `+Inf` and equal to the
 * count.
 */
export function exposition(text: string): Map<string, Exposed> {
  if (!text.endsWith("\n")) throw new Error("the last line does not end");
  const families = new Map<string, Exposed>();
  let help: [string, string] | undefined;
  let current: [string, Exposed] | undefined;
  const seen = new Set<string>();
  for (const line of text.slice(0, -1).split("\n")) {
    if (line === "") continue;
    const comment = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(line);
    if (comment?.[1] === "HELP") help = [comment[2]!, comment[3]!];
    else if (comment) {
      const [, , name, type] = comment as unknown as [string, string, string, string];
      if (!/^(counter|gauge|histogram)$/.test(type)) throw new Error(`no type: ${line}`);
      if (help?.[0] !== name) throw new Error(`${name} has no help before its type`);
      if (families.has(name)) throw new Error(`${name} occurs twice`);
      current = [name, { type, help: help[1], samples: [] }];
      families.set(...current);
    } else {
      const sample = sampleOf(line);
      const [name, family] = current ?? ["", undefined];
      const suffix = sample.name.slice(name.length);
      const allowed = family?.type === "histogram" ? ["_bucket", "_sum", "_count"] : [""];
      if (!sample.name.startsWith(name) || !allowed.includes(suffix)) throw new Error(`out of place: ${line}`);
      const key = JSON.stringify([sample.name, Object.entries(sample.labels).sort()]);
      if (seen.has(key)) throw new Error(`twice: ${line}`);
      seen.add(key);
      family!.samples.push(sample);
    }
  }
  for (const [name, family] of families) if (family.type === "histogram") whole(name, family.samples);
  return families;
}

function sampleOf(line: string): Sample {
  const match = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
  if (match === null) throw new Error(`no sample: ${line}`);
  const labels: Record<string, string> = {};
  let rest = match[2] ?? "";
  while (rest !== "") {
    const pair = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\["\\n])*)"(?:,(?=.)|$)/.exec(rest);
    if (pair === null) throw new Error(`no label: ${rest}`);
    if (pair[1]! in labels) throw new Error(`a label twice: ${line}`);
    labels[pair[1]!] = pair[2]!.replace(/\\(["\\n])/g, (_, character) => character === "n" ? "\n" : character);
    rest = rest.slice(pair[0].length);
  }
  const value = match[3] === "+Inf" ? Infinity : Number(match[3]);
  if (Number.isNaN(value) && match[3] !== "NaN") throw new Error(`no number: ${line}`);
  return { name: match[1]!, labels, value };
}

function whole(name: string, samples: readonly Sample[]): void {
  const groups = new Map<string, Sample[]>();
  for (const sample of samples) {
    const { le: _, ...labels } = sample.labels;
    const key = JSON.stringify(Object.entries(labels).sort());
    groups.set(key, [...groups.get(key) ?? [], sample]);
  }
  for (const [key, group] of groups) {
    const buckets = group.filter((one) => one.name === `${name}_bucket`);
    const count = group.find((one) => one.name === `${name}_count`)?.value;
    const bounds = buckets.map(({ labels }) => labels.le === "+Inf" ? Infinity : Number(labels.le));
    const grows = (list: readonly number[], strictly: boolean) =>
      list.every((value, i) => i === 0 || (strictly ? value > list[i - 1]! : value >= list[i - 1]!));
    if (!grows(bounds, true) || bounds.at(-1) !== Infinity) throw new Error(`bounds of ${name} ${key}`);
    if (!grows(buckets.map(({ value }) => value), false) || buckets.at(-1)?.value !== count) {
      throw new Error(`buckets of ${name} ${key}`);
    }
    if (!group.some((one) => one.name === `${name}_sum`)) throw new Error(`${name} ${key} has no sum`);
  }
}
