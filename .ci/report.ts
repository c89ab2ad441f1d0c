/** Reads vitest's JSON reports: prints the ten slowest test files, then `passed failed` as the last line. */
interface Report {
  readonly success: boolean;
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly startTime: number;
    readonly endTime: number;
    readonly assertionResults: readonly unknown[];
  }[];
}

let passed = 0;
let failed = 0;
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
  const failures = report.numFailedTests + broken.length;
  passed += report.numPassedTests;
  failed += failures === 0 && !report.success ? 1 : failures;
  for (const { name, startTime, endTime } of report.testResults) {
    files.push({ name: name.replace(/^.*\/(?=test\/)/, ""), ms: endTime - startTime });
  }
}
console.log("Slowest test files:");
for (const { name, ms } of files.sort((a, b) => b.ms - a.ms).slice(0, 10)) {
  console.log(`${(ms / 1_000).toFixed(1).padStart(8)} s  ${name}`);
}
console.log(passed, failed);
