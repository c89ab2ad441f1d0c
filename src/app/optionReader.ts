/** Reads single options: from the command line, which has precedence, and from the environment. */
import { parseArgs } from "node:util";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { FLAGS, NAMES, type OptionName } from "#src/app/optionNames.ts";

export type BadOption = Failure<"bad_option">;

/** What a command line gives, by the names of its options. */
export type Values = Readonly<Record<string, string | boolean | undefined>>;

/** Options of another program that a command accepts beside its own. */
export interface OptionAliases {
  /** Those with a value. */
  readonly names: readonly string[];
  /** Those without. */
  readonly flags: readonly string[];
  /** Their short forms of one letter, by name. */
  readonly shorts?: Readonly<Record<string, string>>;
  /** The own options that some of them stand for, by alias: messages name the alias, unless the own one is given. */
  readonly own?: Readonly<Record<string, OptionName>>;
  /** Gives what they stand for, in the names of the own options. */
  readonly translate: (
    values: Values,
    env: Readonly<Record<string, string | undefined>>,
    problem: (sentence: string) => void,
  ) => Values;
}

/** Takes the value of an alias as that of an option. */
export type Rename = (alias: string, value: Values[string], name: string) => void;

/** A `Rename` that writes into `given`; an option that is given under both names is a problem. */
export function renamer(given: Record<string, Values[string]>, problem: (sentence: string) => void): Rename {
  return (alias, value, name) => {
    if (value === undefined) return;
    if (given[name] !== undefined) problem(`--${alias} and --${name} are the same option; give one of them`);
    given[name] = value;
  };
}

/** The environment of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Variables that are not named after their option. */
const VARIABLES: Partial<Record<OptionName, string>> = { "database-url": "DATABASE_URL", "nats-url": "NATS_URL" };

/** The greatest offset of default ports; the highest one of them is 50051. */
const PORT_OFFSET_MOST = 15_000;

const variableOf = (name: OptionName) => VARIABLES[name] ?? "ARBOR_" + name.toUpperCase().replaceAll("-", "_");

/** Reads options. What is wrong is collected in `problems`; what is read is then not usable. */
export class OptionReader {
  readonly problems: string[] = [];
  /** The aliases under which messages name own options, by own name. */
  readonly typedAs: Readonly<Record<string, string>>;
  /** What is added to default ports. */
  readonly portOffset: number;
  #values: Values;

  /** `values`: what the command line gives. */
  constructor(values: Values, readonly env: Environment, aliases?: OptionAliases) {
    const isOwn = (alias: string, own: OptionName) =>
      values[own] !== undefined || values[alias] === undefined && Boolean(env[variableOf(own)]);
    this.typedAs = Object.fromEntries(
      Object.entries(aliases?.own ?? {}).flatMap(([alias, own]) => isOwn(alias, own) ? [] : [[own, alias] as const]),
    );
    this.#values = values;
    if (aliases) this.#values = aliases.translate(values, env, this.problem);
    this.portOffset = this.number("port-offset", 0, PORT_OFFSET_MOST) ?? 0;
  }

