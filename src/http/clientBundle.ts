/** Modules for browsers: bundled on the first request, or beforehand where this is a package, then kept in memory. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { elementAt } from "#src/base/present.ts";
import { type Failure, ok, type Result } from "#src/base/result.ts";
import type { Builders } from "#src/threads/builders.ts";
import { BUNDLED, type BundleFile, type BundleInput } from "#src/threads/bundle.ts";
import { etagOf } from "#src/http/etag.ts";
import { memo } from "#src/http/memo.ts";
import type { Page } from "#src/http/pages.ts";

/** Longest time for the bundling, in milliseconds. */
const LONGEST_MS = 90_000;

export type BundleResult = Result<Page, Failure>;

/** The files of a module's bundle: those that a package has, else a thread bundles them from the sources. */
export async function bundledFiles(
  builders: Pick<Builders, "run">,
  input: BundleInput,
): Promise<Result<readonly BundleFile[], Failure>> {
  const packed = new URL(BUNDLED, input.entry);
  if (existsSync(packed)) return ok(JSON.parse(await readFile(packed, "utf8")));
  return await builders.run("bundle", input, { deadline: Date.now() + LONGEST_MS });
}

/** The bundle of a module (its URL) for browsers, as one file. */
export async function bundleFor(builders: Pick<Builders, "run">, entry: string): Promise<BundleResult> {
  const bundled = await bundledFiles(builders, { entry });
  if (!bundled.ok) return bundled;
  const body = elementAt(bundled.value, 0).text;
  return { ok: true, value: { type: "text/javascript; charset=utf-8", body, etag: etagOf(body) } };
}

/** A function that bundles once for all callers. A failure is used for `againMs` milliseconds. */
export const bundledOnce = (bundle: () => Promise<BundleResult>, againMs: number): () => Promise<BundleResult> =>
  memo(({ ok }) => ok ? Infinity : againMs, bundle);
