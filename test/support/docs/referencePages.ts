/** The reference pages of the documentation, made from the frozen forms, which tests compare with the running code. */
import { readFileSync } from "node:fs";
import { DENO_TASK } from "#src/base/deno.ts";
import { arborProgram } from "#src/cli/arbor/program.ts";
import { commandsOf } from "#src/cli/commandTree.ts";
import { libraryComponents } from "#src/packages/components.ts";
import { frozenPath } from "../base/frozenFiles.ts";

import { root } from "./pages.ts";

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

function errorsPage(): string {
  const codes = errorCodes();
  const titles = {
    edge: "All services",
    tokens: "Token service",
    wallets: "Wallet service",
    operator: "Operator service",
  };
  const sections = Object.entries(titles).map(([service, title]) => {
    const own = codes.filter((one) => one.service === service);
    const statuses = [...new Set(own.map(({ status }) => status))].sort();
    const lines = statuses.map((status) =>
      `- ${status}: ${own.filter((one) => one.status === status).map((one) => code(one.code)).join(", ")}`
    );
    return `## ${title}\n\n${lines.join("\n")}`;
  });
  return page("Error codes", MADE, "Codes with their HTTP status. Codes are stable; messages are not.", ...sections);
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

/** The reference pages by their paths from the root. */
export const referencePages = (): Readonly<Record<string, string>> => ({
  "docs/reference/options.md": optionsPage(),
  "docs/reference/endpoints.md": endpointsPage(),
  "docs/reference/errors.md": errorsPage(),
  "docs/reference/metrics.md": metricsPage(),
  "docs/reference/libraries.md": librariesPage(),
});
