/** A random history of governance: the ledger and the plain model side by side. */
import { type Ended, passBoundary } from "../plainGovernance/boundary.ts";
import { ratify } from "../plainGovernance/elections.ts";
import { applyOperation, mayVote } from "../plainGovernance/transactions.ts";
import {
  type Action,
  copyOf,
  type Kind,
  KINDS,
  type Operation,
  type PlainState,
  type Role,
} from "../plainGovernance/types.ts";
import { campaign, type Goal } from "./campaign.ts";
import type { Coverage } from "./coverage.ts";
import { Dice } from "./dice.ts";
import { randomFault } from "./faults.ts";
import { firstState } from "./firstState.ts";
import { authorizeAll, proposalOf, randomAction, randomChange, randomVote } from "./operations.ts";
import { pictureOfLedger, pictureOfPlain, wholeLedger } from "./pictures.ts";
import { FEE, RealLedger } from "./realLedger.ts";

/** What it takes to go back by one step: the plain model was kept, the ledger is undone. */
interface Step {
  readonly plain: PlainState;
  readonly whole: string;
  readonly undo: () => void;
}

/** Who has a say on an action. */
function rolesOf(action: Action): Role[] {
  return (["committee", "drep", "pool"] as const).filter((role) => mayVote(role, action));
}

/** How many steps are kept to be undone. */
const KEPT = 25;

export class History {
  private plain: PlainState;
  private readonly ledger: RealLedger;
  private readonly dice: Dice;
  private steps: Step[] = [];
  private readonly goals = new Map<string, Goal>();
  /** Epochs to come in which nothing is proposed. */
  private quiet = 0;
  /** How many actions are to pass: where few do, more of them expire. */
  private readonly eagerness: number;

  /** A history that begins in a protocol version; what it contains is added to `coverage`. */
  constructor(private readonly seed: number, major: number, private readonly coverage: Coverage) {
    this.dice = new Dice(seed);
    this.eagerness = this.dice.pick([1, 5, 9]);
    this.plain = firstState(this.dice, major);
    this.ledger = new RealLedger(this.plain);
    this.compare("at the beginning");
  }

  /** Lets some epochs pass. @throws {Error} where the two differ */
  async run(epochs: number): Promise<void> {
    for (let epoch = 0; epoch < epochs; epoch++) {
      await this.fillEpoch();
      this.passBoundary();
      if (this.dice.chance(0.12)) this.rollBack();
    }
  }

  private async fillEpoch(): Promise<void> {
    const { dice } = this;
    if (dice.chance(0.04)) this.quiet = dice.between(4, 8);
    const isQuiet = this.quiet-- > 0;
    const proposals = Array.from({ length: isQuiet ? 0 : dice.pick([0, 2, 3, 3, 4]) }, () => () => this.propose());
    const changes = Array.from({ length: dice.between(2, 5) }, () => () => this.change());
    const faults = Array.from({ length: isQuiet ? 0 : dice.between(3, 6) }, () => () => this.err());
    for (const step of dice.shuffle([...proposals, ...changes, ...faults])) await step();
    if (!isQuiet && this.plain.committee && dice.chance(0.08)) await this.rival();
    if (dice.chance(0.8)) await this.submit(authorizeAll(this.plain, dice));
    const votes = campaign(this.plain, this.goals, dice);
    if (votes.length > 0) await this.submit({ votes });
  }

  private async change(): Promise<void> {
    const vote = this.dice.chance(0.2) ? randomVote(this.plain, this.dice) : undefined;
    await this.submit(vote ? { votes: [vote] } : randomChange(this.plain, this.dice, this.ledger));
  }

  private async err(): Promise<void> {
    await this.submit(randomFault(this.plain, this.dice));
  }

  /** Proposes a new committee and a motion of no confidence, of which only one can pass. */
  private async rival(): Promise<void> {
    for (const kind of ["committee", "no confidence"] as const) {
      const action = randomAction(this.plain, this.dice, kind);
      const id = await this.submit({ proposals: [proposalOf(this.plain, this.dice, action)] });
      if (id !== undefined) this.goals.set(`${id}#0`, "pass");
    }
  }

