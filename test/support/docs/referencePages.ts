/** The reference pages of the documentation, made from the frozen forms, which tests compare with the running code. */
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { DENO_TASK } from "#src/base/deno.ts";
import { arborProgram } from "#src/cli/arbor/program.ts";
import { type AdvisedService, ERROR_ADVICE } from "#src/base/errorAdvice.ts";
import { libraryComponents } from "#src/packages/components.ts";
import { commandsOf, pathOf } from "#src/cli/commandTree.ts";
import { KINDS } from "../../../docs/.vitepress/sidebar.ts";
import { frozenPath } from "../base/frozenFiles.ts";
import { cardanoWalletProgram } from "../cli/cardanoWalletCommands.ts";
import { readPage, root } from "./pages.ts";

const read = (name: string) => readFileSync(frozenPath(name), "utf8");

export interface Option {
  /** Without the two dashes. */
  readonly name: string;
  /** The placeholder after the name, such as `N` or `PATH`; empty for an option without a value. */
  readonly value: string;
  /** Environment variables with the same meaning. */
  readonly environment: readonly string[];
  readonly text: string;
  /** Whether a devnet keeps the value that it was created with. */
  readonly genesis: boolean;
}

/** The options of `start`, as its help lists them. */
export function optionsOfStart(): Option[] {
  const help = read("options.txt").split("\nDefaults:")[0]!.replace(/\n {10,}/g, " ");
  const genesisFrom = help.search(/^\S.*:$/m);
  return [...help.matchAll(/^ {2}--([\w-]+)(?: (\S+))? +(.+)$/gm)].map((match) => {
    const [, name, value, rest] = match;
    const variables = [...rest!.matchAll(/\b(?:ARBOR_\w+|DATABASE_URL|NATS_URL)\b/g)];
    return {
      name: name!,
      value: value ?? "",
      environment: variables.map(([variable]) => variable),
      text: rest!.slice(0, variables[0]?.index).replace(/\s+/g, " ").trim(),
      genesis: match.index > genesisFrom && genesisFrom > 0,
    };
  });
}

/** Options of the command line, without the two dashes. */
export const optionsOfCommands = (): string[] =>
  commandsOf(arborProgram()).flatMap(({ options }) => options.flatMap(({ long }) => long ? [long.slice(2)] : []));

interface Operation {
  readonly summary: string;
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

export interface Endpoint {
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly query: readonly string[];
}

/** Services by the name of their document, with their title. */
export const services = {
  tokens: "Token service",
  wallets: "Wallet service",
  operator: "Operator service",
  devnet: "Devnet",
} as const;

/** The endpoints of a service, as its OpenAPI document lists them. */
export function endpointsOf(service: keyof typeof services): Endpoint[] {
  const { paths } = JSON.parse(read(`documents/${service}.json`)) as Document;
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).filter(([method]) => method !== "servers").map(([method, { summary, parameters = [] }]) => ({
      method: method.toUpperCase(),
      path,
      summary,
      query: parameters.filter((one) => one.in === "query").map(({ name }) => name),
    }))
  );
}

/** Error codes by service; every service may give those of `edge`. */
export function errorCodes(): { service: string; code: string; status: number }[] {
  return read("errors.txt").trim().split("\n").map((line) => {
    const [service, code, status] = line.split(" ") as [string, string, string];
    return { service, code, status: Number(status) };
  });
}

/** Metrics with their types. */
export const metrics = (): [name: string, type: string][] =>
  read("metrics.txt").trim().split("\n").map((line) => line.split(" ") as [string, string]);

const code = (text: string) => `\`${text}\``;
const page = (title: string, ...parts: readonly string[]) => [`# ${title}`, ...parts].join("\n\n") + "\n";
const MADE =
  "`deno task docs` writes this page from the forms in `test/frozen`, which tests compare with the running code.";

function optionLine({ name, value, environment, text }: Option): string {
  return `- ${code(`--${name} ${value}`.trim())} (${environment.map(code).join(", ")}): ${text}`;
}

function optionsPage(): string {
  const options = optionsOfStart();
  return page(
    "Options of a start",
    MADE,
    "An option on the command line takes precedence over its environment variable. Parentheses hold the default. " +
      `\`${DENO_TASK} start --help\` prints this list.`,
    options.filter(({ genesis }) => !genesis).map(optionLine).join("\n"),
    "`NATS_TOKEN` and `NATS_USER` are the credentials of NATS, `BLOCKFROST_PROJECT_ID` is the project id of Blockfrost; they are no options, because others can read a command line.",
    "## Genesis of a devnet",
    "A devnet keeps these from its beginning on.",
    options.filter(({ genesis }) => genesis).map(optionLine).join("\n"),
  );
}

