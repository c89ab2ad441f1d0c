/**
 * Completion scripts for bash, zsh and fish, derived from the tree of a program's commands: names of commands, options,
 * and the choices of an option. Where a word is none of these, the shell completes names of files.
 */
import process from "node:process";
import { Argument, type Command, type Option } from "commander";
import { commandsOf } from "#src/cli/commandTree.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = typeof SHELLS[number];

/** A word that can follow. */
interface Word {
  readonly word: string;
  readonly description: string;
}

/** What can follow a command, by its path (`token show`); the program's own is empty. */
interface Place {
  readonly path: string;
  /** Names of commands, and choices of arguments. */
  readonly names: readonly Word[];
  readonly options: readonly Word[];
}

/**
 * The script that makes a shell complete a program's command lines.
 *
 * @example
 * ```ts
 * import { arborProgram } from "./src/cli/arbor/program.ts";
 * import { completion } from "./src/cli/completion.ts";
 *
 * console.log(completion(arborProgram(), "bash"));
 * ```
 */
export function completion(program: Command, shell: Shell): string {
  const name = program.name();
  return SCRIPTS[shell](name, `_${name.replace(/\W/g, "_")}`, placesOf(program), valuesOf(program));
}

/** Adds the command `completion <shell>` to a program. */
export function completionCommand(program: Command): Command {
  const line = {
    bash: "source <(NAME completion bash)",
    zsh: "source <(NAME completion zsh)",
    fish: "NAME completion fish | source",
  };
  const examples = SHELLS.map((shell) => `  ${line[shell].replace("NAME", program.name())}`).join("\n");
  return program.command("completion")
    .description("print the completion script of a shell")
    .addArgument(new Argument("<shell>", "shell to complete in").choices(SHELLS))
    .addHelpText("after", `\nExample (the line for the shell's start file):\n${examples}`)
    .action((shell: Shell) => {
      process.stdout.write(completion(program, shell));
    });
}

const relativePath = (program: Command, command: Command): string =>
  command === program ? "" : `${relativePath(program, command.parent ?? program)} ${command.name()}`.trim();

/** Options of a command, with those of the commands above it. */
function optionsOf(command: Command): readonly Option[] {
  const help = command.createHelp();
  const own = help.visibleOptions(command);
  const above = command.parent ? optionsOf(command.parent).filter(({ long }) => long !== "--version") : [];
  return [...own, ...above.filter(({ long }) => own.every((one) => one.long !== long))];
}

function placesOf(program: Command): Place[] {
  return commandsOf(program).map((command) => {
    const help = command.createHelp();
    const commands = help.visibleCommands(command)
      .map((one) => ({ word: one.name(), description: help.subcommandDescription(one) }));
    const choices = command.registeredArguments.flatMap(({ argChoices = [], description }) =>
      argChoices.map((word) => ({ word, description }))
    );
    const options = optionsOf(command).flatMap(({ long, description }) => long ? [{ word: long, description }] : []);
    return { path: relativePath(program, command), names: [...commands, ...choices], options };
  });
}

/** The values of options by their long names: choices, or none where any text is a value. */
function valuesOf(program: Command): ReadonlyMap<string, readonly string[]> {
  const options = commandsOf(program).flatMap((command) => command.options)
    .filter(({ long, required, optional }) => long !== undefined && (required || optional));
  return new Map(options.map(({ long, argChoices = [] }) => [long ?? "", argChoices]));
}

type Script = (
  name: string,
  identifier: string,
  places: readonly Place[],
  values: ReadonlyMap<string, readonly string[]>,
) => string;

/** A text in single quotes of a POSIX shell. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Places that have some words, as cases of a shell; the text of each is written by `line`. */
function cases(
  places: readonly Place[],
  member: "names" | "options",
  line: (path: string, words: readonly Word[]) => string,
): string {
  return places.filter((place) => place[member].length > 0).map((place) => line(place.path, place[member])).join("\n");
}

/** Options that take a value, by their choices. */
function byChoices(
  values: ReadonlyMap<string, readonly string[]>,
): (readonly [readonly string[], readonly string[]])[] {
  const plain = [...values].filter(([, choices]) => choices.length === 0).map(([option]) => option);
  const chosen = [...values].filter(([, choices]) => choices.length > 0);
  return [
    ...chosen.map(([option, choices]) => [[option], choices] as const),
    ...(plain.length === 0 ? [] : [[plain, []] as const]),
  ];
}

