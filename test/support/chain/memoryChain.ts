/**
 * A chain in memory behind the port, for the follower's tests: real blocks in CBOR, and an adapter that may lag, answer
 * from a point ahead of the follower, roll back and drop the connection.
 */
import { setTimeout as wait } from "node:timers/promises";
import { ok } from "#src/base/result.ts";
import { created, origin, type Point, type ScannedBlock, spent, type Tip } from "#src/cardano/block.ts";
import { refKey, type Utxo } from "#src/cardano/output.ts";
import { scanBlock, scanTransaction } from "#src/cardano/scan.ts";
import { MempoolReader } from "#src/chain/provider/mempool.ts";
import { withoutLedger } from "#src/chain/provider/ledgerPort.ts";
import type { RawChainPort, RawStep } from "#src/chain/provider/port.ts";
import { encodeBlock } from "#src/devnet/blocks/block.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";

interface Kept {
  readonly bytes: Uint8Array;
  readonly scanned: ScannedBlock;
}

/** A chain whose blocks and rollbacks are made by the test. */
export class MemoryChain {
  readonly blocks: Kept[] = [];
  /** Transactions that no block holds, by hash, in CBOR. */
  readonly mempool = new Map<string, Uint8Array>();
  private slot = 0;

  /** Adds a block of transactions (complete, in CBOR); returns it scanned. */
  add(...transactions: readonly Uint8Array[]): ScannedBlock {
    const previous = this.blocks.at(-1)?.scanned;
    this.slot += 1;
    const { bytes } = encodeBlock({
      height: (previous?.height ?? 0) + 1,
      slot: this.slot,
      fork: 0,
      previous: previous?.hash,
      issuer: new Uint8Array(32),
      protocolVersion: { major: 10, minor: 0 },
      transactions: transactions.map(scanTransaction),
    });
    const scanned = scanBlock(bytes);
    this.blocks.push({ bytes, scanned });
    return scanned;
  }

  /**
   * Rolls back the last `count` blocks. The next slot follows the removed blocks, or the last remaining block: then the
   * new branch uses the same slots.
   */
  rollback(count: number, slots: "go on" | "again" = "go on"): void {
    this.blocks.splice(this.blocks.length - count, count);
    if (slots === "again") this.slot = Math.max(this.tip.slot, 0);
  }

  get tip(): Tip {
    return this.blocks.at(-1)?.scanned ?? { ...origin, height: 0 };
  }

  /** Unspent outputs after the blocks up to a height. */
  utxos(height = this.tip.height): Map<string, Utxo> {
    const live = new Map<string, Utxo>();
    for (const { scanned } of this.blocks.slice(0, height)) {
      for (const transaction of scanned.transactions) {
        for (const ref of spent(transaction)) live.delete(refKey(ref));
        for (const utxo of created(transaction)) live.set(refKey(utxo.ref), utxo);
      }
    }
    return live;
  }
}

/** Faults of an adapter; `random` returns numbers below 1. */
export interface ChainFaults {
  readonly random: () => number;
  /** Probability that the stream breaks at a step. */
  readonly drop?: number;
  /** Longest delay of a step, in ms. */
  readonly lagMs?: number;
  /** Longest delay of an answer about outputs, in ms; the follower continues in the meantime. */
  readonly answerMs?: number;
}

/** The port of the chain. Answers about outputs are those of its tip, which the follower may not have reached. */
export function memoryPort(chain: MemoryChain, moods: ChainFaults): RawChainPort {
  const contains = (point: Point) =>
    point.slot < 0 || chain.blocks.some(({ scanned }) => scanned.slot === point.slot && scanned.hash === point.hash);
  const pointOf = ({ slot, hash }: Point): Point => ({ slot, hash });
  return {
    ...withoutLedger("A chain in memory"),
    guarantees: [],
    network: () =>
      Promise.resolve({
        magic: 42,
        id: 0,
        slots: { zeroTime: 0, zeroSlot: 0, slotLength: 1000 },
        securityParameter: 2160,
      }),
    async *follow(points, signal): AsyncIterable<RawStep> {
      let at: Point = points.find(contains) ?? origin;
      /** The follower's blocks, oldest first: a new branch may use the slots of these blocks again. */
      const way = [...points].reverse().filter(({ slot }) => slot <= at.slot);
      yield { type: "backward", point: at, tip: chain.tip };
      while (!signal.aborted) {
        if (moods.lagMs) await wait(moods.random() * moods.lagMs);
        if (moods.drop && moods.random() < moods.drop) throw new Error("the connection is lost");
        if (!contains(at)) {
          // back to the newest common block
          while (way.length > 0 && !contains(way.at(-1)!)) way.pop();
          const before = chain.blocks.findLast(({ scanned }) => scanned.slot < at.slot)?.scanned;
          at = way.at(-1) ?? (before ? pointOf(before) : origin);
          yield { type: "backward", point: at, tip: chain.tip };
          continue;
        }
        const next = chain.blocks.find(({ scanned }) => scanned.slot > at.slot);
        if (!next) {
          await wait(2);
          continue;
        }
        at = pointOf(next.scanned);
        way.push(at);
        yield { type: "forward", block: next.bytes, tip: chain.tip };
      }
    },
    tip: () => Promise.resolve(ok(chain.tip)),
    submit: () => Promise.resolve(ok({ outcome: "accepted" } as const)),
    inMempool: (hash) => Promise.resolve(ok(chain.mempool.has(hash))),
    mempool: async (known) => {
      const reader = new MempoolReader(known);
      for (const [hash, cbor] of chain.mempool) if (reader.add(hash)) await reader.read(hash, cbor);
      return ok(reader.result());
    },
    async utxosByAddress(addresses) {
      const point = pointOf(chain.tip);
      const value = [...chain.utxos().values()].filter(({ output }) => addresses.includes(output.address));
      if (moods.answerMs) await wait(moods.random() * moods.answerMs);
      return ok({ point, value });
    },
    utxosByRef: (refs) => {
      const live = chain.utxos();
      const value = refs.map((ref) => live.get(refKey(ref))).filter((utxo) => utxo !== undefined);
      return Promise.resolve(ok({ point: pointOf(chain.tip), value }));
    },
    parameters: () => Promise.resolve(ok({ point: pointOf(chain.tip), value: mainnetParameters })),
  };
}