function endpointsPage(): string {
  const sections = (Object.keys(services) as (keyof typeof services)[]).map((service) => {
    const lines = endpointsOf(service).map(({ method, path, summary, query }) => {
      const queryText = query.length === 0 ? "" : ` Query: ${query.map(code).join(", ")}.`;
      return `- ${code(`${method} ${path}`)}: ${summary}.${queryText}`;
    });
    const prefix = service === "wallets" ? "Below `/v2`, except `GET /health` and `GET /ready`.\n\n" : "";
    return `## ${services[service]}\n\n${prefix}${lines.join("\n")}`;
  });
  return page(
    "Endpoints",
    MADE,
    "Every service also has `GET /openapi.json` and `GET /docs` (wallets: below `/v2`), with schemas and examples.",
    ...sections,
  );
}

/** A table as `deno fmt` writes it. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i]!.length)));
  const line = (cells: readonly string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}

function errorsPage(): string {
  const codes = errorCodes();
  const titles: Record<AdvisedService, string> = {
    edge: "All services",
    tokens: "Token service",
    wallets: "Wallet service",
    operator: "Operator service",
    devnet: "Devnet",
    signer: "Signing service",
  };
  const sections = Object.entries(titles).map(([service, title]) => {
    const advice: Readonly<Record<string, string>> = ERROR_ADVICE[service as AdvisedService];
    const own = Map.groupBy(codes.filter((one) => one.service === service), (one) => one.code);
    const rows = [...own].map(([name, all]) => [
      code(name),
      all.map(({ status }) => status).join(", "),
      plain(advice[name]!),
    ]);
    return `## ${title}\n\n${table(["code", "status", "what to do"], rows)}`;
  });
  return page(
    "Error codes",
    MADE,
    "Codes with their HTTP status, and what a caller does about each. Codes are stable; messages are not. OpenAPI documents have the same sentences as `x-advice` of the error's `code`.",
    ...sections,
  );
}

function metricsPage(): string {
  const labels = new Map(
    [...read("metric-labels.txt").matchAll(/^(\w+) \{(.+)\}$/gm)].map(([, name, names]) => [name!, names!.split(", ")]),
  );
  const lines = metrics().map(([name, type]) => {
    const own = labels.get(name) ?? [];
    return `- ${code(name)}: ${type}${own.length === 0 ? "" : `, by ${own.map(code).join(", ")}`}`;
  });
  return page("Metrics", MADE, "`GET /metrics` describes each of them.", lines.join("\n"));
}

function librariesPage(): string {
  const byLicence = new Map<string, string[]>();
  for (const { id, licence } of libraryComponents(root)) byLicence.set(licence, [...byLicence.get(licence) ?? [], id]);
  const sections = [...byLicence].sort(([a], [b]) => a < b ? -1 : 1)
    .map(([licence, ids]) => `## ${licence}\n\n${ids.map(code).join(", ")}`);
  const made =
    "`deno task docs` writes this page from `deno.prod.lock`; `deno task sbom` writes the same as a CycloneDX file.";
  return page("Libraries", made, "The libraries of the programs, by the licence that each states.", ...sections);
}

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly enum?: readonly string[];
}
interface EventDocument {
  readonly channels: Readonly<Record<string, { readonly parameters: { readonly transition: { enum: string[] } } }>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** `PARENT_LOST` as events name it. */
const kebab = (type: string) => type.toLowerCase().replaceAll("_", "-");

