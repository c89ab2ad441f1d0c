/**
 * `wallet-key-export`, from SQLite files as cardano-wallet writes them. The keys in them are sealed here by other libraries than
 * those that open them: libsodium and Node's cipher.
 */
import { Buffer } from "node:buffer";
import { createCipheriv, pbkdf2Sync, randomBytes, scryptSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { hashRawSync } from "@node-rs/argon2";
import sodium from "libsodium-wrappers-sumo";
import initSqlJs from "sql.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { encode } from "#src/cardano/cbor.ts";
import { run, runKeyExport } from "#src/cli/cardanoWallet/program.ts";
import { cases } from "../../../support/base/longTests.ts";
import { runProgram } from "../../../support/cli/programs.ts";
import { walletVectors } from "../../../support/wallets/walletVectors.ts";

const PASSPHRASE = "Secure Pässphrase";
const ID = "2512a00e9653fe49a44a5886202e24d77eeb998f";
const golden: { raw_xprv_hex: string; text_envelope: object } = walletVectors("xprv-export")[0]!.expected;
const xprv = fromHex(golden.raw_xprv_hex);
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

const folder = mkdtempSync(path.join(tmpdir(), "wallet-key-export-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let SQL: Awaited<ReturnType<typeof initSqlJs>>;
beforeAll(async () => {
  await sodium.ready;
  SQL = await initSqlJs();
});

/** A file with the table of keys, and with other tables of a wallet. */
function database(rows: readonly (readonly [root: string, hash: string])[], key = "wallet_id"): string {
  const file = path.join(folder, `${randomBytes(4).toString("hex")}.sqlite`);
  const db = new SQL.Database();
  db.run("CREATE TABLE wallet (wallet_id VARCHAR NOT NULL, name VARCHAR NOT NULL, PRIMARY KEY (wallet_id))");
  db.run(
    `CREATE TABLE private_key (wallet_id VARCHAR NOT NULL, root VARCHAR NOT NULL, hash VARCHAR NOT NULL${
      key === "" ? "" : `, PRIMARY KEY (${key})`
    })`,
  );
  db.run("INSERT INTO wallet VALUES (?, 'Savings')", [ID]);
  for (const [root, hash] of rows) db.run("INSERT INTO private_key VALUES (?, ?, ?)", [ID, root, hash]);
  writeFileSync(file, db.export());
  db.close();
  return file;
}

/** An XPrv whose secret is encrypted with some bytes of a passphrase, by the cipher of OpenSSL. */
function encrypted(passphrase: Uint8Array): string {
  const stream = pbkdf2Sync(passphrase, "encrypted wallet salt\0", 15_000, 40, "sha512");
  // OpenSSL's initial value: a counter of 64 bits, and the nonce
  const cipher = createCipheriv(
    "chacha20",
    stream.subarray(0, 32),
    Buffer.concat([Buffer.alloc(8), stream.subarray(32)]),
  );
  return hex(Buffer.concat([cipher.update(xprv.subarray(0, 64)), cipher.final(), xprv.subarray(64)]));
}

function pbkdf2Row(): [string, string] {
  const salt = randomBytes(16);
  const hash = pbkdf2Sync(PASSPHRASE, salt, 20_000, 64, "sha512");
  return [encrypted(Buffer.from(PASSPHRASE)), hex(Buffer.concat([Uint8Array.of(16), salt, hash]))];
}

function scryptRow(): [string, string] {
  const digest = sodium.crypto_generichash(32, PASSPHRASE, null);
  const salt = randomBytes(32);
  const hash = scryptSync(encode(digest), salt, 64, { N: 2 ** 14, r: 8, p: 1, maxmem: 2 ** 26 });
  const text = `14|8|1|${salt.toString("base64")}|${hash.toString("base64")}`;
  return [`${encrypted(digest)}:${"ab".repeat(32)}`, hex(Buffer.from(text))];
}

/** Cost of Argon2id in a V2 record: KiB, passes, lanes; the length of the result follows. */
type Cost = readonly [memory: number, passes: number, lanes: number, length: number];
/** Derives the key of a V2 record from its 32 bytes of salt. */
type Derive = (salt: Uint8Array, cost: Cost) => Uint8Array;

/** Those that cardano-wallet writes; with all passes if long. */
const USUAL: Cost = [131_072, cases(1, 3), 4, 32];
const CHEAP: Cost = [8_192, 1, 4, 32];

const libsodium: Derive = (salt, [memory, passes]) =>
  sodium.crypto_pwhash(
    32,
    PASSPHRASE,
    salt.subarray(0, 16),
    passes,
    memory * 1024,
    sodium.crypto_pwhash_ALG_ARGON2ID13,
  );
const fourLanes: Derive = (salt, [memoryCost, timeCost, parallelism]) =>
  hashRawSync(PASSPHRASE, { salt, memoryCost, timeCost, parallelism, outputLen: 32 });

function v2Row(derive: Derive, cost: Cost, payload = ""): [string, string] {
  const [salt, nonce] = [Uint8Array.from(randomBytes(32)), Uint8Array.from(randomBytes(24))];
  const data = encode([2, 1, [...cost], 1, 1, 64, xprv.subarray(64, 96), xprv.subarray(96)]);
  const sealed = sodium.crypto_aead_xchacha20poly1305_ietf_encrypt(
    xprv.subarray(0, 64),
    data,
    null,
    nonce,
    derive(salt, cost),
  );
  const envelope = encode([2, 1, [...cost], salt, 1, nonce, data, sealed.subarray(0, 64), sealed.subarray(64)]);
  return [`V2:${"00".repeat(128)}:${hex(envelope)}${payload}`, ""];
}

const exported = (file: string, passphrase = PASSPHRASE, id = ID) =>
  runProgram(runKeyExport, [file, id], `${passphrase}\n`);

describe("wallet-key-export", () => {
  it("prints the golden key and envelope", async () => {
    const { code, out, err } = await exported(database([pbkdf2Row()]));
    expect(err).toBe("Enter spending passphrase:\n");
    expect(code).toBe(0);
    expect(out).toBe(
      `Key type: Shelley\n\n=== Raw XPrv (hex) ===\n${golden.raw_xprv_hex}\n\n=== Text Envelope ===\n` +
        `${JSON.stringify(golden.text_envelope, null, 4)}\n`,
    );
  });

  it("is a command of cardano-wallet too", async () => {
    const { code, out } = await runProgram(run, ["wallet-key-export", database([pbkdf2Row()]), ID], PASSPHRASE);
    expect([code, out.includes(golden.raw_xprv_hex)]).toEqual([0, true]);
  });

  it.each<[string, string, () => [string, string]]>([
    ["of Byron with scrypt", "Byron", scryptRow],
    ["of Byron with PBKDF2", "Byron", () => {
      const [root, hash] = pbkdf2Row();
      return [`${root}:${"cd".repeat(32)}`, hash];
    }],
    ["V2", "Shelley", () => v2Row(libsodium, USUAL)],
    ["V2 with four lanes", "Shelley", () => v2Row(fourLanes, CHEAP)],
    ["V2 of Byron", "Byron", () => v2Row(libsodium, CHEAP, `:${"ef".repeat(32)}`)],
  ])("opens a key %s", async (_, type, row) => {
    const file = database([row()]);
    const { code, out } = await exported(file);
    expect(code).toBe(0);
    expect(out).toContain(`Key type: ${type}\n`);
    expect(out).toContain(`\n${golden.raw_xprv_hex}\n`);
    const name = type === "Byron"
      ? "PaymentSigningKeyByron_ed25519_bip32"
      : "PaymentExtendedSigningKeyShelley_ed25519_bip32";
    expect(JSON.parse(out.slice(out.indexOf("{")))).toMatchObject({
      type: name,
      cborHex: `5880${golden.raw_xprv_hex}`,
    });
    const wrong = await exported(file, "Secure Passphrase");
    expect([wrong.code, wrong.out, wrong.err.split("\n")[1]]).toEqual([1, "", "Error: wrong passphrase"]);
  });

  it.each<[string, () => Promise<{ code: number; out: string; err: string }>, string]>([
    ["no passphrase", () => exported(database([pbkdf2Row()]), ""), "Error: empty passphrase"],
    [
      "another wallet",
      () => exported(database([pbkdf2Row()]), PASSPHRASE, "0".repeat(40)),
      "no private key found for wallet 0000",
    ],
    ["a wallet without a key", () => exported(database([])), "no private key found for wallet"],
    [
      "two keys of a wallet",
      () => exported(database([pbkdf2Row(), pbkdf2Row()], "")),
      "unexpected number of rows in private_key",
    ],
    ["no file", () => exported(path.join(folder, "none.sqlite")), "there is no file or folder"],
    ["no database", () => {
      const file = path.join(folder, "text");
      writeFileSync(file, "text");
      return exported(file);
    }, "is no database of cardano-wallet"],
    [
      "no arguments",
      () => runProgram(runKeyExport, []),
      "Usage: wallet-key-export [options] <path-to-wallet.db> <wallet-id>",
    ],
    ["one argument", () => runProgram(runKeyExport, [ID]), "a path to a database and the id of a wallet are required"],
    ["three arguments", () => runProgram(runKeyExport, [ID, ID, ID]), "a path to a database and the id"],
    [
      "a passphrase as an argument",
      () => runProgram(runKeyExport, ["--passphrase", "x", "a", ID]),
      "unknown option '--passphrase'",
    ],
    [
      "no server",
      () => runProgram(runKeyExport, ["--database", "postgres://user:hidden@127.0.0.1:1/none", ID]),
      "cannot be read",
    ],
  ])("refuses %s", async (_, call, message) => {
    const { code, out, err } = await call();
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain(message);
    expect(err).not.toContain("hidden");
  });

  async function isMalformed(row: [root: string, hash: string]) {
    const { code, out, err } = await exported(database([row]));
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain("Error: the private key in the database is malformed");
  }

  const [root, hash] = ["ab".repeat(128), "10" + "cd".repeat(80)];
  it.each<[string, string, string]>([
    ["a short key", root.slice(2), hash],
    ["text", "x".repeat(256), hash],
    ["two payloads", `${root}:ab:ab`, hash],
    ["no hash", root, ""],
    ["a hash that is no hexadecimal", root, "zz"],
    ["a V2 record without an envelope", `V2:${root}`, ""],
    ["a V2 record with another envelope", `V2:${root}:${hex(encode([2, 1, 2]))}`, ""],
    [
      "a V2 record of a later version",
      `V2:${root}:${hex(encode([3, 1, [8, 1, 1, 32], ...Array(6).fill(new Uint8Array(32))]))}`,
      "",
    ],
  ])("refuses a record with %s", async (_, key, verifier) => {
    await isMalformed([key, verifier]);
  });

  it("refuses a record that would need much memory", async () => {
    await isMalformed(v2Row(() => new Uint8Array(32), [2 ** 31, 3, 4, 32]));
  });

  it("refuses a key that is not its public key's", async () => {
    const [root, verifier] = pbkdf2Row();
    const { code, out, err } = await exported(database([[root.slice(0, -66) + "00" + root.slice(-64), verifier]]));
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain("Error: wrong passphrase");
  });
});
