/**
 * Liveness and readiness: `GET /health` and `GET /ready`, the same on every port.
 *
 * A process that answers is alive. It is ready when everything that its roles depend on is; a follower on standby is
 * ready, and says so.
 */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import { inTime } from "#src/base/clock.ts";
import type { Json } from "#src/base/json.ts";
import { reason } from "#src/base/log.ts";
import { VERSION } from "#src/base/version.ts";
import { retryAfter } from "#src/http/errors.ts";
import { respond } from "#src/http/json.ts";
import { endpoint } from "#src/http/route.ts";
import { securityContact } from "#src/http/securityContact.ts";

/** The result of a check: why it failed, or a note. */
export type Check = { readonly ready: true; readonly says?: Json } | { readonly ready: false; readonly why: string };

/** A process and its checks. */
export interface Health {
  readonly roles: readonly string[];
  /** Name of the process among workers, followers and devnets. */
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly since: number;
  /** The network's provider, what it guarantees of each answer, and its protocol version; part of the answer of `/health`. */
  readonly network?: () => Json;
  /** Where reports of vulnerabilities go, for `/.well-known/security.txt`; without it there is no such file. */
  readonly securityContact?: string | undefined;
  /** Checks by name; each has a second. */
  readonly checks: ReadonlyMap<string, () => Promise<Check>>;
}

/** Options of both endpoints. */
export interface HealthOptions {
  readonly health: Health;
  /** Further members of the answer of `/health`. */
  readonly more?: () => Readonly<Record<string, Json>>;
}

const CHECK_MS = 1_000;
/** How long results are used, in milliseconds. */
const FRESH_MS = 200;

const alive = z.looseObject({
  status: z.literal("alive"),
  version: z.string().describe("The release, a date (YYYY.MM.DD)."),
  name: z.string(),
  roles: z.array(z.string()),
  uptimeSeconds: z.int(),
  network: z.looseObject({
    provider: z.string(),
    answers: z.array(z.unknown()).describe("Source of each kind of network data."),
    protocolVersion: z.object({
      network: z.object({ major: z.int(), minor: z.int() }).nullable().describe(
        "Last protocol version reported by the network; null if none was reported yet.",
      ),
      newestKnown: z.int().describe("Newest major protocol version that this release supports."),
      unknown: z.boolean().describe(
        "Whether the network's version is newer than supported; builds with scripts then have the warning `protocol_version_unknown`.",
      ),
    }),
  }).optional().describe("The network provider."),
}).meta({ id: "Health" });

const ready = z.object({
  ready: z.boolean(),
  roles: z.array(z.string()),
  /** Why not, a sentence each. */
  reasons: z.array(z.string()),
  checks: z.record(z.string(), z.object({ ready: z.boolean(), why: z.string().optional(), says: z.unknown() })),
}).meta({ id: "Readiness" });

/** Runs all checks, once for all requests of the same moment. */
function looker(health: Health): () => Promise<z.infer<typeof ready>> {
  const one = async (check: () => Promise<Check>): Promise<Check> => {
    try {
      return await inTime(check(), CHECK_MS) ?? { ready: false, why: "the check timed out" };
    } catch (error) {
      return { ready: false, why: reason(error) };
    }
  };
  const look = async () => {
    const found = await Promise.all([...health.checks].map(async ([name, check]) => [name, await one(check)] as const));
    const reasons = found.flatMap(([name, result]) => result.ready ? [] : [`${name}: ${result.why}`]);
    const checks = Object.fromEntries(found.map(([name, result]) => [name, { says: undefined, ...result }]));
    return { ready: reasons.length === 0, roles: [...health.roles], reasons, checks };
  };
  let last: { at: number; found: ReturnType<typeof look> } | undefined;
  return () => {
    const now = performance.now();
    if (last === undefined || now - last.at > FRESH_MS) last = { at: now, found: look() };
    return last.found;
  };
}

/** The checks that fail now, by name, with the reasons. */
export function failingChecks(health: Health): () => Promise<{ readonly name: string; readonly why: string }[]> {
  const look = looker(health);
  return async () =>
    Object.entries((await look()).checks).flatMap(([name, { ready, why = "" }]) => ready ? [] : [{ name, why }]);
}

/** Adds both endpoints to an app, and the file with the contact for vulnerabilities. */
export function healthRoutes({ health, more = () => ({}) }: HealthOptions): (app: OpenAPIHono) => void {
  const look = looker(health);
  return (app) => {
    if (health.securityContact !== undefined) securityContact(app, health.securityContact);
    endpoint(app, "get", "/health", {
      summary: "Liveness of this process",
      answer: alive,
    }, async () => ({
      status: "alive",
      version: VERSION,
      name: health.name,
      roles: health.roles,
      uptimeSeconds: Math.round((Date.now() - health.since) / 1_000),
      ...(health.network === undefined ? {} : { network: health.network() }),
      ...more(),
    }));
    endpoint(app, "get", "/ready", {
      summary: "Readiness of this process, with the reasons; 503 if it is not ready",
      answer: ready,
      refusals: { 503: { description: "The process is not ready; the body has the reasons.", schema: ready } },
    }, async ({ context }) => {
      const found = await look();
      if (!found.ready) context.header("retry-after", retryAfter());
      return respond(context, found.ready ? 200 : 503, found);
    });
  };
}
