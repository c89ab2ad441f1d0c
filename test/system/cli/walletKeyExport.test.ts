/** `wallet-key-export` from the database of a service. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import { fromBech32 } from "#src/cardano/bech32.ts";
import { run, runKeyExport } from "#src/cli/cardanoWallet/program.ts";
import { WalletClient } from "#src/client/wallets.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { runProgram } from "../../support/cli/programs.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";

const PASSPHRASE = "Secure Passphrase";
const PHRASE = "over decorate flock badge beauty stamp chest owner excess omit bid raccoon spin reduce rival";

describe("wallet-key-export", () => {
  let infra: Infra;
  let arbor: Arbor;
  let client: WalletClient;

  beforeAll(async () => {
    infra = await sharedInfra();
    arbor = await Arbor.start({ infra });
    client = new WalletClient(arbor.wallets);
  });
  afterAll(async () => {
    await arbor?.end();
    await infra?.stop();
  });

  const exported = (id: string, passphrase: string) =>
    runProgram(runKeyExport, ["--database", infra.databaseUrl, id], `${passphrase}\n`);

  it.each(["Shelley", "Byron"] as const)("prints the key of a wallet of %s", async (type) => {
    const body = { name: type, mnemonic_sentence: PHRASE.split(" "), passphrase: PASSPHRASE };
    const { id } = type === "Shelley"
      ? await client.create(body)
      : await client.createByron({ style: "random", ...body });
    const { out: root } = await runProgram(run, ["key", "from-recovery-phrase", type], PHRASE);
    const { out: xpub } = await runProgram(run, ["key", "public"], root);
    const [secret, open] = [root, xpub].map((text) => toHex(fromBech32(text)!.bytes)) as [string, string];
    const { code, out, err } = await exported(id, PASSPHRASE);
    expect(code, err).toBe(0);
    expect(out).toContain(`Key type: ${type}\n`);
    expect(out).toContain(`\n${secret.slice(0, 128)}${open.slice(0, 64)}${secret.slice(128)}\n`);
    expect(await exported(id, "Another Passphrase")).toMatchObject({ code: 1, out: "" });
  });

  it("says that a wallet has no key", async () => {
    const { out: root } = await runProgram(run, ["key", "from-recovery-phrase", "Shelley"], PHRASE);
    const { out: account } = await runProgram(run, ["key", "child", "1852H/1815H/7H"], root);
    const { out: account_public_key } = await runProgram(run, ["key", "public", "--base16"], account);
    const { id } = await client.create({ name: "Watched", account_public_key });
    for (const one of [id, "0".repeat(40)]) {
      const { code, out, err } = await exported(one, PASSPHRASE);
      expect({ code, out, err }).toEqual({ code: 1, out: "", err: `Error: no private key found for wallet ${one}\n` });
    }
  });
});
