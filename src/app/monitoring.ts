/**
 * Monitoring as cardano-wallet has it: a port with Prometheus's text, and one with EKG's JSON, each switched on by an
 * environment variable with its port. Both are off by default.
 */
import { present } from "#src/base/present.ts";
import type { OpenAPIHono } from "@hono/zod-openapi";
import { metrics } from "#src/base/metrics.ts";
import { indexLookups } from "#src/operators/http/lookups.ts";
import { metricsRoutes } from "#src/operators/http/metrics.ts";
import { watchedApp } from "#src/http/service.ts";
import { type AppContext, listen, urlOf } from "#src/app/context.ts";
import { tokenLogReads } from "#src/app/tokenLog.ts";
import { MONITORING_SERVICES } from "#src/app/monitoringOptions.ts";

/** Starts what the environment switches on. A port that is none is said in a warning, and disables its service. */
export async function startMonitoring(context: AppContext): Promise<void> {
  const { options, store, log, listening } = context;
  for (const { name, variable, title, path } of MONITORING_SERVICES) {
    const place = options.monitoring[name];
    if (!place) continue;
    const port = Number(place.port);
    if (!/^\d+$/.test(place.port) || port > 65_535 || (port < 1_024 && port !== 0)) {
      log.warn(`the port for ${title} metrics is invalid; they are disabled`, { variable: `${variable}_PORT` });
      continue;
    }
    const app = watchedApp(log, [...options.hosts, place.host]);
    if (name === "prometheus") {
      metricsRoutes({ store, log, index: indexLookups(store), tokenLog: tokenLogReads(context) })(app);
    } else ekgRoutes(app);
    const use = { service: `${title} metrics`, host: place.host, port, option: `${variable}_PORT` };
    listening.push({ name: title, at: urlOf(await listen(context, app, use)) + path });
  }
}

/** A metric of EKG: a counter, a gauge, or the distribution of what a histogram observed. */
type Sample =
  | { readonly type: "c" | "g"; readonly val: number | null }
  | { readonly type: "d"; readonly count: number; readonly sum: number; readonly mean: number | null };

/** The tree of EKG: names with dots become objects within objects. */
export interface EkgTree {
  [name: string]: EkgTree | Sample;
}

/** JSON has no NaN and no infinity; they are null. */
const finite = (value: number) => Number.isFinite(value) ? value : null;

/**
 * All metrics as EKG's JSON: `{ekg: {server_timestamp_ms}, arbor: {turns_total: {type: "c", val}}}`. The part of a name before its
 * first underscore and the values of its labels are levels of the tree.
 */
export async function ekgTree(registry = metrics.registry, now = Date.now()): Promise<EkgTree> {
  const tree: EkgTree = { ekg: { server_timestamp_ms: { type: "c", val: now } } };
  const put = (path: readonly string[], sample: Sample) => {
    let at: EkgTree = tree;
    for (const part of path.slice(0, -1)) at = (at[part] ??= {}) as EkgTree;
    at[present(path.at(-1), "the name of a sample")] = sample;
  };
  for (const metric of await registry.getMetricsAsJSON()) {
    const [family = "", ...rest] = metric.name.split("_");
    const base = [family, rest.join("_")];
    const type = String(metric.type);
    if (type !== "histogram") {
      for (const { labels, value } of metric.values) {
        put([...base, ...levels(labels)], { type: type === "counter" ? "c" : "g", val: finite(value) });
      }
      continue;
    }
    const sums = new Map<string, { path: string[]; count: number; sum: number }>();
    for (const { labels, value, ...named } of metric.values) {
      const name = "metricName" in named ? named.metricName : undefined;
      const path = [...base, ...levels(labels)];
      const entry = sums.get(path.join("\0")) ?? { path, count: 0, sum: 0 };
      if (name === `${metric.name}_sum`) sums.set(path.join("\0"), { ...entry, sum: value });
      if (name === `${metric.name}_count`) sums.set(path.join("\0"), { ...entry, count: value });
    }
    for (const { path, count, sum } of sums.values()) {
      put(path, { type: "d", count, sum, mean: count === 0 ? null : sum / count });
    }
  }
  return tree;
}

/** The values of labels, without the bound of a bucket. */
function levels(labels: Readonly<Partial<Record<string, string | number>>>): string[] {
  return Object.entries(labels).filter(([name]) => name !== "le").map(([, value]) => String(value) || "none");
}

/** `GET /` gives the whole tree, `GET /a/b` the part of it below these names, or 404. */
function ekgRoutes(app: OpenAPIHono): void {
  app.get("/*", async (context) => {
    const names = context.req.path.split("/").filter(Boolean);
    let at: EkgTree | Sample | undefined = await ekgTree();
    for (const name of names) at = at && !isSample(at) && Object.hasOwn(at, name) ? at[name] : undefined;
    return at === undefined
      ? context.json({ code: "not_found", message: "There is no metric of this name." }, 404)
      : context.json(at);
  });
}

function isSample(node: EkgTree | Sample): node is Sample {
  return typeof node.type === "string";
}
