/** The check of a provider. */
import type { ChainPort } from "#src/chain/provider/port.ts";
import type { Check } from "#src/edge/health.ts";

/** Ready when the provider gives its tip. */
export async function tipCheck(port: Pick<ChainPort, "tip">): Promise<Check> {
  const tip = await port.tip();
  return tip.ok ? { ready: true, says: `at height ${tip.value.height}` } : { ready: false, why: tip.error.message };
}
