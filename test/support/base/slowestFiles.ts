/** Prints the ten test files that took longest, after a run. */
import process from "node:process";
import path from "node:path";
import type { Reporter, TestModule } from "vitest/node";

export default class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    if (modules.length < 2) return;
    const files = modules.map((module) => ({
      name: path.relative(process.cwd(), module.moduleId),
      ms: module.diagnostic().duration,
    }));
    process.stdout.write("\nSlowest test files:\n");
    for (const { name, ms } of files.sort((a, b) => b.ms - a.ms).slice(0, 10)) {
      process.stdout.write(`${(ms / 1_000).toFixed(1).padStart(8)} s  ${name}\n`);
    }
  }
}
