/** The port at which a process of any role answers health checks, and gives its metrics. */
import { healthRoutes } from "#src/http/health.ts";
import { watchedApp } from "#src/http/service.ts";
import { indexLookups } from "#src/operators/http/lookups.ts";
import { metricsRoutes } from "#src/operators/http/metrics.ts";
import { type AppContext, listen, urlOf } from "#src/app/context.ts";
import { healthPort } from "#src/app/ports.ts";
import { tokenLogReads } from "#src/app/tokenLog.ts";

/** Listens on the health port, where the options name one. */
export async function startHealthPort(context: AppContext): Promise<void> {
  const { options, store, health, log } = context;
  const use = healthPort(options);
  if (use === undefined) return;
  const app = watchedApp(log, [...options.hosts, options.host]);
  healthRoutes({ health })(app);
  metricsRoutes({ store, log, index: indexLookups(store), tokenLog: tokenLogReads(context) })(app);
  context.listening.push({ name: "health", at: urlOf(await listen(context, app, use)) });
}
