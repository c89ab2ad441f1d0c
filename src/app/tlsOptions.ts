/** TLS of the wallet service, as options: the three files of cardano-wallet's `serve`. */
import { type TlsFiles } from "#src/embedded/postgres/tlsFiles.ts";

/** Names of the options, without `--`. */
export const TLS_NAMES = ["tls-ca-cert", "tls-sv-cert", "tls-sv-key"] as const;
type OptionName = (typeof TLS_NAMES)[number];

/** Their part of the help text. */
export const TLS_HELP =
  `  --tls-ca-cert FILE   authority of the wallet service's clients: each needs a certificate that it signed (no TLS)  ARBOR_TLS_CA_CERT
  --tls-sv-cert FILE   certificate of the wallet service, which then speaks TLS only  ARBOR_TLS_SV_CERT
  --tls-sv-key FILE    its private key                                  ARBOR_TLS_SV_KEY`;

/** Reads these options: all of them, or none. Reports a part of them as a problem. */
export function readTlsFiles(
  text: (name: OptionName) => string | undefined,
  problem: (sentence: string) => void,
): TlsFiles | undefined {
  const [ca, cert, key] = TLS_NAMES.map(text);
  if (ca === undefined && cert === undefined && key === undefined) return undefined;
  if (ca === undefined || cert === undefined || key === undefined) {
    problem("--tls-ca-cert, --tls-sv-cert and --tls-sv-key require each other");
    return undefined;
  }
  return { ca, cert, key };
}
