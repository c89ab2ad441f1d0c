/**
 * Certificates for a service that only clients with a certificate may use: one authority, which signs the server's
 * certificate and those of its clients.
 */
import "reflect-metadata";
import { Buffer } from "node:buffer";
import { webcrypto } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { isIP } from "node:net";
import path from "node:path";
import {
  BasicConstraintsExtension,
  cryptoProvider,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  type X509Certificate,
  X509CertificateGenerator,
} from "@peculiar/x509";
import { createFolder } from "#src/base/createFolder.ts";
import { errorCode } from "#src/base/errorCode.ts";
import { fileFault } from "#src/base/fileFault.ts";
import { CliError } from "#src/cli/error.ts";

// the types of the library and of Node name the same object differently
const subtle = webcrypto as unknown as Crypto;
const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const DAY_MS = 86_400_000;
/** How long certificates are valid where the caller names no other time, in days: the longest that browsers accept. */
export const VALID_DAYS = 397;

/** A certificate and its private key, in PEM. */
export interface CertifiedKey {
  readonly certificate: string;
  readonly key: string;
}

interface Signer {
  readonly certificate: X509Certificate;
  readonly keys: CryptoKeyPair;
}

interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** An authority that signs certificates of servers and of clients. Its key stays in memory until `pem` is called. */
export class Authority {
  private constructor(private readonly own: Signer) {}

  /** A new authority. `days` may be negative, which makes an expired one. */
  static async create(name = "Arbor authority", days = 3650): Promise<Authority> {
    const keys = await newKeys();
    const certificate = await X509CertificateGenerator.createSelfSigned({
      ...validity(days),
      name: `CN=${name}`,
      keys,
      signingAlgorithm: ALGORITHM,
      extensions: [
        new BasicConstraintsExtension(true, 0, true),
        new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
        await SubjectKeyIdentifierExtension.create(keys.publicKey, false, subtle),
      ],
    }, subtle);
    return new Authority({ certificate, keys });
  }

  pem(): Promise<CertifiedKey> {
    return pemOf(this.own);
  }

  /** A certificate of a server, for host names and addresses. */
  server(hosts: readonly string[], days = VALID_DAYS): Promise<CertifiedKey> {
    const names = hosts.map((host) => ({ type: isIP(host) === 0 ? "dns" as const : "ip" as const, value: host }));
    return this.sign(hosts[0] ?? "localhost", ExtendedKeyUsage.serverAuth, days, names);
  }

  /** A certificate of a client. */
  client(name: string, days = VALID_DAYS): Promise<CertifiedKey> {
    return this.sign(name, ExtendedKeyUsage.clientAuth, days);
  }

  private async sign(
    name: string,
    usage: ExtendedKeyUsage,
    days: number,
    names: readonly { type: "dns" | "ip"; value: string }[] = [],
  ): Promise<CertifiedKey> {
    const keys = await newKeys();
    const certificate = await X509CertificateGenerator.create({
      ...validity(days),
      subject: [{ CN: [name] }],
      issuer: this.own.certificate.subject,
      publicKey: keys.publicKey,
      signingKey: this.own.keys.privateKey,
      signingAlgorithm: ALGORITHM,
      extensions: [
        new BasicConstraintsExtension(false, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        new ExtendedKeyUsageExtension([usage]),
        ...(names.length === 0 ? [] : [new SubjectAlternativeNameExtension([...names])]),
        await SubjectKeyIdentifierExtension.create(keys.publicKey, false, subtle),
      ],
    }, subtle);
    return pemOf({ certificate, keys });
  }
}

/** Negative days end in the past, one day before they would have begun. */
function validity(days: number): Validity {
  const now = Date.now();
  return days > 0
    ? { notBefore: new Date(now - DAY_MS), notAfter: new Date(now + days * DAY_MS) }
    : { notBefore: new Date(now + (days - 1) * DAY_MS), notAfter: new Date(now + days * DAY_MS) };
}

async function newKeys(): Promise<CryptoKeyPair> {
  cryptoProvider.set(subtle);
  return await subtle.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
}

async function pemOf({ certificate, keys }: Signer): Promise<CertifiedKey> {
  const pkcs8 = Buffer.from(await subtle.subtle.exportKey("pkcs8", keys.privateKey)).toString("base64");
  const key = `-----BEGIN PRIVATE KEY-----\n${pkcs8.replace(/(.{64})(?=.)/g, "$1\n")}\n-----END PRIVATE KEY-----\n`;
  return { certificate: certificate.toString("pem") + "\n", key };
}

/**
 * Writes an authority, a server's and a client's certificate into a folder: `ca.crt`, `ca.key`, `server.crt`, `server.key`,
 * `client.crt`, `client.key`. Keys are readable by their owner only.
 *
 * @returns the paths of the files.
 * @throws {CliError} where one of the files is there already.
 */
export async function writeCertificates(
  folder: string,
  hosts: readonly string[],
  days = VALID_DAYS,
): Promise<string[]> {
  const authority = await Authority.create();
  const made = {
    ca: await authority.pem(),
    server: await authority.server(hosts, days),
    client: await authority.client("client", days),
  };
  try {
    createFolder(folder);
  } catch (error) {
    throw new CliError(`${folder} cannot be created: ${fileFault(error)}.`, "file_not_written");
  }
  const files = Object.entries(made).flatMap(([name, { certificate, key }]) => [
    [path.join(folder, `${name}.crt`), certificate, 0o644] as const,
    [path.join(folder, `${name}.key`), key, 0o600] as const,
  ]);
  for (const [file, text, mode] of files) {
    try {
      await writeFile(file, text, { mode, flag: "wx" });
    } catch (error) {
      if (errorCode(error) === "EEXIST") {
        throw new CliError(`${file} exists; certificates are written into a new folder.`);
      }
      throw error;
    }
  }
  return files.map(([file]) => file);
}
