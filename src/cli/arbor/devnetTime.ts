/** The commands of the devnet's clock: `arbor devnet time`, `advance`, `sync`, `next` and `mining`. */
import { Argument, type Command, Option } from "commander";
import type { JumpBlocks, MiningMode, TimeTarget } from "#src/client/devnet.ts";
import { type Context, define, defineArgument, wholeNumber } from "#src/cli/arbor/command.ts";
import { CliError } from "#src/cli/error.ts";

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

/** Seconds of a duration such as `90s`, `12h` or `1d12h`. @throws {CliError} `bad_duration`. */
function secondsOf(duration: string): number {
  const parts = [...duration.matchAll(/(\d+)([smhdw])/g)];
  const seconds = parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNIT_SECONDS[unit ?? ""] ?? 0), 0);
  if (parts.map(([part]) => part).join("") === duration && seconds > 0) return seconds;
  throw new CliError(`${duration} is not a duration such as 90s, 12h or 1d12h.`, "bad_duration");
}

/** Milliseconds since 1970 of a date and time. @throws {CliError} `bad_time`. */
function millisecondsOf(text: string): number {
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new CliError(`${text} is not a time such as 2026-12-24T18:00:00Z.`, "bad_time");
  return time;
}

type AdvanceOptions = Omit<TimeTarget, "toTime"> & { toTime?: string; blocks?: JumpBlocks };

const blocksOption = () =>
  new Option("--blocks <which>", "other blocks on the way: none, one each less than 3k/f slots, one in each slot")
    .choices(["one", "sparse", "every"]);

/** Adds the commands of the devnet's clock. */
export function timeCommands(parent: Command): void {
  const slot = wholeNumber(0, Number.MAX_SAFE_INTEGER);

  define(parent, { usage: "time", description: "the devnet's clock", example: "devnet time" }, async (
    { devnet, output },
  ) => {
    const time = await devnet.time();
    output.record(time, [
      ["slot", time.slot],
      ["time", new Date(time.time).toISOString()],
      ["ahead of this machine's clock", `${time.offsetSlots} slots`],
      ["slot of the next block", time.nextSlot],
      ["mining", time.mode],
    ]);
  });

  defineArgument(parent, {
    usage: "advance",
    description: "move the devnet's clock at once, print the new slot",
    example: "devnet advance 30d",
    argument: new Argument("[duration]", "how far: 90s, 45m, 12h, 30d, 2w, 1d12h"),
  }, async ({ devnet, output, options }: Context<AdvanceOptions>, duration: string | undefined) => {
    const { slots, epochs, toSlot, toEpoch, toTime, blocks } = options;
    const targets: TimeTarget[] = [
      ...(duration === undefined ? [] : [{ seconds: secondsOf(duration) }]),
      ...(toTime === undefined ? [] : [{ toTime: millisecondsOf(toTime) }]),
      ...Object.entries({ slots, epochs, toSlot, toEpoch }).flatMap(([name, n]) =>
        n === undefined ? [] : [{ [name]: n }]
      ),
    ];
    const [target] = targets;
    if (target === undefined || targets.length > 1) {
      throw new CliError(
        "Exactly one of a duration, --slots, --epochs, --to-slot, --to-time and --to-epoch is required.",
        "bad_options",
      );
    }
    const answer = await devnet.advance(target, blocks);
    output.value(String(answer.slot), answer);
  }).option("--slots <n>", "so many slots", wholeNumber(1, Number.MAX_SAFE_INTEGER))
    .option("--epochs <n>", "into the first slot of the epoch so many after this one", wholeNumber(1, 1_000_000))
    .option("--to-slot <slot>", "to this slot", slot)
    .option("--to-time <time>", "to the slot of a date and time, such as 2026-12-24T18:00:00Z")
    .option("--to-epoch <epoch>", "to the first slot of this epoch", slot)
    .addOption(blocksOption());

  define(parent, {
    usage: "sync",
    description: "move the devnet to this machine's clock after a pause, print the new slot",
    example: "devnet sync",
  }, async ({ devnet, output, options: { blocks } }: Context<{ blocks?: JumpBlocks }>) => {
    const answer = await devnet.sync(blocks);
    output.value(String(answer.slot), answer);
  }).addOption(blocksOption());

  define(parent, {
    usage: "next",
    description: "set the slot or the time of the next block, however it is made",
    example: "devnet next --time 2026-12-24T18:00:00Z",
  }, async ({ devnet, output, options: { slot, time } }: Context<{ slot?: number; time?: string }>) => {
    const next = slot !== undefined ? { slot } : time !== undefined ? { time: millisecondsOf(time) } : undefined;
    if (next === undefined || (slot !== undefined && time !== undefined)) {
      throw new CliError("Exactly one of --slot and --time is required.", "bad_options");
    }
    await devnet.setNext(next);
    const { nextSlot } = await devnet.time();
    output.value(String(nextSlot), { nextSlot });
  }).option("--slot <slot>", "slot of the next block", slot)
    .option("--time <time>", "its time; one between slots is rounded up");

  define(parent, {
    usage: "mining <mode>",
    description: "when blocks are made: interval, submit (with each transaction) or manual",
    example: "devnet mining submit",
  }, async ({ devnet, output, options: { blockMs } }: Context<{ blockMs?: number }>, mode) => {
    const answer = await devnet.setMining(modeOf(mode), blockMs);
    output.value(mode, { mode, ...answer });
  }).option("--block-ms <ms>", "milliseconds between blocks of interval", wholeNumber(1, 3_600_000));
}

const MODES: readonly MiningMode[] = ["interval", "submit", "manual"];

/** A mode of mining. @throws {CliError} `bad_options`. */
function modeOf(text: string): MiningMode {
  const mode = MODES.find((one) => one === text);
  if (mode === undefined) throw new CliError(`${text} is not one of ${MODES.join(", ")}.`, "bad_options");
  return mode;
}
