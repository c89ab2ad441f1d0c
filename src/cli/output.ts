/**
 * What commands print. Lists and records are tables in a terminal, and JSON with `--json` or in a pipe. A command whose
 * result is one value (an id, a hash) prints it as a line in both, so that a shell can keep it in a variable; with
 * `--json` it prints all that it knows as JSON.
 *
 * Texts in tables come from the ledger, where anyone may write anything: control characters are escaped.
 */
import process from "node:process";
import Table from "cli-table3";
import { stringify } from "lossless-json";
import { toJson } from "#src/base/json.ts";

/** A stream to write to, as far as the output depends on it. */
export interface Screen {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

export interface OutputOptions {
  /** Whether `--json` was given. */
  readonly json?: boolean | undefined;
  readonly stdout?: Screen;
  readonly stderr?: Screen;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** A cell of a table; an absent value is empty. */
export type Cell = string | number | bigint | boolean | null | undefined;

/** Most characters of a cell; the rest is in the JSON. */
const LONGEST_CELL = 100;

const ESCAPED =
  // control characters, marks that change the direction of text, and halves of characters
  // deno-lint-ignore no-control-regex
  /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** A text without characters that act on a terminal: they are written as `\u001b`. */
export function printable(text: string): string {
  return text.replace(ESCAPED, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The beginning of an identifier, for a column that is not the row's own. */
export function short(id: string | null | undefined): string {
  return id === null || id === undefined ? "" : id.length <= 13 ? id : `${id.slice(0, 12)}…`;
}

/** Whether a stream shows colours: a terminal, unless NO_COLOR is set (no-color.org). */
export function hasColor(screen: Screen, env: OutputOptions["env"] = process.env): boolean {
  return screen.isTTY === true && !env.NO_COLOR && env.TERM !== "dumb";
}

export class Output {
  private readonly asJson: boolean;
  private readonly asked: boolean;
  private readonly stdout: Screen;
  private readonly stderr: Screen;
  private readonly color: boolean;

  constructor(
    { json = false, stdout = process.stdout, stderr = process.stderr, env = process.env }: OutputOptions = {},
  ) {
    this.asked = json;
    this.asJson = json || stdout.isTTY !== true;
    this.stdout = stdout;
    this.stderr = stderr;
    this.color = hasColor(stdout, env);
  }

  /** A list: its rows under the names of the columns, or `json`. */
  list(json: unknown, columns: readonly string[], rows: readonly (readonly Cell[])[]): void {
    if (this.asJson) return this.json(json);
    if (rows.length > 0) {
      this.write(this.table([columns.map((name) => this.strong(name.toUpperCase())), ...rows.map(cells)]));
    }
    this.note(rows.length === 1 ? "1 row" : `${rows.length} rows`);
  }

  /** One thing: its members by name, or `json`. */
  record(json: unknown, members: readonly (readonly [name: string, value: Cell])[]): void {
    if (this.asJson) return this.json(json);
    const shown = members.filter(([, value]) => value !== undefined && value !== null);
    this.write(this.table(shown.map(([name, value]) => [this.strong(name), ...cells([value])])));
  }

  /** One value as a line; `json` with `--json`. */
  value(text: string, json: unknown): void {
    if (this.asked) this.json(json);
    else this.write(text);
  }

  /** JSON: one line, or indented in a terminal. */
  json(value: unknown): void {
    this.write(this.stdout.isTTY ? stringify(value, undefined, 2) ?? "null" : toJson(value));
  }

  /** One of a stream's items: a line of text, or of JSON. */
  line(text: string, json: unknown): void {
    this.write(this.asJson ? toJson(json) : printable(text));
  }

  /** A remark for people, on the standard error. */
  note(text: string): void {
    this.stderr.write(`${text}\n`);
  }

  private strong(text: string): string {
    return this.color ? `\u001b[1m${text}\u001b[22m` : text;
  }

  private table(rows: readonly string[][]): string {
    const none = Object.fromEntries(
      ["top", "bottom", "left", "right", "mid"].flatMap((side) =>
        ["", "-mid", "-left", "-right"].map((part) => [`${side}${part}`, ""] as const)
      ),
    );
    const table = new Table({
      chars: { ...none, "mid-mid": "", middle: "  " },
      style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
    });
    table.push(...rows);
    return table.toString().replace(/ +$/gm, "");
  }

  private write(text: string): void {
    this.stdout.write(`${text}\n`);
  }
}

function cells(row: readonly Cell[]): string[] {
  return row.map((cell) => {
    const text = printable(cell === null || cell === undefined ? "" : String(cell));
    return text.length > LONGEST_CELL ? `${text.slice(0, LONGEST_CELL - 1)}…` : text;
  });
}

/** The steps of something that takes long. */
export interface Progress {
  /** The next step begins. */
  step(what: string): void;
  end(): void;
}

/** A bar of so many steps on the standard error; nothing where that is no terminal. */
export async function startProgress(
  steps: number,
  stream: NodeJS.WriteStream = process.stderr,
): Promise<Progress> {
  if (!stream.isTTY) return { step: () => {}, end: () => {} };
  const { default: { SingleBar } } = await import("cli-progress");
  const bar = new SingleBar({
    stream,
    format: "{bar} {what} ({duration_formatted})",
    barCompleteChar: "#",
    barIncompleteChar: "-",
    barsize: 16,
    clearOnComplete: true,
    // an interrupted command leaves the cursor visible
    gracefulExit: false,
    hideCursor: false,
  });
  let begun = 0;
  return {
    step: (what) => {
      if (begun === 0) bar.start(steps, 0, { what });
      else bar.update(Math.min(begun, steps), { what });
      begun++;
    },
    end: () => bar.stop(),
  };
}
