/** compose.yaml sets only variables that the options define. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { HELP, ROLES } from "#src/app/options.ts";

const text = readFileSync(new URL("../../../compose.yaml", import.meta.url), "utf8");

describe("compose.yaml", () => {
  it("sets only variables that exist", () => {
    const names = new Set([...text.matchAll(/\s((?:ARBOR|NATS|DATABASE)_[A-Z_]+): /g)].map(([, name]) => name!));
    expect(names.size).toBeGreaterThan(5);
    expect([...names].filter((name) => !HELP.includes(name))).toEqual([]);
  });

  it("gives the NATS server the shipped configuration, and the variables that it reads", () => {
    const [, file] = /"\.\/(\S+):\/etc\/nats\/arbor\.conf:ro"/.exec(text)!;
    const configuration = readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8");
    const variables = [...configuration.matchAll(/: \$([A-Z_]+)/g)].map(([, name]) => name!);
    expect(variables).toEqual(["SERVICE_PASSWORD", "READER_PASSWORD"]);
    const [, environment] = /environment: \{ (SERVICE_PASSWORD: .*) \}/.exec(text)!;
    expect([...environment!.matchAll(/([A-Z_]+): "/g)].map(([, name]) => name)).toEqual(variables);
    const [, user] = /NATS_USER: (\w+)/.exec(text)!;
    expect(configuration).toContain(`{ user: ${user}, password: $`);
  });

  it("has every role, and queries the health of each process on its port", () => {
    const played = [...text.matchAll(/ARBOR_ROLES: (\w+)/g)].map(([, role]) => role!);
    expect([...new Set(played)].sort()).toEqual([...ROLES].sort());
    const [, port] = /ARBOR_HEALTH_PORT: (\d+)/.exec(text)!;
    expect(text).toContain(`http://127.0.0.1:${port}/ready`);
  });
});
