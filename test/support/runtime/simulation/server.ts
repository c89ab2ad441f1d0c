/** The database of a simulation: the model of PostgreSQL behind connections that delay, fail and break. */
import {
  type Execution,
  executionOf,
  memoryStore,
  type SentStatement,
  type Server,
} from "#src/runtime/testing/memory/store.ts";
import { MemoryDatabase } from "#src/runtime/testing/memory/database.ts";
import { DatabaseError } from "#src/runtime/testing/memory/table.ts";
import type { Store } from "#src/store/store.ts";
import type { Faults } from "./faults.ts";
import { EPOCH, type Process, type World } from "./world.ts";

const LOCK_TIMEOUT_MS = 1_000;
/** Longest run of a statement of turns. */
const LONGEST_MS = 6_000;
/** Longest wait of other statements for a lock, until their client gives up. */
const GIVE_UP_MS = 30_000;

type Settle = { readonly resolve: (rows: readonly object[]) => void; readonly reject: (error: unknown) => void };

export class SimulatedServer {
  readonly db = new MemoryDatabase(() => EPOCH + this.world.time);
  private readonly server: Process;
  /** Statements that wait for locks. */
  private waiting: (() => boolean)[] = [];

  constructor(
    private readonly world: World,
    private readonly faults: Faults,
    /** Called with what the model does not know or cannot do. */
    private readonly onFault: (error: unknown) => void,
    /** Called when turns are written, with the partitions and epochs under which they began. */
    private readonly onTurns: (owned: NonNullable<Execution["owned"]>) => void,
  ) {
    this.server = world.spawn("database");
    if (faults.bug === "a fence without its lock") this.db.locks.share = () => {};
  }

  /** A pool of a process. */
  open(process: Process): Store {
    const { world, faults } = this;
    /** Number of rows that a failed statement has left on the connection. */
    let left = 0;
    const run: Server["run"] = (sent) =>
      new Promise((resolve, reject) => {
        const answer = (settle: () => void) => void world.after(this.delayOf(sent), process, settle);
        // The connection breaks before the statement.
        if (faults.occurs(0.01)) return answer(() => reject(lost()));
        // It breaks before the result: the statement may be written all the same.
        if (faults.occurs(0.01)) answer(() => reject(lost()));
        this.execute(sent, {
          resolve: (rows) =>
            answer(() => {
              const holes: object[] = new Array(left);
              left = 0;
              resolve(holes.length === 0 ? rows : [...holes, ...rows]);
            }),
          reject: (error) =>
            answer(() => {
              if (faults.bug === "a connection reused after a failed row") left = 1;
              reject(error);
            }),
        });
      });
    const transact: Server["transact"] = (work) =>
      new Promise((resolve, reject) => {
        if (faults.occurs(0.01)) return void world.after(faults.delay(), process, () => reject(lost()));
        world.after(faults.delay(), process, () => {
          // It happens within one task, so that nothing comes between its statements.
          const changes = this.db.begin();
          const now = async (sent: SentStatement) => {
            try {
              const execution = executionOf(this.db, sent);
              execution.begin();
              return execution.commit();
            } catch (error) {
              if (!(error instanceof DatabaseError)) this.onFault(error);
              throw error;
            }
          };
          work(now).then((result) => {
            changes.keep();
            const isLost = faults.occurs(0.01);
            world.after(faults.delay(), process, () => isLost ? reject(lost()) : resolve(result));
          }, (error) => {
            changes.undo();
            reject(error);
          });
        });
      });
    return memoryStore({ run, transact });
  }

  /** Readings of the clock take at most 10 ms, so that the workers' clocks are right within that. */
  private delayOf({ text }: SentStatement): number {
    return text.includes("clock_timestamp()") ? this.world.between(0, 5) : this.faults.delay();
  }

  private execute(sent: SentStatement, { resolve, reject }: Settle): void {
    const { world, faults, server, db } = this;
    const isTurn = sent.text.startsWith("with e as");
    let execution: Execution;
    try {
      execution = executionOf(db, sent);
    } catch (error) {
      return this.onFault(error);
    }
    const attempt = (step: () => void) => {
      try {
        step();
      } catch (error) {
        if (!(error instanceof DatabaseError)) return this.onFault(error);
        this.retry();
        reject(error);
      }
    };
    const commit = () => {
      attempt(() => {
        const { owned } = execution;
        const rows = execution.commit();
        if (owned !== undefined) this.onTurns(owned);
        this.retry();
        resolve(rows);
      });
    };
    const begun = () => {
      if (faults.bug === "a reply before the commit" && isTurn) {
        const dry = db.begin();
        const rows = execution.commit();
        dry.undo();
        resolve(rows);
        execution = executionOf(db, sent);
        execution.begin();
      }
      const end = () => {
        if (!faults.occurs(0.04)) return commit();
        execution.cancel();
        this.retry();
        reject(new DatabaseError("57014", "canceling statement due to user request"));
      };
      if (isTurn) world.after(Math.min(faults.delay() * world.pick([1, 1, 10]), LONGEST_MS), server, end);
      else end();
    };
    const begin = (): boolean => {
      let is = false;
      attempt(() => {
        is = true;
        is = execution.begin();
        if (is) begun();
      });
      return is;
    };
    world.after(this.delayOf(sent), server, () => {
      if (begin()) return;
      this.waiting.push(begin);
      world.after(isTurn ? LOCK_TIMEOUT_MS : GIVE_UP_MS, server, () => {
        if (!this.waiting.includes(begin)) return;
        this.waiting = this.waiting.filter((one) => one !== begin);
        execution.cancel();
        this.retry();
        reject(new DatabaseError("55P03", "canceling statement due to lock timeout"));
      });
    });
  }

  /** Lets statements go on that wait for locks, in their order. */
  private retry(): void {
    const waiting = this.waiting;
    this.waiting = [];
    for (const begin of waiting) if (!begin()) this.waiting.push(begin);
  }
}

function lost(): Error {
  return Object.assign(new Error("the connection to the database was lost"), { code: "CONNECTION_CLOSED" });
}
