/** Certificates and keys in files, for every listener that speaks TLS. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { TlsOptions } from "node:tls";
import { fileFault } from "#src/base/fileFault.ts";
import { reason } from "#src/base/log.ts";
import { EmbeddedError } from "#src/embedded/postgres/errors.ts";

/** Files in PEM. */
export interface TlsFiles {
  /** The certificate, followed by the intermediate ones. */
  readonly cert: string;
  readonly key: string;
  /** Certificates of which clients must have one that is signed by them. */
  readonly ca?: string | undefined;
}

/**
 * Reads certificate and key.
 * @throws EmbeddedError `bad_file` if a file cannot be read or is no PEM, the certificate has expired, or the key is not its own.
 */
export async function readTls({ cert, key, ca }: TlsFiles): Promise<TlsOptions> {
  const problem = (file: string, why: string) => new EmbeddedError("bad_file", `${file} cannot be used: ${why}.`);
  const read = async <T>(file: string, what: string, use: (text: string) => T): Promise<[string, T]> => {
    const text = await readFile(file, "utf8").catch((error) => {
      throw problem(file, fileFault(error));
    });
    try {
      return [text, use(text)];
    } catch (error) {
      const why = /-----BEGIN /.test(text) ? reason(error) : `it has no line -----BEGIN ${what}-----`;
      throw problem(file, `it is no ${what.toLowerCase()} in PEM: ${why}`);
    }
  };
  const [certText, certificate] = await read(cert, "CERTIFICATE", (text) => new X509Certificate(text));
  const [keyText, privateKey] = await read(key, "PRIVATE KEY", (text) => createPrivateKey(text));
  const end = new Date(certificate.validTo);
  if (end.getTime() < Date.now()) throw problem(cert, `it expired on ${end.toISOString()}`);
  if (!certificate.checkPrivateKey(privateKey)) throw problem(key, `it is not the key of the certificate ${cert}`);
  const clients = ca === undefined
    ? undefined
    : await read(ca, "CERTIFICATE", (text) => void new X509Certificate(text));
  return {
    cert: certText,
    key: keyText,
    minVersion: "TLSv1.2",
    ...(clients === undefined ? {} : { ca: clients[0], requestCert: true, rejectUnauthorized: true }),
  };
}
