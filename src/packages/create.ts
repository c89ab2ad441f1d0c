/**
 * The program `create-arbor`: writes a small project from a template, with the packages that it needs from a folder of a
 * release. The project has copies of them, so that it can be moved and installed elsewhere.
 */
import { copyFileSync, cpSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createFolder } from "#src/base/createFolder.ts";
import { fileFault } from "#src/base/fileFault.ts";
import { VERSION } from "#src/base/version.ts";

const TEMPLATES = ["actor", "dapp-test"] as const;

const HELP = `Usage: create-arbor FOLDER [options]

Writes a project into a new folder.

  --template NAME   actor: durable actors; dapp-test: tests of a dApp on a devnet (actor)
  --packages DIR    folder of an Arbor release, with its tarballs (the current folder)
  -h, --help        this text`;

/** A folder's name as npm has names. */
const nameFrom = (folder: string) =>
  path.basename(folder).toLowerCase().replace(/[^a-z0-9._-]+/g, "-").replace(/^[._-]+/, "") || "project";

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** Why no project was written. */
class Refusal extends Error {
  constructor(readonly code: string, message: string) {
    super(message);
  }
}

/**
 * Writes a project; gives the lines that say what is next.
 *
 * @throws {Refusal} `folder_in_use`, `packages_missing`
 */
function create(folder: string, template: typeof TEMPLATES[number], packages: string): readonly string[] {
  if (existsSync(folder) && readdirSync(folder).length > 0) {
    throw new Refusal("folder_in_use", `${folder} is not empty.`);
  }
  const source = fileURLToPath(new URL(`./templates/${template}/`, import.meta.url));
  const manifest = JSON.parse(readFileSync(path.join(source, "manifest.json"), "utf8")) as Manifest;
  const tarballs: string[] = [];
  const withFiles = (libraries: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(
      Object.entries(libraries).map(([name, version]) => {
        if (!name.startsWith("@arbor-cardano/")) return [name, version];
        const file = `${name.slice(1).replace("/", "-")}-${VERSION}.tgz`;
        if (!existsSync(path.join(packages, file))) {
          throw new Refusal("packages_missing", `There is no ${file} in ${packages}: --packages DIR names its folder.`);
        }
        tarballs.push(file);
        return [name, `file:packages/${file}`];
      }),
    );
  const { dependencies, devDependencies, ...rest } = manifest;
  const described = {
    name: nameFrom(folder),
    ...rest,
    ...(dependencies ? { dependencies: withFiles(dependencies) } : {}),
    ...(devDependencies ? { devDependencies: withFiles(devDependencies) } : {}),
  };
  createFolder(path.join(folder, "packages"));
  cpSync(source, folder, { recursive: true, filter: (file) => path.basename(file) !== "manifest.json" });
  // npm leaves a file of that name out of a package
  renameSync(path.join(folder, "gitignore"), path.join(folder, ".gitignore"));
  for (const file of tarballs) copyFileSync(path.join(packages, file), path.join(folder, "packages", file));
  writeFileSync(path.join(folder, "package.json"), `${JSON.stringify(described, null, 2)}\n`);
  return [
    `Wrote ${folder}. Next:`,
    `  cd ${path.relative(process.cwd(), folder) || "."}`,
    "  npm install",
    "  npm test",
  ];
}

/** Reads the command line and writes the project; gives the exit code. */
function main(): number {
  const say = (line: string) => process.stderr.write(`${line}\n`);
  let read;
  try {
    read = parseArgs({
      options: {
        template: { type: "string", default: "actor" },
        packages: { type: "string", default: "." },
        help: { type: "boolean", short: "h" },
      },
      allowPositionals: true,
    });
  } catch (error) {
    say(`${error instanceof Error ? error.message : String(error)} (bad_option)`);
    return 2;
  }
  const { values, positionals: [folder, ...others] } = read;
  if (values.help) {
    process.stdout.write(`${HELP}\n`);
    return 0;
  }
  const template = TEMPLATES.find((name) => name === values.template);
  if (folder === undefined || others.length > 0 || template === undefined) {
    say(template ? HELP : `--template is ${TEMPLATES.join(" or ")}, not ${values.template} (bad_option)`);
    return 2;
  }
  const project = path.resolve(folder);
  try {
    const lines = create(project, template, path.resolve(values.packages));
    process.stdout.write(`${lines.join("\n")}\n`);
    return 0;
  } catch (error) {
    const { code, message } = error instanceof Refusal
      ? error
      : new Refusal("folder_not_written", `${project} cannot be written: ${fileFault(error)}.`);
    say(`${message} (${code})`);
    return 1;
  }
}

process.exitCode = main();
