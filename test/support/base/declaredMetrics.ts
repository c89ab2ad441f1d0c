/** The metrics that the product declares, and their names in expressions of Prometheus. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect } from "vitest";
import { metrics } from "#src/base/metrics.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
/** Labels that Prometheus adds. */
export const ADDED: readonly string[] = ["instance", "job"];

function* sources(folder: string): Generator<string> {
  for (const entry of readdirSync(path.join(root, folder), { withFileTypes: true })) {
    const file = `${folder}/${entry.name}`;
    if (entry.isDirectory()) yield* sources(file);
    else if (file.endsWith(".ts")) yield file;
  }
}

/** The product's series in an expression. */
export function seriesIn(expression: string): string[] {
  return expression.match(/\b(?:arbor|process)_[a-z0-9_]+/g) ?? [];
}

/** Selectors in an expression: a series and the content of its braces. */
export function selectorsIn(expression: string): { series: string; matchers: string }[] {
  return [...expression.matchAll(/\b((?:arbor|process)_[a-z0-9_]+)\{([^}]*)\}/g)].map((match) => ({
    series: match[1]!,
    matchers: match[2]!,
  }));
}

/** The declared metrics in prom-client's registry. */
export function declared() {
  return metrics.registry.getMetricsAsArray() as unknown as { name: string; type: string; labelNames: string[] }[];
}

/** The metric that a series belongs to. */
export function familyOf(series: string) {
  const all = declared();
  return all.find(({ name, type }) => name === series && type !== "histogram") ??
    all.find(({ name, type }) =>
      type === "histogram" && series.replace(/_(bucket|sum|count)$/, "") === name && series !== name
    );
}

/** Loads every file that declares metrics, so that the registry has all of them. */
export async function loadMetrics(): Promise<void> {
  const declares = [...sources("src")].filter((file) =>
    /\bmetrics\.(counter|gauge|histogram)\(/.test(readFileSync(path.join(root, file), "utf8").replace(/^ \*.*$/gm, ""))
  );
  expect(declares).toContain("src/runtime/metrics.ts");
  for (const file of declares) await import(pathToFileURL(path.join(root, file)).href);
}
