/** The alert rules name series that exist, each alert is tested both ways, and the page of service levels explains it. */
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { ADDED, familyOf, loadMetrics, selectorsIn, seriesIn } from "../../support/base/declaredMetrics.ts";

const folder = new URL("../../../examples/deploy/prometheus/", import.meta.url);
const read = (file: string) => readFileSync(new URL(file, folder), "utf8");
const rules = read("arbor.rules.yaml");
const ALERT =
  /- alert: (\w+)\n +expr: (["'])(.*)\2\n(?: +for: \w+\n)? +labels: \{ severity: (\w+) \}\n +annotations:\n +summary: "(.+)"\n/g;
const alertsOf = (text: string) =>
  [...text.matchAll(ALERT)].map(([, name, , expr, severity, summary]) => ({
    name: name!,
    expr: expr!,
    severity: severity!,
    summary: summary!,
  }));
const alerts = alertsOf(rules);
const all = [...alerts, ...alertsOf(read("machine.rules.yaml"))];
const expressions = [...rules.matchAll(/expr: (["'])(.*)\1$/gm)].map(([, , expr]) => expr!);

describe("alert rules", () => {
  beforeAll(loadMetrics);

  it("are read whole here", () => {
    expect(alerts.length).toBe(rules.match(/alert:/g)!.length);
    expect(alerts.length).toBeGreaterThan(25);
    expect(expressions.length).toBe(rules.match(/expr:/g)!.length);
  });

  it("query existing series by labels that they have", () => {
    const recorded = new Set([...rules.matchAll(/record: (\S+)/g)].map(([, name]) => name!));
    for (const expr of expressions) {
      const series = seriesIn(expr.replace(/arbor:\w+:\w+/g, (name) => recorded.has(name) ? "" : name));
      for (const name of series) expect(familyOf(name), `${name} in ${expr}`).toBeDefined();
      for (const { series, matchers } of selectorsIn(expr)) {
        for (const [, label] of matchers.matchAll(/([a-z_]+)\s*(?:=~|!~|!=|=)/g)) {
          expect([...familyOf(series)!.labelNames, "le", ...ADDED], expr).toContain(label);
        }
      }
      for (const name of seriesIn(expr)) {
        const gauge = familyOf(name)?.type === "gauge";
        expect(gauge && new RegExp(`\\b(rate|increase)\\(${name}\\b`).test(expr), expr).toBe(false);
      }
    }
  });

  it("name values of labels that the source has", () => {
    const source = [
      "src/runtime/placement/namedLease.ts",
      "src/runtime/placement/placement.ts",
      "src/runtime/effects/effects.ts",
    ]
      .concat(
        "machines/token.ts",
        "machines/transaction.ts",
        "src/app/followerRole.ts",
        "src/runtime/turns/mailboxes.ts",
      )
      .map((file) => readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8")).join("");
    const values = expressions.flatMap((expr) =>
      selectorsIn(expr).flatMap(({ matchers }) =>
        [...matchers.matchAll(/\b(lease|move|outcome|effect|event)=~?"([^"]+)"/g)].flatMap(([, , value]) =>
          value!.split("|")
        )
      )
    );
    expect(values.length).toBeGreaterThan(5);
    expect(values.filter((value) => !source.includes(`"${value}"`))).toEqual([]);
  });

  it("each fire once and are silent once in the tests for promtool", () => {
    const names = [...read("tests.yaml").matchAll(/- name: (\w+ (?:fires|is silent))$/gm)].map(([, name]) => name!);
    expect(names.sort()).toEqual(all.flatMap(({ name }) => [`${name} fires`, `${name} is silent`]).sort());
  });

  it("are explained, with their severity", () => {
    const page = readFileSync(new URL("../../../docs/slo.md", import.meta.url), "utf8");
    const rows = [...page.matchAll(/^\| `(\w+)` +\| (page|ticket) +\| \S/gm)].map(([, name, severity]) =>
      `${name} ${severity}`
    );
    expect(rows.sort()).toEqual(all.map(({ name, severity }) => `${name} ${severity}`).sort());
  });
});
