/** compose.yaml: one image for all roles, secrets that have to be given, limits, and variables that the options define. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { HELP, ROLES } from "#src/app/options.ts";

const root = new URL("../../../", import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), "utf8");
const text = read("compose.yaml");
const [parts, list] = text.replace(/^ *#.*\n/gm, "").split(/^services:\n/m) as [string, string];

/** What a name stands for where the file merges it. */
const anchors = new Map(
  [...text.matchAll(/^( *)[\w-]+: &(\w+)\n((?:\1 +.*\n|\n)+)/gm)].map(([, , name, body]) => [name!, body!]),
);
/** A part with what it merges. */
const merged = (body: string): string =>
  body.replace(/^ *(?:<<: |[\w-]+: )\*(\w+)$/gm, (line, name) => `${line}\n${merged(anchors.get(name) ?? "")}`);
const services = new Map(
  [...list.split(/^volumes:\n/m)[0]!.matchAll(/^ {2}([\w-]+):(?: &\w+| (\*\w+))?\n((?: {4}.*\n)*)/gm)].map((
    [, name, alias, body],
  ) => [name!, merged(alias === undefined ? body! : `    <<: ${alias}`)]),
);
const ofImage = [...services].filter(([, body]) => /image: &image/.test(body)).map(([name]) => name);

describe("compose.yaml", () => {
  it("sets only variables that exist", () => {
    const names = new Set([...text.matchAll(/\s((?:ARBOR|NATS|DATABASE)_[A-Z_]+): /g)].map(([, name]) => name!));
    expect(names.size).toBeGreaterThan(5);
    expect([...names].filter((name) => !HELP.includes(name))).toEqual([]);
  });

  it("gives the NATS server the shipped configuration, and the variables that it reads", () => {
    const [, file] = /"\.\/(\S+):\/etc\/nats\/arbor\.conf:ro"/.exec(text)!;
    const configuration = read(file!);
    const variables = [...configuration.matchAll(/: \$([A-Z_]+)/g)].map(([, name]) => name!);
    expect(variables).toEqual(["SERVICE_PASSWORD", "READER_PASSWORD"]);
    const [, environment] = /environment: \{\s*(SERVICE_PASSWORD: [\s\S]*?),?\s*\}\n/.exec(text)!;
    // without the inner quotes a password like 7e1... is a number there
    expect([...environment!.matchAll(/([A-Z_]+): "'\$\{.*?\}'"/g)].map(([, name]) => name)).toEqual(variables);
    const [, user] = /NATS_USER: (\w+)/.exec(text)!;
    expect(configuration).toContain(`{ user: ${user}, password: $`);
  });

  it("has every role, and queries the health of each process on its port", () => {
    const played = [...text.matchAll(/ARBOR_ROLES: (\w+)/g)].map(([, role]) => role!);
    expect([...new Set(played)].sort()).toEqual([...ROLES].sort());
    // the image's own check, and the balancer's
    const [, port] = /ARBOR_HEALTH_PORT: (\d+)/.exec(text)!;
    expect(read("Dockerfile")).toContain(`ARBOR_HEALTH_PORT=${port}`);
    expect(read("Dockerfile")).toMatch(/^HEALTHCHECK .*\\\n.*"src\/app\/healthcheck\.ts"\]$/m);
    expect(read("examples/deploy/haproxy/haproxy.cfg")).toContain(`check port ${port}`);
  });

  it("builds the image once, and runs it without the sources", () => {
    expect(ofImage).toHaveLength(11);
    expect(text.match(/^ *build:/gm)).toHaveLength(1);
    expect(text).not.toMatch(/"\.:|\["install"\]/);
    for (const [name, body] of services) {
      if (ofImage.includes(name) && name !== "migrations") expect(body, name).toContain("migrations: { condition");
    }
  });

  it("pins the other images to a version", () => {
    const images = [...text.matchAll(/image: (?!&)(\S+)/g)].map(([, image]) => image!);
    expect(images).toHaveLength(6);
    for (const image of images) expect(image).toMatch(/:v?\d+\.\d+(\.\d+)?(-alpine)?$/);
  });

  it("has no default for a secret, and .env.example names each", () => {
    const secrets = [...text.matchAll(/\$\{(\w+):\?make \.env first\}/g)].map(([, name]) => name!);
    const named = [...read(".env.example").matchAll(/^(\w+)=$/gm)].map(([, name]) => name!);
    expect([...new Set(secrets)].sort()).toEqual(named.sort());
    expect(text.match(/\$\{\w*(?:TOKEN|PASSWORD)\w*:-/g)).toBeNull();
    // the command that makes them
    const [command] = /for name in .*openssl.*/.exec(text)!;
    expect(read(".env.example")).toContain(command);
    expect(/in (.*?);/.exec(command)![1]!.split(" ").map((name) => `ARBOR_${name}`).sort()).toEqual(named.sort());
  });

  it("limits and guards each container", () => {
    expect(services.size).toBe(17);
    for (const [name, body] of services) {
      for (const part of ["mem_limit:", "cpus:", "cap_drop: [ALL]", "no-new-privileges:true", "max-size:"]) {
        expect(body, name).toContain(part);
      }
      // Grafana writes beside its data
      if (name !== "grafana") expect(body, name).toContain("read_only: true");
    }
  });

  it("publishes ports on this machine only, and mounts files that exist", () => {
    for (const [, port] of parts.concat(list).matchAll(/"((?:[\d.]+:)?\d+:\d+)"/g)) {
      expect(port).toMatch(/^127\.0\.0\.1:/);
    }
    const mounted = [...text.matchAll(/"\.\/([^:"]+):/g)].map(([, file]) => file!);
    expect(mounted.length).toBeGreaterThan(4);
    expect(mounted.filter((file) => !existsSync(new URL(file, root)))).toEqual([]);
  });
});

describe("examples of a deployment", () => {
  const files = readdirSync(new URL("examples/deploy/", root), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(service|yaml|tpl)$/.test(file)).map((file) => read(`examples/deploy/${file}`)).join("\n");

  it("set only variables that exist", () => {
    const names = new Set(files.match(/\b(?:ARBOR|NATS|DATABASE)_[A-Z_]+\b/g));
    expect(names.size).toBeGreaterThan(10);
    expect([...names].filter((name) => !HELP.includes(name))).toEqual([]);
  });

  it("are of this release", () => {
    const { version } = JSON.parse(read("package.json"));
    expect(read("examples/deploy/helm/arbor/Chart.yaml")).toContain(`appVersion: "${version}"`);
    expect(read("Dockerfile")).toContain(`ARG VERSION=${version}\n`);
  });
});
