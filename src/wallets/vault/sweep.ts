/** Erases keys that no wallet adopted, at intervals. Several processes may do so at the same time. */
import { sleep } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import type { Vault } from "#src/wallets/vault/vault.ts";

/** Sweeps now and then every ten minutes, until it is stopped. */
export function startVaultSweep(
  { vault, log, everyMs = 600_000 }: { vault: Pick<Vault, "sweep">; log: Log; everyMs?: number },
): { stop(): Promise<void> } {
  const ending = new AbortController();
  const run = (async () => {
    while (!ending.signal.aborted) {
      try {
        const erased = await vault.sweep();
        if (erased > 0) log.info("keys without a wallet were erased", { count: erased });
      } catch (error) {
        log.warn("the vault could not be swept", { reason: reason(error) });
      }
      await sleep(everyMs, ending.signal);
    }
  })();
  return {
    async stop() {
      ending.abort();
      await run;
    },
  };
}
