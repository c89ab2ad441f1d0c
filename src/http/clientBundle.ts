/** The client module for browsers: bundled on the first request, then kept in memory. */
import { elementAt } from "#src/base/present.ts";
import type { Failure, Result } from "#src/base/result.ts";
import type { Builders } from "#src/threads/builders.ts";
import { etagOf } from "#src/http/etag.ts";
import { memo } from "#src/http/memo.ts";
import type { Page } from "#src/http/pages.ts";

/** Longest time for the bundling, in milliseconds. */
const LONGEST_MS = 90_000;

export type BundleResult = Result<Page, Failure>;

/** Has a thread bundle a module (its URL) for browsers. */
export async function bundleFor(builders: Pick<Builders, "run">, entry: string): Promise<BundleResult> {
  const bundled = await builders.run("bundle", { entry }, { deadline: Date.now() + LONGEST_MS });
  if (!bundled.ok) return bundled;
  const body = elementAt(bundled.value, 0).text;
  return { ok: true, value: { type: "text/javascript; charset=utf-8", body, etag: etagOf(body) } };
}

/** A function that bundles once for all callers. A failure is used for `againMs` milliseconds. */
export const bundledOnce = (bundle: () => Promise<BundleResult>, againMs: number): () => Promise<BundleResult> =>
  memo(({ ok }) => ok ? Infinity : againMs, bundle);