const paths = (places: readonly Place[], quote: (text: string) => string, between: string) =>
  places.filter(({ path }) => path !== "").map(({ path }) => quote(path)).join(between);

const SCRIPTS: Readonly<Record<Shell, Script>> = {
  bash: (name, identifier, places, values) => {
    const words = (member: "names" | "options") =>
      cases(
        places,
        member,
        (path, all) => `      ${quoted(path)}) words=${quoted(all.map(({ word }) => word).join(" "))} ;;`,
      );
    return `# Completion of ${name} for bash.
${identifier}() {
  local cursor="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" path="" next="" words="" i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    next="\${path:+$path }\${COMP_WORDS[i]}"
    case "$next" in
      ${paths(places, quoted, "|")}) path="$next" ;;
    esac
  done
  case "$before" in
${
      byChoices(values).map(([options, choices]) => `    ${options.join("|")}) words=${quoted(choices.join(" "))} ;;`)
        .join("\n")
    }
    *) if [[ "$cursor" == -* ]]; then
    case "$path" in
${words("options")}
    esac
    else
    case "$path" in
${words("names")}
    esac
    fi ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cursor"))
}
complete -o default -F ${identifier} ${name}
`;
  },
  zsh: (name, identifier, places, values) => {
    const words = (member: "names" | "options") =>
      cases(places, member, (path, all) => `      ${quoted(path)}) found=(${all.map(described).join(" ")}) ;;`);
    return `#compdef ${name}
# Completion of ${name} for zsh.
${identifier}() {
  local place="" next="" i
  local -a found
  for ((i = 2; i < CURRENT; i++)); do
    next="\${place:+$place }\${words[i]}"
    case "$next" in
      ${paths(places, quoted, "|")}) place="$next" ;;
    esac
  done
  case "\${words[CURRENT-1]}" in
${
      byChoices(values).map(([options, choices]) =>
        `    ${options.join("|")}) found=(${choices.map(quoted).join(" ")}) ;;`
      )
        .join("\n")
    }
    *) if [[ "\${words[CURRENT]}" == -* ]]; then
    case "$place" in
${words("options")}
    esac
    else
    case "$place" in
${words("names")}
    esac
    fi ;;
  esac
  if (( \${#found} )); then _describe -o -t words ${quoted(name)} found; else _files; fi
}
if [ "\${funcstack[1]}" = ${quoted(identifier)} ]; then ${identifier} "$@"; else compdef ${identifier} ${name}; fi
`;
  },
  fish: (name, identifier, places, values) => {
    const printed = (words: readonly Word[]) =>
      words.map(({ word, description }) => `printf '%s\\t%s\\n' ${fishQuoted(word)} ${fishQuoted(description)}`).join(
        "; ",
      );
    const words = (member: "names" | "options") =>
      cases(places, member, (path, all) => `      case ${fishQuoted(path)}\n        ${printed(all)}`);
    return `# Completion of ${name} for fish.
function ${identifier}_words
  set -l tokens (commandline -opc)
  set -l place ""
  for token in $tokens[2..-1]
    set -l next (string trim -- "$place $token")
    switch $next
      case ${paths(places, fishQuoted, " ")}
        set place $next
    end
  end
  switch $tokens[-1]
${
      byChoices(values).map(([options, choices]) =>
        `    case ${options.join(" ")}\n      ${
          choices.length === 0
            ? "__fish_complete_path (commandline -ct)"
            : printed(choices.map((word) => ({ word, description: "" })))
        }\n      return`
      ).join("\n")
    }
  end
  if string match -q -- '-*' (commandline -ct)
    switch $place
${words("options")}
    end
  else
    switch $place
${words("names")}
      case '*'
        __fish_complete_path (commandline -ct)
    end
  end
end
complete -c ${name} -f -a '(${identifier}_words)'
`;
  },
};

/** A word with its description as zsh's `_describe` has them. */
const described = ({ word, description }: Word) => quoted(`${word.replaceAll(":", "\\:")}:${description}`);

const fishQuoted = (text: string) => `'${text.replace(/['\\]/g, (one) => `\\${one}`)}'`;
