/** The Grafana dashboard and the product's metrics name the same series. */
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { ADDED, declared, familyOf, loadMetrics, selectorsIn, seriesIn } from "../../support/base/declaredMetrics.ts";

/** Families for manual inspection, not for the dashboard. */
const UNUSED: readonly string[] = [];

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource?: { readonly uid: string };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string; readonly refId: string }[];
}
const dashboard = JSON.parse(readFileSync(new URL("../../../src/app/grafana/arbor.json", import.meta.url), "utf8")) as {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: unknown }[] };
};
const targets = dashboard.panels.flatMap(({ title, targets }) =>
  (targets ?? []).map((target) => ({ title, ...target }))
);

describe("the dashboard", () => {
  beforeAll(loadMetrics);

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
