/** The wallet service's edge without its dependencies: a call to a dependency fails the test. */
import { PAGES } from "#src/app/pages.ts";
import { systemClock } from "#src/base/clock.ts";
import { silentLog } from "#src/base/log.ts";
import { NtpClock } from "#src/base/ntpClock.ts";
import { walletApp } from "#src/wallets/http/app.ts";
import type { WalletEdgeOptions } from "#src/wallets/http/options.ts";

/** A replacement for a dependency: its parts can be named, but a call of one is an error of the test. */
export function notCalled<T>(name: string): T {
  const target = () => {};
  return new Proxy(target, {
    get: (_, key) => typeof key === "symbol" || key === "then" ? undefined : notCalled(`${name}.${key}`),
    apply: () => {
      // a second pool connects only on its first query
      if (name === "store.beside") return notCalled("store");
      throw new Error(`${name} was called`);
    },
  }) as unknown as T;
}

/** An app in which only the frame, the schemas and the document can answer. */
export function edgeAlone(
  health: WalletEdgeOptions["health"] = () => {},
  ntp: WalletEdgeOptions["ntp"] = new NtpClock({ servers: [], log: silentLog }),
) {
  const dependencies = [
    "store",
    "ask",
    "ring",
    "build",
    "port",
    "vault",
    "builders",
    "events",
    "presence",
    "wake",
  ] as const;
  return walletApp({
    ...Object.fromEntries(dependencies.map((name) => [name, notCalled(name)])),
    networkId: 0,
    networkMagic: 42,
    toleranceS: 300,
    clock: systemClock,
    clocked: true,
    ntp,
    pages: PAGES,
    health,
    log: silentLog,
  } as unknown as WalletEdgeOptions);
}

/** Paths with their methods, in the document's form: `POST /wallets/{walletId}`. */
export async function servedBy(app: ReturnType<typeof edgeAlone>): Promise<ReadonlySet<string>> {
  const document = await (await app.request("/v2/openapi.json")).json() as { paths: Record<string, object> };
  return new Set(
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`)
    ),
  );
}
