/** Thresholds of the log out of options with cardano-wallet's severities and tracers. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createLog, LEVELS } from "#src/base/log.ts";
import { readLogOptions, TRACER_NAMES, TRACERS } from "#src/app/logOptions.ts";

function read(options: Readonly<Record<string, string>>) {
  const problems: string[] = [];
  return { read: readLogOptions((name) => options[name], (sentence) => problems.push(sentence)), problems };
}

describe("log options", () => {
  it("know the eight tracers and the eight severities, in upper and lower case", () => {
    expect(TRACER_NAMES).toEqual([
      "application",
      "api-server",
      "wallet-engine",
      "wallet-db",
      "pools-engine",
      "pools-db",
      "ntp-client",
      "network",
    ]);
    const severities = ["debug", "INFO", "Notice", "warning", "error", "critical", "alert", "emergency"];
    const all = severities.map((severity) => {
      const { read: { all }, problems } = read({ "log-level": severity });
      expect(problems).toEqual([]);
      return all;
    });
    expect(all).toEqual([...LEVELS]);
  });

  it("are warn for everything by default, and each tracer has its own threshold", () => {
    expect(read({}).read).toMatchObject({ all: "warn", components: { "": "debug", edge: "debug", node: "debug" } });
    const { components } =
      read({ "trace-api-server": "off", "trace-network": "alert", "trace-application": "notice" }).read;
    expect(components).toMatchObject({ edge: "off", node: "alert", follower: "alert", "": "notice", worker: "debug" });
  });

  it.each(TRACER_NAMES)("of --trace-%s show and hide its own lines at each severity, in order", (tracer) => {
    const own = Object.entries(TRACERS).find(([name]) => name === tracer)![1].map((name) => name || "another");
    for (const [rank, severity] of [...LEVELS, "off"].entries()) {
      const { read: thresholds, problems } = read({ "log-level": "debug", [`trace-${tracer}`]: severity });
      expect(problems).toEqual([]);
      const lines: string[] = [];
      const log = createLog(thresholds, {}, (line) => lines.push(JSON.parse(line).message));
      for (const component of own) {
        for (const level of LEVELS) log.with({ component })[level](`${component} ${level}`);
      }
      expect(lines).toEqual(own.flatMap((component) => LEVELS.slice(rank).map((level) => `${component} ${level}`)));
      const [others] = Object.entries(TRACERS).flatMap(([name, some]) => name === tracer ? [] : [some[0]]);
      log.with({ component: others || "another" }).debug("of another tracer");
      expect(lines.at(-1)).toBe("of another tracer");
    }
  });

  it("name components that write lines", () => {
    const folder = new URL("../../../src/", import.meta.url);
    const sources = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
    const text = sources.map((name) => readFileSync(new URL(name, folder), "utf8")).join("\n");
    const names = Object.values(TRACERS).flat().filter((name) => name !== "");
    expect(names.filter((name) => !text.includes(`component: "${name}"`))).toEqual([]);
  });

  it("refuse other words", () => {
    const { problems } = read({ "log-level": "off", "trace-wallet-db": "loud", "trace-network": "__proto__" });
    expect(problems).toEqual([
      "--trace-wallet-db is one of debug, info, notice, warning, warn, error, critical, alert, emergency, off, not loud",
      "--trace-network is one of debug, info, notice, warning, warn, error, critical, alert, emergency, off, not __proto__",
      "--log-level is one of debug, info, notice, warning, warn, error, critical, alert, emergency, not off",
    ]);
  });
});
