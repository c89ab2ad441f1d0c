/**
 * Reads vitest's JSON reports: prints the ten slowest test files and the tests that failed, then `passed failed` as the
 * last line.
 */
interface Report {
  readonly success: boolean;
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly startTime: number;
    readonly endTime: number;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[] | null;
    }[];
  }[];
}

let passed = 0;
let failed = 0;
const failures: string[] = [];
const files: { readonly name: string; readonly ms: number }[] = [];
for (const path of Deno.args) {
  let report: Report;
  try {
    report = JSON.parse(Deno.readTextFileSync(path));
  } catch {
    // A run that wrote no report failed as a whole.
    failed++;
    continue;
  }
  // A file that does not load has no tests of its own: it counts as one failure.
  const broken = report.testResults.filter((one) => one.status === "failed" && one.assertionResults.length === 0);
  const count = report.numFailedTests + broken.length;
  passed += report.numPassedTests;
  failed += count === 0 && !report.success ? 1 : count;
  for (const { name: path, status, message, startTime, endTime, assertionResults } of report.testResults) {
    const name = path.replace(/^.*\/(?=test\/)/, "");
    files.push({ name, ms: endTime - startTime });
    if (status === "failed" && assertionResults.length === 0) failures.push(`${name}: ${message}`);
    for (const { fullName, status, failureMessages } of assertionResults) {
      if (status === "failed") failures.push(`${name}: ${fullName}: ${failureMessages?.join("\n") ?? ""}`);
    }
  }
}
console.log("Slowest test files:");
for (const { name, ms } of files.sort((a, b) => b.ms - a.ms).slice(0, 10)) {
  console.log(`${(ms / 1_000).toFixed(1).padStart(8)} s  ${name}`);
}
for (const failure of failures) console.log(`FAILED ${failure.slice(0, 1_000)}`);
console.log(passed, failed);
