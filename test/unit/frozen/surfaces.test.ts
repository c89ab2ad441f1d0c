/** The names that people and programs use: options, the command line, error codes. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
// these declare every metric of a process
import "#src/app/application.ts";
import "#src/app/devnetRole.ts";
import "#src/app/edgeRole.ts";
import "#src/app/followerRole.ts";
import "#src/app/signerRole.ts";
import "#src/app/workerRole.ts";
import { HELP, readOptions } from "#src/app/options.ts";
import { metrics } from "#src/base/metrics.ts";
import { arborProgram } from "#src/cli/arbor/program.ts";
import { commandsOf, pathOf } from "#src/cli/commandTree.ts";
import { type AdvisedService, ERROR_ADVICE } from "#src/base/errorAdvice.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { refusal as operator } from "#src/operators/http/status.ts";
import { refusal as tokens } from "#src/tokens/http/status.ts";
import { refusal as wallets } from "#src/wallets/http/status.ts";
import { expectFrozen, expectFrozenLines } from "../../support/base/frozenFiles.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

it("the options of a start, their environment variables and defaults", async () => {
  const defaults = readOptions([], {});
  if (!defaults.ok || defaults.value === "help") throw new Error("no defaults");
  const shown = JSON.stringify(
    { ...defaults.value, worker: "<process>" },
    (_, value) => value instanceof Set ? [...value] : typeof value === "bigint" ? `${value}` : value,
    2,
  );
  for (const [, name] of HELP.matchAll(/^ {2}--([a-z-]+) /gm)) {
    expect(readOptions([`--${name}`, ""], {}), `--${name} is an option`).not.toMatchObject({
      error: { message: expect.stringContaining("Unknown option") },
    });
  }
  await expectFrozen("options.txt", `${HELP}\n\nDefaults: ${shown}`);
});

it("the help of every command of the command line", async () => {
  const help = commandsOf(arborProgram()).map((command) => {
    let text = "";
    // the program's own help lists the options of all commands
    command.configureHelp({ showGlobalOptions: false });
    command.configureOutput({ writeOut: (part) => text += part, getOutHelpWidth: () => 120 }).outputHelp();
    return `$ ${pathOf(command)} --help\n${text}`;
  });
  await expectFrozen("cli.txt", help.join("\n"));
});

/** All sources with their text. */
function* sources(folder: string): Generator<{ readonly file: string; readonly text: string }> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) yield* sources(file);
    else if (file.endsWith(".ts")) yield { file, text: readFileSync(file, "utf8") };
  }
}

it("error codes and their HTTP status", async () => {
  const code = /"([a-z]+(?:_[a-z0-9]+)+|[a-z]+)"|\b([a-z]+(?:_[a-z0-9]+)*): \d{3}\b/g;
  const found = new Set<string>();
  const lines: string[] = [];
  for (
    const { file, text } of ["src", "actors", "machines"].flatMap((folder) => [...sources(path.join(root, folder))])
  ) {
    for (const [, quoted, named] of text.matchAll(code)) found.add((quoted ?? named)!);
    // thrown by the edge with their status
    for (const [, status, literal] of text.matchAll(/\b([45]\d\d),\s*"([a-z]+(?:_[a-z0-9]+)*)"/g)) {
      lines.push(`edge ${literal} ${status}`);
    }
    // statuses of the routes that several services, the devnet and signing services have
    const service = /[/]src[/](devnet|signer|chain)[/]/.exec(file)?.[1];
    for (const [, statuses = ""] of service ? text.matchAll(/\brefusalOf\(\{(.*?)\}\)/gs) : []) {
      for (const [, named, status] of statuses.matchAll(/\b(\w+): (\d{3})\b/g)) {
        lines.push(`${service === "chain" ? "edge" : service} ${named} ${status}`);
      }
    }
  }
  // each word of the sources is tried as a code: one that a service has a status for is one
  for (const [service, refusal] of Object.entries({ tokens, wallets, operator })) {
    for (const word of found) {
      const thrown = refusal({ code: word, message: "" });
      if (thrown instanceof HttpFailure) lines.push(`${service} ${word} ${thrown.status}`);
    }
  }
  expect(lines.length).toBeGreaterThan(100);
  await expectFrozenLines("errors.txt", lines);
  const advised = (service: string, code: string) => code in ERROR_ADVICE[service as AdvisedService];
  const codes = [...new Set(lines)].map((line) => line.split(" ") as [service: string, code: string]);
  expect(codes.filter(([service, code]) => !advised(service, code))).toEqual([]);
  const without = Object.entries(ERROR_ADVICE).flatMap(([service, advice]) =>
    Object.keys(advice).filter((code) => !codes.some(([, one]) => one === code)).map((code) => `${service} ${code}`)
  );
  expect(without, "advice on codes that no service gives").toEqual([]);
});

it("advice on error codes is one sentence that names something, another one for each code", () => {
  const codesOf = new Map<string, Set<string>>();
  for (const advice of Object.values(ERROR_ADVICE)) {
    for (const [code, text] of Object.entries(advice)) codesOf.set(text, (codesOf.get(text) ?? new Set()).add(code));
  }
  expect([...codesOf].filter(([, codes]) => codes.size > 1)).toEqual([]);
  // no sentence ends within it
  const texts = [...codesOf.keys()];
  expect(texts.filter((text) => !/^[A-Z](?:[^.]|\.(?! ))*\.$/.test(text) || text.length > 170)).toEqual([]);
});

it("metrics and their labels", async () => {
  const families = metrics.registry.getMetricsAsArray() as unknown as readonly { name: string; labelNames: string[] }[];
  expect(families.length).toBeGreaterThan(40);
  await expectFrozenLines(
    "metric-labels.txt",
    families.map(({ name, labelNames }) => `${name} {${labelNames.join(", ")}}`),
  );
});