  private async propose(): Promise<void> {
    const { plain, dice } = this;
    const action = randomAction(plain, dice, this.kind());
    const id = await this.submit({ proposals: [proposalOf(plain, dice, action)] });
    if (id === undefined) return;
    if (action.kind === "no confidence" && this.eagerness === 1 && dice.chance(0.7)) return;
    const short = { short: dice.pick(rolesOf(action)) };
    const goal = dice.weighted<Goal | undefined>([[this.eagerness, "pass"], [4, short], [1, "chance"], [1, undefined]]);
    if (goal) this.goals.set(`${id}#0`, goal);
  }

  /** The kind of the next proposal: without a committee nothing but a new one passes. */
  private kind(): Kind {
    const { plain, dice } = this;
    if (plain.version[0] === 9) {
      return dice.weighted([[5, "parameters"], [3, "hard fork"], [1, "info"], [0.5, dice.pick(KINDS)]]);
    }
    if (!plain.committee) return dice.weighted([[6, "committee"], [1, dice.pick(KINDS)]]);
    return dice.weighted([
      [5, "parameters"],
      [2, "hard fork"],
      [3, "treasury"],
      [this.eagerness === 1 ? 5 : 2, "no confidence"],
      [3, "committee"],
      [3, "constitution"],
      [1, "info"],
    ]);
  }

  /** Submits an operation to both. Gives the transaction's id where both accept it. */
  private async submit(operation: Operation | undefined): Promise<string | undefined> {
    if (!operation) return undefined;
    const { plain, ledger, coverage } = this;
    const bytes = ledger.write(operation);
    const isSubmitted = this.dice.chance(0.5);
    const whole = this.whole();
    const judged = await ledger.apply(operation, bytes, isSubmitted);
    const next = copyOf(plain);
    const failures = applyOperation(next, "id" in judged ? judged.id : "", operation, { fee: FEE, isSubmitted });
    const names = "failures" in judged ? [...judged.failures].sort().join() : "";
    if (names !== [...failures].sort().join()) {
      const said = (of: string) => of || "accepted";
      this.fail(`ledger: ${said(names)}; plain: ${said([...failures].sort().join())}`, operation);
    }
    coverage.refuse(failures);
    if (!("id" in judged)) return undefined;
    coverage.accepted++;
    coverage.operation(operation, plain);
    this.keep({ plain, whole, undo: judged.undo });
    this.plain = next;
    this.compare(operation);
    return judged.id;
  }

  private passBoundary(): Ended {
    const { plain } = this;
    const whole = this.whole();
    const next = copyOf(plain);
    const undo = this.ledger.passBoundary();
    const ended = passBoundary(next);
    this.keep({ plain, whole, undo });
    this.plain = next;
    this.compare("a boundary");
    this.coverage.boundary(plain, next, ended, ratify(next.poll!).verdicts);
    this.replan();
    return ended;
  }

  /** An action that was one voter short may get all votes later. */
  private replan(): void {
    for (const [id, goal] of this.goals) {
      if (!this.plain.proposals.some((one) => one.id === id)) this.goals.delete(id);
      else if (typeof goal === "object" && this.dice.chance(this.eagerness / 20)) this.goals.set(id, "pass");
    }
  }

  private keep(step: Step): void {
    this.steps.push(step);
    if (this.steps.length > KEPT) this.steps.shift();
  }

  /** Undoes some steps, boundaries among them. */
  private rollBack(): void {
    const count = this.dice.between(1, this.steps.length);
    for (let undone = 0; undone < count; undone++) {
      const { plain, whole, undo } = this.steps.pop()!;
      undo();
      this.plain = plain;
      this.coverage.undone++;
      if (this.whole() !== whole) this.fail("undoing gives another state than before", "a rollback");
    }
    this.compare("a rollback");
  }

  private whole(): string {
    return wholeLedger(this.ledger.world.state);
  }

  private compare(after: unknown): void {
    const ours = pictureOfLedger(this.ledger.world.state);
    const theirs = pictureOfPlain(this.plain);
    if (ours.join() === theirs.join()) return;
    const missing = theirs.filter((line) => !ours.includes(line));
    const extra = ours.filter((line) => !theirs.includes(line));
    this.fail(`ledger:\n${extra.join("\n")}\nplain:\n${missing.join("\n")}`, after);
  }

  private fail(message: string, after: unknown): never {
    const shown = JSON.stringify(
      after,
      (_, of) => typeof of === "bigint" ? `${of}` : of instanceof Map ? [...of] : of,
      1,
    );
    throw new Error(
      `seed ${this.seed}, epoch ${this.plain.epoch}, version ${
        this.plain.version.join(".")
      }\n${message}\nafter ${shown}`,
    );
  }
}
