/** The Grafana dashboard and the product's metrics name the same series. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { metrics } from "#src/base/metrics.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** Families for manual inspection, not for the dashboard. */
const UNUSED: readonly string[] = [];
/** Labels that Prometheus adds. */
const ADDED = ["instance", "job"];

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource?: { readonly uid: string };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string; readonly refId: string }[];
}
const dashboard = JSON.parse(readFileSync(path.join(root, "src/app/grafana/arbor.json"), "utf8")) as {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: unknown }[] };
};
const targets = dashboard.panels.flatMap(({ title, targets }) =>
  (targets ?? []).map((target) => ({ title, ...target }))
);

function* sources(folder: string): Generator<string> {
  for (const entry of readdirSync(path.join(root, folder), { withFileTypes: true })) {
    const file = `${folder}/${entry.name}`;
    if (entry.isDirectory()) yield* sources(file);
    else if (file.endsWith(".ts")) yield file;
  }
}

/** The product's series in an expression. */
function seriesIn(expression: string): string[] {
  return expression.match(/\b(?:arbor|process)_[a-z0-9_]+/g) ?? [];
}

/** Selectors in an expression: a series and the content of its braces. */
function selectorsIn(expression: string): { series: string; matchers: string }[] {
  return [...expression.matchAll(/\b((?:arbor|process)_[a-z0-9_]+)\{([^}]*)\}/g)].map((match) => ({
    series: match[1]!,
    matchers: match[2]!,
  }));
}

/** The declared metrics in prom-client's registry. */
function declared() {
  return metrics.registry.getMetricsAsArray() as unknown as { name: string; type: string; labelNames: string[] }[];
}

function familyOf(series: string) {
  const all = declared();
  return all.find(({ name, type }) => name === series && type !== "histogram") ??
    all.find(({ name, type }) =>
      type === "histogram" && series.replace(/_(bucket|sum|count)$/, "") === name && series !== name
    );
}

describe("the dashboard", () => {
  beforeAll(async () => {
    // Every file that declares metrics, so that the registry has all of them.
    const declares = [...sources("src")].filter((file) =>
      /\bmetrics\.(counter|gauge|histogram)\(/.test(
        readFileSync(path.join(root, file), "utf8").replace(/^ \*.*$/gm, ""),
      )
    );
    expect(declares).toContain("src/runtime/metrics.ts");
    for (const file of declares) await import(pathToFileURL(path.join(root, file)).href);
  });

  it("queries only existing series, by labels that they have", () => {
    expect(targets.length).toBeGreaterThan(50);
    for (const { title, expr, legendFormat } of targets) {
      const names = seriesIn(expr);
      expect(names.length, `${title}: ${expr}`).toBeGreaterThan(0);
      const families = names.map((name) => {
        const family = familyOf(name);
        expect(family, `${title}: ${name}`).toBeDefined();
        return family!;
      });
      const labels = new Set([...families.flatMap((family) => family.labelNames), ...ADDED]);
      const buckets = names.some((name) => name.endsWith("_bucket"));
      for (const [, list] of expr.matchAll(/\bby \(([^)]*)\)/g)) {
        for (const label of list!.split(",").map((one) => one.trim())) {
          if (!(label === "le" && buckets)) expect([...labels], `${title}: by ${label}`).toContain(label);
        }
      }
      for (const { series, matchers } of selectorsIn(expr)) {
        for (const [, label] of matchers.matchAll(/([a-z_]+)\s*(?:=~|!~|!=|=)/g)) {
          expect([...familyOf(series)!.labelNames, ...ADDED], `${title}: ${series}{${label}}`).toContain(label);
        }
      }
      const kept = new Set([...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list]) => list!.split(/,\s*/)));
      for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) {
        expect([...kept], `${title}: the legend's ${label}`).toContain(label);
      }
    }
  });

  it("uses each series according to its type", () => {
    for (const { title, expr } of targets) {
      for (const name of seriesIn(expr)) {
        const { type } = familyOf(name)!;
        const rated = new RegExp(`\\b(rate|increase)\\(${name}\\b`).test(expr);
        expect(rated, `${title}: ${name}`).toBe(type !== "gauge");
        if (name.endsWith("_bucket")) expect(expr).toMatch(/histogram_quantile\(0\.\d+, sum by \(le/);
      }
      expect(expr.split("(").length).toBe(expr.split(")").length);
    }
  });

  it("omits no metric family", () => {
    const used = new Set(targets.flatMap(({ expr }) => seriesIn(expr).map((name) => familyOf(name)?.name)));
    const all = declared().map(({ name }) => name);
    expect(all.filter((name) => !used.has(name))).toEqual(UNUSED);
  });

  it("would notice a wrong name, label or type", () => {
    expect(familyOf("arbor_no_such_total")).toBeUndefined();
    expect(familyOf("arbor_command_seconds")).toBeUndefined();
    expect(familyOf("arbor_command_seconds_bucket")?.labelNames).toEqual(["kind", "command"]);
    expect(seriesIn('sum(rate(arbor_a_total{x=~"1"}[5m])) / arbor_b')).toEqual(["arbor_a_total", "arbor_b"]);
  });

  it("has panels that do not overlap, and takes its data source from a variable", () => {
    const panels = dashboard.panels;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
    const cells = new Set<string>();
    for (const { title, type, gridPos: { x, y, w, h }, datasource } of panels) {
      expect(x + w).toBeLessThanOrEqual(24);
      if (type !== "row") expect(datasource?.uid).toBe("${datasource}");
      for (let i = x; i < x + w; i++) {
        for (let j = y; j < y + h; j++) {
          expect(cells.has(`${i},${j}`), `${title} covers another panel`).toBe(false);
          cells.add(`${i},${j}`);
        }
      }
    }
    const [, instance] = dashboard.templating.list;
    expect(seriesIn(JSON.stringify(instance!.query)).map((name) => familyOf(name)?.name)).toEqual([
      "process_start_time_seconds",
    ]);
  });
});
