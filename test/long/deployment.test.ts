/** The files of a deployment, judged by the programs that read them, where these are installed. */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { describe, expect, it } from "vitest";

const env = { ...process.env, PATH: `${process.env.PATH}:/usr/local/bin:/usr/sbin` };
const examples = "examples/deploy";

function run(folder: string, program: string, ...args: string[]): string {
  const { stdout, stderr, status } = spawnSync(program, args, {
    cwd: path.join(examples, folder),
    env,
    encoding: "utf8",
  });
  expect(status, stdout + stderr).toBe(0);
  return stdout + stderr;
}

/** Whether programs are installed; prints what is skipped where they are not. */
function has(how: string, ...programs: string[]): boolean {
  const missing = programs.filter((program) => spawnSync(program, ["--help"], { env }).error !== undefined);
  if (missing.length > 0) console.warn(`SKIPPED: no ${missing.join(", ")}. ${how}`);
  return missing.length === 0;
}

describe.skipIf(!has("On Debian: apt-get install prometheus prometheus-alertmanager.", "promtool", "amtool"))(
  "Prometheus",
  () => {
    it("takes the configuration with its rules", () => {
      expect(run("prometheus", "promtool", "check", "config", "prometheus.yml")).toContain("SUCCESS");
    });

    it("fires each alert once, and keeps it silent once", () => {
      expect(run("prometheus", "promtool", "test", "rules", "tests.yaml")).toContain("SUCCESS");
    });

    it("takes each query of the dashboard", () => {
      const file = path.join(mkdtempSync(path.join(tmpdir(), "arbor-queries-")), "rules.json");
      const expressions = [...readFileSync("src/app/grafana/arbor.json", "utf8").matchAll(/"expr": (".*")/g)]
        .map(([, text]) => JSON.parse(text!).replaceAll("$__rate_interval", "1m").replaceAll("$instance", ".*"));
      expect(expressions.length).toBeGreaterThan(50);
      const rules = expressions.map((expr, i) => ({ record: `query:${i}`, expr }));
      writeFileSync(file, JSON.stringify({ groups: [{ name: "dashboard", rules }] }));
      expect(run("prometheus", "promtool", "check", "rules", file)).toContain(`${rules.length} rules found`);
      rmSync(path.dirname(file), { recursive: true });
    });

    it("has an Alertmanager that takes its own", () => {
      expect(run("prometheus", "amtool", "check-config", "alertmanager.yml")).toContain("SUCCESS");
    });
  },
);

it.skipIf(!has("On Debian: apt-get install haproxy.", "haproxy"))("HAProxy takes the balancer's configuration", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "arbor-haproxy-"));
  // names of containers have no address here
  const text = readFileSync(`${examples}/haproxy/haproxy.cfg`, "utf8").replace(/ edge-\d:/g, " 127.0.0.1:");
  writeFileSync(path.join(folder, "haproxy.cfg"), text);
  run("haproxy", "haproxy", "-c", "-f", path.join(folder, "haproxy.cfg"));
  rmSync(folder, { recursive: true });
});

it.skipIf(!has("nats-server 2.10 or later.", "nats-server"))(
  "NATS takes any password of compose.yaml for a string",
  () => {
    const compose = readFileSync("compose.yaml", "utf8");
    // a number, one with an exponent or a unit, more digits than a number has, and a Boolean
    for (const password of ["12", "7e1f", "1e23", "5m", "9".repeat(48), "true"]) {
      const passwords = Object.fromEntries(
        [...compose.matchAll(/(\w+_PASSWORD): "(\S*)\$\{\w+:\?make \.env first\}(\S*)",$/gm)]
          .map(([, name, before, after]) => [name!, `${before}${password}${after}`]),
      );
      expect(Object.keys(passwords)).toEqual(["SERVICE_PASSWORD", "READER_PASSWORD"]);
      const { status, stderr } = spawnSync("nats-server", ["-t", "-c", "src/app/nats-server.conf"], {
        env: { ...env, ...passwords },
        encoding: "utf8",
      });
      expect(status, `${password}: ${stderr}`).toBe(0);
    }
  },
);

describe.skipIf(!has("go install helm.sh/helm/v3/cmd/helm@v3.16.4", "helm"))("Helm", () => {
  const nats = ["--set", "nats.url=nats://nats:4222"];
  // a Helm that was built from its source says that the cluster is of an old release
  const cluster = ["--kube-version", "1.35.0"];
  const all = ["devnet.enabled=true", "networkPolicy.enabled=true", "serviceMonitor.enabled=true"];

  it("has nothing against the chart", () => {
    run("helm", "helm", "lint", "--strict", "arbor", ...nats);
  });

  it("writes each role with its probes, and a job that migrates first", () => {
    const text = run("helm", "helm", "template", "one", "arbor", ...cluster, ...nats, "--set", all.join(","));
    const kinds = [...text.matchAll(/^kind: (\w+)$/gm)].map(([, kind]) => kind!);
    const count = (kind: string) => kinds.filter((one) => one === kind).length;
    expect(["Deployment", "PodDisruptionBudget", "Service", "Job", "NetworkPolicy", "PodMonitor"].map(count))
      .toEqual([4, 3, 2, 1, 1, 1]);
    expect(text.match(/livenessProbe:\n +httpGet: \{ path: \/health,/g)).toHaveLength(4);
    expect(text.match(/readinessProbe:\n +httpGet: \{ path: \/ready,/g)).toHaveLength(4);
    expect(text.match(/readOnlyRootFilesystem: true/g)).toHaveLength(5);
    expect(text).toMatch(/helm.sh\/hook: pre-install,pre-upgrade[\s\S]*"--migrate-only"/);
  });

  it("is refused without a NATS server", () => {
    const { status, stderr } = spawnSync("helm", ["template", "one", "arbor", ...cluster], {
      cwd: `${examples}/helm`,
      env,
      encoding: "utf8",
    });
    expect(status).not.toBe(0);
    expect(stderr).toContain("nats.url is required");
  });
});

it.skipIf(!has("It is a part of systemd.", "systemd-analyze"))("systemd takes the units", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "arbor-units-"));
  cpSync(`${examples}/systemd`, folder, { recursive: true });
  for (const name of readdirSync(folder)) {
    const file = path.join(folder, name);
    // neither Deno nor a checkout is at its place here
    const text = readFileSync(file, "utf8").replace("/usr/local/bin/deno", "/bin/true").replace("=/opt/arbor", "=/tmp");
    writeFileSync(name.includes("@") ? file.replace("@", "@edge") : file, text);
  }
  const units = ["arbor.service", "arbor@edge.service", "arbor-migrations.service"].map((name) =>
    path.join(folder, name)
  );
  expect(
    execFileSync("systemd-analyze", ["verify", ...units], { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }),
  ).toBe("");
  rmSync(folder, { recursive: true });
});
