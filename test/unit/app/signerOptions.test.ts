/** The options of the signing service, and its seed files. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { afterAll, describe, expect, it } from "vitest";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { StartError } from "#src/app/context.ts";
import { type Options, readOptions } from "#src/app/options.ts";
import { readSeeds } from "#src/app/seedFiles.ts";
import { readSignerOptions } from "#src/app/signerProgram.ts";

const folder = mkdtempSync(path.join(tmpdir(), "arbor-seeds-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function signer(args: readonly string[], env: Record<string, string> = {}, three = false): Options {
  const read = readSignerOptions(args, env, { three });
  if (!read.ok || read.value === "help") throw new Error(read.ok ? "help" : read.error.message);
  return read.value;
}
const refused = (args: readonly string[], env: Record<string, string> = {}) => {
  const read = readSignerOptions(args, env);
  return read.ok ? "accepted" : read.error.message;
};

describe("the program signer", () => {
  it("runs everything that one wallet needs, at free ports but its own", () => {
    const options = signer(["--seed", "wallet.seed"]);
    expect([...options.roles].sort()).toEqual(["devnet", "edge", "follower", "signer", "worker"]);
    expect(options.signers).toEqual({
      instances: [{ seed: "wallet.seed", port: 3000 }],
      generate: "never",
      host: "127.0.0.1",
    });
    expect(options).toMatchObject({ tokenPort: 0, walletPort: 0, operatorPort: 0, natsPort: 0, devnetPort: 0 });
    expect(options).toMatchObject({ folder: ".arbor-signer/3000", factSlots: true });
    expect(signer(["--seed", "a", "--port", "3002", "--database-path", "/srv"]).folder).toBe("/srv/3002");
    expect(signer(["--seed", "a", "-g", "--port", "3002"]).signers).toMatchObject({
      instances: [{ seed: "a", port: 3002 }],
      generate: "always",
    });
    expect(signer(["--seed", "a", "--generate", "--token-port", "3001"])).toMatchObject({ tokenPort: 3001 });
  });

  it("reaches Yaci Store by its host, and Yaci DevKit's faucet by its admin host", () => {
    const hosts = ["--yaci-store-host", "http://localhost:8080/", "--yaci-admin-host", "http://localhost:10000"];
    const expected = { url: "http://localhost:8080/api/v1", adminUrl: "http://localhost:10000" };
    for (const named of [[], ["--provider", "yaci"]]) {
      const options = signer(["--seed", "a", ...named, ...hosts]);
      expect(options.yaci).toEqual(expected);
      expect([...options.roles].sort()).toEqual(["edge", "follower", "signer", "worker"]);
    }
    expect(signer(["--seed", "a", "--yaci-admin-host", "http://devnet:10000"]).signers?.topupUrl)
      .toBe("http://devnet:10000");
    expect(refused(["--seed", "a", ...hosts, "--yaci-url", "http://localhost:8080/api/v1"]))
      .toContain("--yaci-store-host and --yaci-url are the same option");
  });

  it("is a part of a deployment by its role", () => {
    const env = { ARBOR_ROLES: "signer", ARBOR_SIGNER_SEED: "a", ARBOR_SIGNER_PORT: "3004" };
    const options = signer([], env);
    expect([...options.roles]).toEqual(["signer"]);
    expect(options.signers?.instances).toEqual([{ seed: "a", port: 3004 }]);
  });

  it("starts three for development, whose files are written where they are missing", () => {
    const options = signer([], {}, true);
    expect(options.signers).toMatchObject({
      instances: ["charlie", "bob", "alice"].map((name, i) => {
        return { seed: `.arbor-signer/${name}.seed`, port: 3000 + 2 * i };
      }),
      generate: "missing",
    });
    expect(options).toMatchObject({ tokenPort: 3001, devnetPort: 10_000, folder: ".arbor-signer/three" });
  });

  it("moves its default ports by an offset, and no port that is given", () => {
    const ports = (...args: Parameters<typeof signer>) => signer(...args).signers!.instances.map(({ port }) => port);
    expect(ports(["--seed", "a", "--port-offset", "100"])).toEqual([3100]);
    expect(ports(["--seed", "a", "--port", "3001", "--port-offset", "100"])).toEqual([3001]);
    const three = signer(["--port-offset", "100"], {}, true);
    expect(three.signers!.instances.map(({ port }) => port)).toEqual([3100, 3102, 3104]);
    expect(three.tokenPort).toBe(3101);
  });

  it("says what is wrong with its options", () => {
    expect(refused([])).toContain("--seed FILE is required");
    expect(refused(["--seed", "a,b"])).toContain("--port has 1 ports for 2 files of --seed");
    expect(refused(["--signer-seed", "a,b"])).toContain("--port has 1 ports for 2 files of --signer-seed");
    expect(refused(["--seed", "a,a", "--port", "1,2"])).toContain("names a file twice");
    expect(refused(["--seed", "a", "--port", "x"])).toContain("--port must be whole numbers");
    expect(refused(["--seed", "a", "--signer-port", "x"])).toContain("--signer-port must be whole numbers");
    expect(refused(["--seed", "a", "--signer-generate", "often"])).toContain("never, missing, always");
    expect(refused(["--seed", "a", "--topup-url", "devnet"])).toContain("--topup-url must be a URL");
  });

  it("is reached from other machines with a token only", () => {
    expect(refused(["--seed", "a", "--signer-host", "0.0.0.0"])).toContain("set --signer-token");
    expect(refused(["--seed", "a", "--host", "0.0.0.0", "--operator-host", "127.0.0.1"])).toContain("--signer-token");
    expect(refused(["--seed", "a", "--signer-token", "short"])).toContain("at least 16 characters");
    const token = "0123456789abcdef";
    expect(signer(["--seed", "a", "--signer-host", "0.0.0.0", "--signer-token", token]).signers)
      .toMatchObject({ host: "0.0.0.0", token });
  });
});

describe("a start", () => {
  it("has no signing service unless a seed file is named", () => {
    const plain = readOptions([], {});
    expect(plain.ok && plain.value !== "help" && [...plain.value.roles]).toEqual([
      "edge",
      "worker",
      "follower",
      "devnet",
    ]);
    expect(readOptions(["--roles", "signer"], {})).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining("--signer-seed") },
    });
  });
});

describe("seed files", () => {
  const read = (file: string, generate: "never" | "missing" | "always" = "never") =>
    readSeeds({ instances: [{ seed: file, port: 0 }], generate, host: "127.0.0.1" })[0]!;
  const problem = (file: string): string => {
    try {
      read(file);
    } catch (error) {
      expect(error).toBeInstanceOf(StartError);
      return (error as Error).message;
    }
    throw new Error("the file was read");
  };

  it("hold words in any white space, of each length", () => {
    const file = path.join(folder, "words");
    for (const count of [12, 15, 18, 21, 24] as const) {
      const words = newMnemonic(count);
      writeFileSync(file, `  ${words.join("\n ")}\r\n`);
      expect(read(file)).toEqual(words);
      expect(read(file, "missing")).toEqual(words);
    }
  });

  it("are written where they are missing, or at every start, for their owner alone", () => {
    const file = path.join(folder, "new", "words");
    const first = read(file, "missing");
    expect(first).toHaveLength(24);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(read(file)).toEqual(first);
    const second = read(file, "always");
    expect(second).not.toEqual(first);
    expect(readFileSync(file, "utf8")).toBe(second.join(" ") + "\n");
  });

  it("that cannot be read, or hold no mnemonic, end the start with a sentence that has none of their words", () => {
    const missing = path.join(folder, "missing");
    expect(problem(missing)).toMatch(
      /cannot be read: there is no such file \(ENOENT\)\. With --signer-generate missing/,
    );
    expect(existsSync(missing)).toBe(false);
    expect(problem(folder)).toContain("cannot be read: it is a folder, not a file (EISDIR)");
    const file = path.join(folder, "bad");
    const words = newMnemonic(15);
    const bad: readonly (readonly [text: string, message: RegExp])[] = [
      ["", /words, not 0/],
      [words.slice(1).join(" "), /words, not 14/],
      [["sesame", ...words.slice(1)].join(" "), /Word 1 is not in the English word list/],
      [`${"zoo ".repeat(23)}zoo`, /checksum of the mnemonic is wrong/],
    ];
    for (const [text, message] of bad) {
      writeFileSync(file, text);
      expect(problem(file)).toMatch(message);
      for (const word of ["sesame", "zoo"]) expect(problem(file)).not.toMatch(new RegExp(`\\b${word}\\b`));
    }
    if (process.getuid?.() !== 0) {
      chmodSync(file, 0o000);
      expect(problem(file)).toContain("cannot be read: this user has no right to it (EACCES)");
    }
    expect(() => read(path.join(file, "below"), "always")).toThrow(StartError);
  });
});
