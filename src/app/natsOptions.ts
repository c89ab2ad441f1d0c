/** Users and TLS of NATS, as options. All of them are paths of files. */

/** Names of the options, without `--`. */
export const NAMES_OF_NATS = ["nats-users", "nats-tls-cert", "nats-tls-key", "nats-tls-ca", "nats-ca"] as const;
type OptionName = (typeof NAMES_OF_NATS)[number];

/** Their part of the help text. */
export const HELP_OF_NATS = `  --nats-users FILE    users of the NATS endpoint and their rights (none)  ARBOR_NATS_USERS
  --nats-tls-cert FILE certificate of the NATS endpoint, which then requires TLS; with --nats-url that of this client  ARBOR_NATS_TLS_CERT
  --nats-tls-key FILE  its private key                                  ARBOR_NATS_TLS_KEY
  --nats-tls-ca FILE   clients of the NATS endpoint need a certificate signed by one of these  ARBOR_NATS_TLS_CA
  --nats-ca FILE       certificates that sign those of the servers of --nats-url (the system's)  ARBOR_NATS_CA`;

export interface NatsFiles {
  /** Users of the embedded endpoint. */
  readonly users?: string;
  /** Certificate and key: of the embedded endpoint, or of this client of another server. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Certificates that sign those of the embedded endpoint's clients. */
  readonly clientsCa?: string;
  /** Certificates that sign that of another server. */
  readonly serverCa?: string;
}

interface OptionReaders {
  readonly text: (name: OptionName) => string | undefined;
  /** Whether an option is on the command line. */
  readonly isArgument: (name: OptionName) => boolean;
  /** Whether NATS is another server, not the embedded endpoint. */
  readonly outside: boolean;
  readonly problem: (sentence: string) => void;
}

/** Reads these options. Calls `problem` for each invalid one; the result is then not usable. */
export function readNatsFiles({ text, isArgument, outside, problem }: OptionReaders): NatsFiles {
  const [users, cert, key, clientsCa, serverCa] = NAMES_OF_NATS.map(text);
  if ((cert === undefined) !== (key === undefined)) problem("--nats-tls-cert and --nats-tls-key require each other");
  if (clientsCa !== undefined && cert === undefined) problem("--nats-tls-ca requires --nats-tls-cert");
  // only options on the command line are refused: the processes of a deployment share one environment
  const refused = outside ? ["nats-users", "nats-tls-ca"] as const : ["nats-ca"] as const;
  for (const name of refused) {
    if (isArgument(name)) {
      problem(`--${name} ${outside ? "is of the embedded endpoint, without" : "requires"} --nats-url`);
    }
  }
  return {
    ...(users === undefined ? {} : { users }),
    ...(cert === undefined || key === undefined ? {} : { tls: { cert, key } }),
    ...(clientsCa === undefined ? {} : { clientsCa }),
    ...(serverCa === undefined ? {} : { serverCa }),
  };
}
