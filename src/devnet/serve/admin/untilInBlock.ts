/** Waits for the block of a submitted transaction. */
import { sleep } from "#src/base/clock.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";

/** Waits until a transaction has left the mempool, for at most so many milliseconds. */
export async function untilInBlock(port: Pick<ChainPort, "inMempool">, txHash: string, ms: number): Promise<void> {
  for (const until = Date.now() + ms; Date.now() < until;) {
    const waiting = await port.inMempool(txHash);
    if (waiting.ok && !waiting.value) return;
    await sleep(100);
  }
}
