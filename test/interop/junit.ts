/** Test classes of Java, run by JUnit in a process of its own. */
import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";

export interface JavaTests {
  /** Folder with `lib`, the jars. */
  readonly cwd: string;
  /** Folders of compiled classes and resources. */
  readonly classes: readonly string[];
  /** Name of the class whose tests are run. */
  readonly className: string;
  /** System properties. */
  readonly properties?: Readonly<Record<string, string>>;
}

/** Runs a program; gives what it printed. Rejects where `isGood` does not take its exit code. */
export async function runProgram(
  program: string,
  args: readonly string[],
  cwd: string,
  isGood: (code: number | null) => boolean = (code) => code === 0,
): Promise<string> {
  const child = spawn(program, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      printed = (printed + text).slice(-20_000);
      if (process.env.ARBOR_TEST_OUTPUT) process.stderr.write(text);
    });
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  if (!isGood(code)) throw new Error(`${program} ended with ${code}: ${printed}`);
  return printed;
}

/** Runs the tests of a class: by the name of each, the message of its failure, or `passed`. */
export async function runJavaTests(tests: JavaTests): Promise<ReadonlyMap<string, string>> {
  const { cwd, classes, className, properties = {} } = tests;
  const jars = (await readdir(path.join(cwd, "lib"))).map((name) => path.join("lib", name));
  const console = jars.find((name) => name.includes("junit-platform-console-standalone"));
  if (!console) throw new Error("there is no JUnit");
  const reports = await mkdtemp(path.join(tmpdir(), "arbor-junit-"));
  try {
    const given = Object.entries(properties).map(([name, value]) => `-D${name}=${value}`);
    const classpath = [...classes, ...jars.filter((name) => name !== console)].join(path.delimiter);
    const select = ["--select-class", className, "--reports-dir", reports, "--details", "none"];
    // 1: a test failed
    const isGood = (code: number | null) => code === 0 || code === 1;
    await runProgram("java", [...given, "-jar", console, "execute", "-cp", classpath, ...select], cwd, isGood);
    return readReport(await readFile(path.join(reports, "TEST-junit-jupiter.xml"), "utf8"));
  } finally {
    await rm(reports, { recursive: true, force: true });
  }
}

/** The tests in a report of JUnit. */
function readReport(xml: string): ReadonlyMap<string, string> {
  const cases = xml.matchAll(/<testcase name="(\w+)\(\)"[^>]*>([\s\S]*?)<\/testcase>/g);
  return new Map([...cases].map(([, name = "", content = ""]) => {
    const failure = /<(?:failure|error)(?: message="([^"]*)")?/.exec(content);
    return [name, failure ? failure[1] ?? "failed" : "passed"] as const;
  }));
}