function eventsPage(): string {
  const { channels, components: { schemas } } = JSON.parse(read("documents/asyncapi.json")) as EventDocument;
  const kinds = Object.keys(channels).filter((kind) => `${kind}-event` in schemas);
  const sections = kinds.map((kind) => {
    const { transitions } = JSON.parse(read(`kinds/${kind}.json`)) as { transitions: Record<string, string> };
    const names = channels[kind]!.parameters.transition.enum.filter((name) => name !== "*");
    const parts = names.map((name) => {
      const from = Object.keys(transitions).map((key) => key.split(" ") as [string, string])
        .filter(([, type]) => kebab(type) === name).map(([state]) => code(state));
      const content = schemas[`${kind}.${name}`];
      const members = Object.entries(content?.properties ?? {}).map(([member, { description, type }]) =>
        `- ${code(member)}${content!.required?.includes(member) ? "" : " (optional)"}: ${description ?? `${type}.`}`
      );
      const text = members.length > 0 ? members.join("\n") : "No content beside the states.";
      return `### ${code(`${kind}.${name}`)}\n\n${from.length === 0 ? "" : `From ${from.join(", ")}.\n\n`}${text}`;
    });
    return `## ${kind}\n\n${parts.join("\n\n")}`;
  });
  return page(
    "Events",
    MADE,
    "Each transition by the kind of its actor, with the states in which it is possible and the members of `data.content`. " +
      "`GET /asyncapi.json` of the operator service has the schemas; [events](../events.md) says how to subscribe.",
    ...sections,
  );
}

/** A text of a help in Markdown: its angle brackets are no HTML. */
const plain = (text: string) => text.replaceAll("<", "\\<");

const optionsOf = ({ options }: Command) =>
  options.map(({ flags, description }) => `- ${code(flags)}: ${plain(description)}`).join("\n");

function commandText(command: Command): string {
  const words = [...command.registeredArguments].map((argument) => {
    const word = `${argument.name()}${argument.variadic ? "..." : ""}`;
    return argument.required ? `<${word}>` : `[${word}]`;
  });
  const options = optionsOf(command);
  const usage = code([pathOf(command), ...words].join(" "));
  return [`### ${pathOf(command)}`, `${usage}: ${plain(command.description())}.`, options]
    .filter((text) => text !== "").join("\n\n");
}

function commandsPage(): string {
  const programs = [arborProgram(), cardanoWalletProgram()].map((program) => {
    const leaves = commandsOf(program).filter(({ commands }) => commands.length === 0);
    const parts = [
      `## ${program.name()}`,
      plain(program.description()),
      optionsOf(program),
      ...leaves.map(commandText),
    ];
    return parts.filter((text) => text !== "").join("\n\n");
  });
  return page(
    "Commands",
    "`deno task docs` writes this page from the programs.",
    "Every command of `arbor` and `cardano-wallet`, with its arguments and options. [arbor](../cli.md) and " +
      "[cardano-wallet](../cli-cardano-wallet.md) say how to use them.",
    ...programs,
  );
}

/** The first sentence of a page, without its markup. */
function firstSentence(text: string): string {
  const prose = text.replace(/<!--.*?-->|^```.*?^```$/gms, "");
  const paragraph = prose.split(/\n{2,}/).find((part) => /^(?!`deno task docs`)[A-Z`[]/.test(part.trim())) ?? "";
  const plain = paragraph.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[`*]/g, "").replace(/\s+/g, " ").trim();
  return /^.*?\.(?= [A-Z]|$)/.exec(plain)?.[0] ?? plain;
}

/** The list of pages for programs that read documentation, by https://llmstxt.org. */
function llmsText(made: Readonly<Record<string, string>>): string {
  const sections = KINDS.map(({ name, purpose, pages }) => {
    const lines = pages.map(([file, title]) => {
      const text = made[`docs/${file}.md`] ?? readPage(`docs/${file}.md`);
      return `- [${title}](${file}.md): ${firstSentence(text)}`;
    });
    return `## ${name}\n\n${purpose}\n\n${lines.join("\n")}`;
  });
  return `${
    [
      "# Arbor",
      "> Authenticated facts and wallets on Cardano as live actors: a token service, a wallet service with cardano-wallet's " +
      "HTTP API, an operator service, and a devnet with mainnet's rules, in TypeScript on Deno.",
      ...sections,
    ].join("\n\n")
  }\n`;
}

/** The reference pages by their paths from the root, and the list of all pages. */
export function referencePages(): Readonly<Record<string, string>> {
  const made = madePages();
  return { ...made, "docs/llms.txt": llmsText(made) };
}

const madePages = (): Readonly<Record<string, string>> => ({
  "docs/reference/options.md": optionsPage(),
  "docs/reference/endpoints.md": endpointsPage(),
  "docs/reference/errors.md": errorsPage(),
  "docs/reference/metrics.md": metricsPage(),
  "docs/reference/libraries.md": librariesPage(),
  "docs/reference/events.md": eventsPage(),
  "docs/reference/commands.md": commandsPage(),
});
