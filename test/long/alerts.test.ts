/** The alert rules and the configuration beside them, judged by Prometheus' own programs. */
import { execFileSync, spawnSync } from "node:child_process";
import process from "node:process";
import { describe, expect, it } from "vitest";

const env = { ...process.env, PATH: `${process.env.PATH}:/usr/local/bin` };
const run = (program: string, ...args: string[]) =>
  execFileSync(program, args, { cwd: "examples/deploy/prometheus", env, encoding: "utf8" });
const has = ["promtool", "amtool"].every((program) => spawnSync(program, ["--version"], { env }).status === 0);
if (!has) {
  console.warn("SKIPPED: no promtool and amtool. On Debian: apt-get install prometheus prometheus-alertmanager.");
}

describe.skipIf(!has)("Prometheus", () => {
  it("takes the configuration with its rules", () => {
    expect(run("promtool", "check", "config", "prometheus.yml")).toContain("SUCCESS");
  });

  it("fires each alert once, and keeps it silent once", () => {
    expect(run("promtool", "test", "rules", "tests.yaml")).toContain("SUCCESS");
  });

  it("has an Alertmanager that takes its own", () => {
    expect(run("amtool", "check-config", "alertmanager.yml")).toContain("SUCCESS");
  });
});
