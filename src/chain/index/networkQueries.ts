/**
 * What is in no block and therefore asked of the network, again and again: rewards of accounts.
 *
 * The network answers at a point of its choice. An answer a few blocks behind the follower is brought forward by them, one from farther behind is
 * asked for again, one ahead waits until the follower stands at its point. What is wanted follows from rows, which a rollback undoes
 * with all others: so whatever is lost is wanted again.
 */
import { sleep } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import type { Result } from "#src/base/result.ts";
import type { ScannedBlock, Tip } from "#src/cardano/block.ts";
import type { Touched } from "#src/cardano/projection.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import type { At, ChainPort, Unanswered } from "#src/chain/provider/port.ts";
import { placeAnswer } from "#src/chain/index/watchedAddresses.ts";
import type { Queries, Store } from "#src/store/store.ts";

/** Something that is asked of the network. */
export interface Inquiry {
  readonly name: string;
  /**
   * What is to be asked while the main cursor stands at `at`; undefined: nothing. `ask` asks it; `write` writes what was answered, within a
   * transaction in which the main cursor stands at the last of `blocks` (the answer's point where there are none), and gives what that means to
   * entities. What it writes is at the slots of the point and of the blocks.
   */
  wanted(sql: Queries, at: Tip): Promise<Asked | undefined>;
}

export interface Asked {
  ask(port: ChainPort): Promise<Result<At<unknown>, Unanswered>>;
  write(sql: Queries, answer: At<unknown>, blocks: readonly ScannedBlock[]): Promise<readonly Touched[]>;
}

/** An inquiry whose parts agree on what is answered. */
export function inquiry<T>(
  name: string,
  wanted: (sql: Queries, at: Tip) => Promise<
    {
      ask(port: ChainPort): Promise<Result<At<T>, Unanswered>>;
      write(sql: Queries, answer: At<T>, blocks: readonly ScannedBlock[]): Promise<readonly Touched[]>;
    } | undefined
  >,
): Inquiry {
  return {
    name,
    wanted: async (sql, at) => {
      const asked = await wanted(sql, at);
      return asked && {
        ask: (port) => asked.ask(port),
        write: (sql, answer, blocks) => asked.write(sql, answer as At<T>, blocks),
      };
    },
  };
}

export interface InquirerOptions {
  readonly store: Store;
  readonly port: ChainPort;
  readonly inquiries: readonly Inquiry[];
  readonly log: Log;
  /** Blocks from the tip beyond which nothing is asked: what is answered there is of no use yet. */
  readonly near: number;
  /** The last blocks that the main cursor has read. */
  readonly recent: () => readonly ScannedBlock[];
  /** Runs while the main cursor applies no step. */
  readonly serially: <T>(work: () => Promise<T>) => Promise<T>;
  /** A transaction under the follower's lease, in which the main cursor stands at `at`. */
  readonly fenced: (work: (sql: Queries) => Promise<void>, at: Tip) => Promise<void>;
  readonly append: (sql: Queries, touched: readonly Touched[]) => Promise<void>;
  readonly ring: (touched: readonly Touched[]) => void;
}

/** Milliseconds after which it is looked again, without a doorbell. */
const LOOK_MS = 1_000;
/** Milliseconds between two questions, and before one is put again whose answer could not be placed. */
const AGAIN_MS = 25;
/** Milliseconds between two looks at the least. */
const PAUSE_MS = 100;
/** Milliseconds before a network is asked again that has no such answer. */
const UNSUPPORTED_MS = 60_000;
/** Milliseconds that an answer from ahead waits at the most before it is asked for again. */
const WAIT_MS = 30_000;

/** Asks the network what is wanted, and has the answers written where they belong. */
export class Inquirer {
  private readonly sleepers = new Set<() => void>();
  /** How often the main cursor moved. */
  private moves = 0;

  constructor(private readonly options: InquirerOptions) {}

  /** The main cursor moved, or something may be wanted. */
  wake(): void {
    this.moves++;
    for (const rouse of this.sleepers) rouse();
    this.sleepers.clear();
  }

  /** Sleeps until the main cursor moves, `ms` milliseconds at the most. */
  private async doze(ms: number, signal: AbortSignal): Promise<void> {
    let rouse: () => void = () => {};
    const moved = new Promise<void>((resolve) => rouse = resolve);
    this.sleepers.add(rouse);
    await Promise.race([moved, sleep(ms, signal)]);
    this.sleepers.delete(rouse);
  }

  /** Asks until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.options.inquiries.map((one) => this.pursue(one, signal)));
  }

  private async pursue(one: Inquiry, signal: AbortSignal): Promise<void> {
    const log = this.options.log.with({ inquiry: one.name });
    while (!signal.aborted) {
      let wait = LOOK_MS;
      const { moves } = this;
      try {
        wait = await this.look(one, log, signal);
      } catch (error) {
        if (signal.aborted) return;
        log.warn("an inquiry is interrupted", { reason: reason(error) });
      }
      // where blocks come fast it is no use to look at each of them
      await sleep(Math.min(wait, PAUSE_MS), signal);
      if (wait === LOOK_MS && this.moves !== moves) continue;
      await (wait === LOOK_MS ? this.doze(wait, signal) : sleep(Math.max(0, wait - PAUSE_MS), signal));
    }
  }

  /** Asks what is wanted now; gives after how many milliseconds to look again. */
  private async look(one: Inquiry, log: Log, signal: AbortSignal): Promise<number> {
    const { store, port, near } = this.options;
    const { at, networkTip } = await readCursor(store.sql);
    if (networkTip.height - at.height >= near) return LOOK_MS;
    const asked = await one.wanted(store.sql, at);
    if (!asked) return LOOK_MS;
    const answer = await asked.ask(port);
    if (!answer.ok) {
      const { code, message } = answer.error;
      log.warn("the network does not say", { reason: message });
      return code === "query_unsupported" ? UNSUPPORTED_MS : LOOK_MS;
    }
    for (const until = Date.now() + WAIT_MS; !signal.aborted && Date.now() < until;) {
      const outcome = await this.options.serially(() => this.settle(asked, answer.value));
      if (outcome !== "wait") return AGAIN_MS;
      await this.doze(AGAIN_MS * 4, signal);
    }
    return AGAIN_MS;
  }

  private async settle(asked: Asked, answer: At<unknown>): Promise<"settled" | "wait" | "ask_again"> {
    const { store, recent, fenced, append, ring } = this.options;
    const { at } = await readCursor(store.sql);
    const blocks = recent();
    const place = placeAnswer(answer, at, blocks.at(-1)?.hash === at.hash ? blocks : []);
    if (place === "wait" || place === "ask_again") return place;
    let touched: readonly Touched[] = [];
    await fenced(async (sql) => {
      touched = await asked.write(sql, answer, place);
      await append(sql, touched);
    }, at);
    ring(touched);
    return "settled";
  }
}
