/**
 * Runs the steps of the Dockerfile in a folder, where there is no engine for images: `/arbor` of a stage is `arbor` in the
 * folder, and so are the other folders of an image. What a step reads of the base (Deno, an account without rights) is the
 * machine's own.
 */
import { execFile, spawn } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { promisify } from "node:util";

/** Folders of an image that steps write. */
const FOLDERS = ["arbor", "deno-dir", "data", "tmp"];
/** The account without rights of this machine, for that of the base; only root can use another one. */
export const ACCOUNT = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

interface Step {
  readonly name: string;
  readonly text: string;
}

/** What an image says of its containers. */
export interface Image {
  readonly environment: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly user: string | undefined;
  readonly command: readonly string[];
  readonly healthCommand: readonly string[];
}

/** The steps of a Dockerfile, each on one line. */
function stepsOf(text: string): Step[] {
  return text.replace(/^#.*\n/gm, "").replace(/\\\n\s*/g, "").split("\n").filter(Boolean).map((line) => {
    const [, name, rest] = /^(\w+) (.*)$/.exec(line)!;
    return { name: name!, text: rest! };
  });
}

const pairs = (text: string) =>
  Object.fromEntries([...text.matchAll(/([\w.]+)=(?:"([^"]*)"|(\S+))/g)].map(([, key, a, b]) => [key!, a ?? b!]));
const list = (text: string): string[] => JSON.parse(text.slice(text.indexOf("[")));

/** Builds the image of a checkout in a folder; `args` are build arguments. */
export async function buildImage(
  checkout: string,
  folder: string,
  args: Readonly<Record<string, string>>,
): Promise<Image> {
  const image = { environment: {}, labels: {}, user: undefined as string | undefined };
  const commands = { ENTRYPOINT: [] as string[], CMD: [] as string[], HEALTHCHECK: [] as string[] };
  let given: Record<string, string> = {};
  const stages: Record<string, string> = {};
  let [at, name] = ["", ""];
  const here = (text: string) =>
    text.replace(new RegExp(`(?<![\\w.])/(?=(?:${FOLDERS.join("|")})\\b)`, "g"), `${folder}/`);
  const filled = (text: string) => text.replace(/\$\{(\w+)\}/g, (_, key: string) => given[key] ?? "");
  // the base has Deno where each account may run it
  mkdirSync(`${folder}-base`, { recursive: true });
  copyFileSync(process.execPath, `${folder}-base/deno`);
  for (const { name: step, text } of stepsOf(readFileSync(path.join(checkout, "Dockerfile"), "utf8"))) {
    if (step === "FROM") {
      if (name !== "") renameSync(folder, stages[name] = `${folder}-${name}`);
      name = / AS (\w+)$/.exec(text)?.[1] ?? "";
      for (const one of FOLDERS) mkdirSync(path.join(folder, one), { recursive: true });
      [at, given] = [folder, {}];
    } else if (step === "ARG") given = { ...given, ...pairs(text), ...args };
    else if (step === "WORKDIR") at = here(text);
    else if (step === "USER") image.user = text;
    else if (step === "ENV") Object.assign(image.environment, pairs(here(filled(text))));
    else if (step === "LABEL") Object.assign(image.labels, pairs(filled(text)));
    else if (step === "ENTRYPOINT" || step === "CMD" || step === "HEALTHCHECK") commands[step] = list(text);
    else if (step === "COPY") {
      const [, from, rest] = /^(?:--from=(\w+) )?(.*)$/.exec(text)!;
      const files = rest!.split(" ");
      const target = path.resolve(at, here(files.pop()!));
      for (const file of files) {
        const to = rest!.endsWith("./") ? path.join(target, file) : target;
        cpSync(path.join(from === undefined ? checkout : stages[from]!, file), to, {
          recursive: true,
          verbatimSymlinks: true,
        });
      }
    } else if (step === "RUN") {
      const env = { ...process.env, PATH: pathOf(folder), DENO_DIR: path.join(folder, "deno-dir") };
      // the account of the base; here the test sets owners
      const script = here(text).replace(/ && chown deno:deno \S+/, "");
      await promisify(execFile)("sh", ["-ec", script], { cwd: at, env, maxBuffer: 1 << 26 });
    } else if (!["EXPOSE", "VOLUME", "STOPSIGNAL"].includes(step)) throw new Error(`${step} is not known here`);
  }
  // tini is of the base
  const { ENTRYPOINT: entry, CMD: command, HEALTHCHECK: healthCommand } = commands;
  return { ...image, command: [...entry.slice(entry.indexOf("--") + 1), ...command], healthCommand };
}

const pathOf = (folder: string) => `${folder}-base:${process.env.PATH}`;

/** Starts a command of an image as a container does: as the account without rights, in its folder, with its environment. */
export function startIn(folder: string, { environment }: Image, command: readonly string[], env = {}) {
  const [program, ...rest] = command;
  return spawn(program === "deno" ? `${folder}-base/deno` : program!, rest, {
    cwd: path.join(folder, "arbor"),
    env: {
      PATH: pathOf(folder),
      ...environment,
      DENO_DIR: path.join(folder, "deno-dir"),
      HOME: "/nonexistent",
      TMPDIR: path.join(folder, "tmp"),
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
    ...ACCOUNT,
  });
}

/** Takes the right to write from all files below a folder. */
export async function makeReadOnly(folder: string): Promise<void> {
  chmodSync(folder, 0o555);
  await promisify(execFile)("chmod", ["-R", "a-w", folder]);
}
