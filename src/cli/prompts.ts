/**
 * Secrets and other input of a command. A terminal prompts for them and never shows them; from a pipe or a file each one is a
 * line of standard input. Prompts go to standard error, so that standard output holds the result alone.
 */
import { reason } from "#src/base/log.ts";
import type { Result } from "#src/base/result.ts";
import { CliError } from "#src/cli/error.ts";
import type { Streams } from "#src/cli/streams.ts";

/** Reads a value out of a line, or says what is wrong with it without repeating it. */
export type ReadLine<T> = (line: string) => Result<T, { readonly message: string }>;

/** How a terminal shows what is typed: a character for each one, or nothing. */
export type Mask = "stars" | "silent";

/** Most characters of standard input: a script or a transaction is far shorter. */
const LONGEST = 4_194_304;

export class Prompts {
  private opened: ReturnType<Streams["input"]> | undefined;
  private chunks: AsyncIterator<string> | undefined;
  private rest = "";
  private prompting = false;

  constructor(private readonly streams: Streams) {}

  /** Whether a person answers. */
  get interactive(): boolean {
    return this.input().isTTY === true;
  }

  /**
   * A secret. Wrong input is refused with a message and prompted for again, until standard input ends.
   *
   * @throws {CliError} where the input ends before a right line, or the person interrupts
   */
  async secret<T>(prompt: string, read: ReadLine<T>, mask: Mask = "stars"): Promise<T> {
    for (;;) {
      const found = read(await (this.interactive ? this.typed(prompt, mask) : this.line(prompt)));
      if (found.ok) return found.value;
      this.say(found.error.message);
    }
  }

  /**
   * The whole of standard input, for keys, addresses and phrases that one command hands to the next. In a terminal it is
   * one line, which is not shown.
   *
   * @throws {CliError} where the input is too long or is not read
   */
  async all(prompt: string): Promise<string> {
    if (this.interactive) return (await this.typed(prompt, "stars")).trim();
    while (await this.more());
    const text = this.rest;
    this.rest = "";
    return text.trim();
  }

  /** Writes a message to standard error, in red where it is a terminal. */
  say(message: string): void {
    const { errors, colours } = this.streams;
    errors.write(colours ? `\x1b[91m${message}\x1b[0m\n` : `${message}\n`);
  }

  /** Closes standard input if it was opened: a process with an open input does not end. */
  close(): void {
    if (this.opened?.isTTY) this.opened.setRawMode?.(false);
    this.opened?.destroy();
  }

  private input() {
    return this.opened ??= this.streams.input();
  }

  private async typed(prompt: string, mask: Mask): Promise<string> {
    this.prompting = true;
    // takes 100 ms to load, which commands without a prompt do not spend
    const { default: password } = await import("@inquirer/password");
    const theme = { prefix: "", style: { message: (text: string) => text, answer: (text: string) => text } };
    try {
      return await password(
        { message: prompt.trim(), theme, ...(mask === "stars" ? { mask: "*" } : { mask: false }) },
        { input: this.input(), output: this.streams.errors },
      );
    } catch (error) {
      throw new CliError(error instanceof Error && error.name === "ExitPromptError" ? "Interrupted." : reason(error));
    } finally {
      this.hideUntilNext();
    }
  }

  /** The library shows again what is typed once a prompt ends: what is typed before the next one would be seen. */
  private hideUntilNext(): void {
    const input = this.input();
    input.setRawMode?.(true);
    this.prompting = false;
    // a prompt that follows has begun by then
    setImmediate(() => {
      if (!this.prompting && !input.destroyed) input.setRawMode?.(false);
    });
  }

  private async line(prompt: string): Promise<string> {
    this.streams.errors.write(`${prompt.trimEnd()}\n`);
    let end: number;
    while ((end = this.rest.indexOf("\n")) < 0) {
      if (await this.more()) continue;
      if (this.rest === "") throw new CliError("Standard input ended before this line.");
      end = this.rest.length;
      break;
    }
    const line = this.rest.slice(0, end);
    this.rest = this.rest.slice(end + 1);
    return line.replace(/\r$/, "");
  }

  /** Reads a further part of standard input; false at its end. */
  private async more(): Promise<boolean> {
    this.chunks ??= this.input().setEncoding("utf8").iterator({ destroyOnReturn: false });
    const { done, value } = await this.chunks.next();
    if (done === true) return false;
    this.rest += value;
    if (this.rest.length > LONGEST) throw new CliError("Standard input is too long.");
    return true;
  }
}