  /** Collects a problem; an option in it that the environment gives is named with its variable. */
  readonly problem = (sentence: string): void => {
    const named = sentence.replace(/--([a-z][a-z-]*[a-z])(?! \()/g, (option, text) => {
      const name = NAMES.find((one) => one === text);
      const fromEnvironment = name !== undefined && this.#values[name] === undefined && this.env[variableOf(name)];
      if (fromEnvironment) return `${option} (${variableOf(name)})`;
      return name === undefined ? option : `--${this.typedAs[name] ?? name}`;
    });
    this.problems.push(named);
  };

  /** Whether an option is on the command line. */
  readonly isArgument = (name: OptionName): boolean => this.#values[name] !== undefined;

  /** The text of an option; undefined where it is not given, or empty. */
  readonly text = (name: OptionName): string | undefined => {
    const given = this.#values[name] ?? this.env[variableOf(name)];
    return given === undefined || given === "" ? undefined : String(given);
  };

  /** A whole number, where the option is given. */
  readonly number = (name: OptionName, least: number, most: number): number | undefined => {
    const given = this.text(name);
    if (given === undefined) return undefined;
    const value = Number(given);
    if (/^\d+$/.test(given) && value >= least && value <= most) return value;
    this.problem(`--${name} must be a whole number from ${least} to ${most}, not ${given}`);
    return undefined;
  };

  /** A port, or `usual` with the offset. */
  port(name: OptionName, usual: number): number {
    return this.number(name, 0, 65_535) ?? usual + this.portOffset;
  }

  readonly flag = (name: OptionName): boolean => {
    const given = this.text(name) ?? "false";
    if (!["true", "false"].includes(given)) this.problem(`--${name} must be true or false, not ${given}`);
    return given === "true";
  };

  /** Items separated by commas; `problem` says what is wrong with one. */
  list(name: OptionName, problem: (item: string) => string | undefined): string[] {
    const items = (this.text(name) ?? "").split(",").map((item) => item.trim()).filter(Boolean);
    for (const item of items) {
      const found = problem(item);
      if (found !== undefined) this.problem(`--${name}: ${found}`);
    }
    return items;
  }
}

/** A reader of the options of a command line; `help` for `--help`. */
export function openReader(
  args: readonly string[],
  env: Environment,
  aliases?: OptionAliases,
): Result<OptionReader | "help", BadOption> {
  let values: Values;
  try {
    values = parse(args, aliases ?? { names: [], flags: [] });
  } catch (error) {
    const [problem = ""] = (error instanceof Error ? error.message : String(error)).split(".");
    const [, unknown] = /^Unknown option '--([\w-]+)'/.exec(problem) ?? [];
    const names = [...NAMES, ...aliases?.names ?? [], ...aliases?.flags ?? []];
    const near = unknown === undefined ? undefined : nearest(unknown, names);
    return fail("bad_option", `${problem}${near ? `; the nearest one is --${near}` : ""}. --help lists the options.`);
  }
  return ok(values.help ? "help" : new OptionReader(values, env, aliases));
}

/** Variables of a start and of the command line that are no options of a start. */
const OTHER_VARIABLES = [
  "ARBOR_TOKENS_URL",
  "ARBOR_WALLETS_URL",
  "ARBOR_OPERATOR_URL",
  "ARBOR_DEVNET_URL",
  "ARBOR_PROGRAMS",
  "ARBOR_REVISION",
];

/**
 * A sentence, without its value, for each `ARBOR_` variable that is not known but nearly so. Others are left alone: tests,
 * Compose and Kubernetes have their own.
 */
export function misspeltVariables(env: Environment): string[] {
  const known = [...NAMES.map(variableOf), ...OTHER_VARIABLES];
  const short = (variable: string) => variable.replace(/^ARBOR_/, "");
  const strange = Object.keys(env).filter((name) => name.startsWith("ARBOR_") && env[name] && !known.includes(name));
  return strange.flatMap((name) => {
    const near = nearest(short(name), known.map(short), 4);
    const variable = known.find((one) => short(one) === near);
    return variable === undefined ? [] : [`Nothing reads the variable ${name}; the nearest one is ${variable}.`];
  });
}

/** The name that differs least from another text, where it differs by at most one character in `every`. */
function nearest(text: string, names: readonly string[], every = 3): string | undefined {
  const [best] = names.map((name) => ({ name, apart: distance(text, name) })).sort((a, b) => a.apart - b.apart);
  return best !== undefined && best.apart <= text.length / every ? best.name : undefined;
}

/** How many characters have to be added, removed or replaced to get one text from the other (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, char] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      next.push(Math.min(row[j]! + (char === b[j] ? 0 : 1), row[j + 1]! + 1, next[j]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}

/** What a command line gives. @throws TypeError on an unknown option. */
function parse(
  args: readonly string[],
  { names, flags, shorts = {} }: Pick<OptionAliases, "names" | "flags" | "shorts">,
): Values {
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...Object.fromEntries(names.map((name) => [name, { type: "string" as const }])),
      ...Object.fromEntries(
        flags.map((name) => [name, { type: "boolean" as const, ...(shorts[name] ? { short: shorts[name] } : {}) }]),
      ),
      ...Object.fromEntries(
        NAMES.map((name) => [name, { type: FLAGS.includes(name) ? "boolean" as const : "string" as const }]),
      ),
      help: { type: "boolean" as const, short: "h" },
    },
  });
  return values;
}
