/** The log of tokens and its witnesses as options. Only given options are in the result; `tokenLogOf` has the defaults. */
import {
  DEVNET_LOG_DEPTH,
  isLogName,
  LOG_DEPTH,
  type LogSettings,
  readLogKey,
  readWitness,
} from "#src/tokens/log/settings.ts";

export const TOKEN_LOG_NAMES = [
  "log-origin",
  "log-depth",
  "log-snapshots",
  "log-witness",
  "witness-for",
  "witness-name",
] as const;
type OptionName = (typeof TOKEN_LOG_NAMES)[number];

export const TOKEN_LOG_HELP =
  `  --log-origin NAME    name of the log of tokens: its URL without the scheme; final (made of its key)  ARBOR_LOG_ORIGIN
  --log-depth N        blocks above a block before its states enter that log (${LOG_DEPTH}; devnet: ${DEVNET_LOG_DEPTH})  ARBOR_LOG_DEPTH
  --log-snapshots N    blocks between entries with the root of the unspent outputs; beside a devnet or with --utxo-root (none)  ARBOR_LOG_SNAPSHOTS
  --log-witness W,W    witnesses that sign the log: URL of another Arbor's token service, or "VKEY URL"  ARBOR_LOG_WITNESS
  --witness-for K,K    keys of the logs of others that this instance signs as a witness  ARBOR_WITNESS_FOR
  --witness-name NAME  name of this instance as a witness (made of its key)  ARBOR_WITNESS_NAME`;

interface OptionReaders {
  readonly text: (name: OptionName) => string | undefined;
  readonly number: (name: OptionName, least: number, most: number) => number | undefined;
  readonly problem: (sentence: string) => void;
  /** Why there is no root of the unspent outputs, and what gives one; undefined where there is one. */
  readonly rootless: string | undefined;
}

/** Reads the options of the log of tokens. */
export function readTokenLog({ text, number, problem, rootless }: OptionReaders): Partial<LogSettings> {
  const nameOf = (name: "log-origin" | "witness-name") => {
    const given = text(name);
    if (given !== undefined && !isLogName(given)) problem(`--${name} must have no spaces and no plus signs`);
    return given;
  };
  const listOf = <T>(
    name: "log-witness" | "witness-for",
    read: (item: string) => { ok: true; value: T } | { ok: false; error: { message: string } },
  ): T[] | undefined =>
    text(name)?.split(",").map((item) => item.trim()).filter(Boolean).flatMap((item) => {
      const found = read(item);
      if (!found.ok) problem(`--${name}: ${item.slice(0, 200)} ${found.error.message}`);
      return found.ok ? [found.value] : [];
    });
  const given = {
    origin: nameOf("log-origin"),
    depth: number("log-depth", 1, 2_160),
    snapshots: number("log-snapshots", 1, 1_000_000),
    witnesses: listOf("log-witness", readWitness),
    witnessFor: listOf("witness-for", readLogKey),
    witnessName: nameOf("witness-name"),
  };
  if (given.snapshots !== undefined && rootless !== undefined) problem(`--log-snapshots ${rootless}`);
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
