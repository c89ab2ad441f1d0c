/** The index of the current contract's tokens over a chain in memory. */
import type { Row } from "#src/chain/index/projection.ts";
import { MemoryChain } from "../chain/memoryChain.ts";
import { MemoryIndex } from "./memoryIndex.ts";
import { policy } from "../contract/wholeTransaction.ts";

export class CageIndex {
  private readonly chain = new MemoryChain();
  private last = 0;
  private readonly index = new MemoryIndex({ scripts: [policy], network: 0 });

  /** Rolls back the last blocks. */
  undo(blocks: number): void {
    this.chain.rollback(blocks);
    this.index.rollback(this.chain.tip);
  }

  /** Slot of the next block: slots increase, also after a rollback. */
  get next(): number {
    return this.last + 1;
  }

  live(table: string): readonly Row[] {
    return this.index.live(table);
  }

  /** Follows a block of transactions; returns the index's events. */
  follow(...transactions: readonly Uint8Array[]): string[] {
    const block = this.chain.add(...transactions);
    this.last = block.slot;
    return this.index.follow(block).map(({ event }) => event.type);
  }
}
