/** The wallet service's edge by itself: whatever lies behind it must not be asked. */
import { systemClock } from "#src/base/clock.ts";
import { silentLog } from "#src/base/log.ts";
import { walletApp } from "#src/edge/wallets/app.ts";
import type { WalletEdgeOptions } from "#src/edge/wallets/options.ts";

/** Stands for a room: naming its parts does nothing, asking it is a fault of the test. */
export function unasked<T>(name: string): T {
  const target = () => {};
  return new Proxy(target, {
    get: (_, key) => typeof key === "symbol" || key === "then" ? undefined : unasked(`${name}.${key}`),
    apply: () => {
      // a pool beside another connects to nothing before it is asked
      if (name === "store.beside") return unasked("store");
      throw new Error(`${name} was asked`);
    },
  }) as unknown as T;
}

/** An app of which only the frame, the schemas and the document can answer. */
export function edgeAlone(health: WalletEdgeOptions["health"] = () => {}) {
  const rooms = ["store", "ask", "ring", "build", "port", "vault", "builders", "events", "presence", "wake"] as const;
  return walletApp({
    ...Object.fromEntries(rooms.map((room) => [room, unasked(room)])),
    networkId: 0,
    networkMagic: 42,
    toleranceS: 300,
    clock: systemClock,
    clocked: true,
    health,
    log: silentLog,
  } as unknown as WalletEdgeOptions);
}

/** Paths with their methods, as the document has them: `POST /wallets/{walletId}`. */
export async function servedBy(app: ReturnType<typeof edgeAlone>): Promise<ReadonlySet<string>> {
  const document = await (await app.request("/v2/openapi.json")).json() as { paths: Record<string, object> };
  return new Set(
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`)
    ),
  );
}
