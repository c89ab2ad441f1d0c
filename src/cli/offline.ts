/** Proofs for readers without a network: written from a service, verified by a policy alone. */
import { sleep } from "#src/base/clock.ts";
import { fromUtf8 } from "#src/base/bytes.ts";
import { readJson } from "#src/base/json.ts";
import type { FactProof } from "#src/client/proofs.ts";
import {
  isKeyHistoryFile,
  type KeyHistoryFile,
  keyHistoryFile,
  type VerifiedKeyHistory,
  verifyKeyHistoryFile,
} from "#src/client/keyHistory.ts";
import { type OfflineProof, offlineProof, type VerifiedOffline, verifyOffline } from "#src/client/offlineProof.ts";
import type { TokenReads } from "#src/client/tokenReads.ts";
import { CliError } from "#src/cli/error.ts";
import { inputName, readInput } from "#src/cli/input.ts";

/** Attempts to read facts of one state. */
const ATTEMPTS = 5;
/** Milliseconds between two look-ups in the log. */
const LOOK_MS = 1_000;

/**
 * A file with facts of one state of a token, and the proof that the state is in the service's log.
 *
 * @throws {CliError} `not_logged` where the state is not there within `waitS` seconds; `state_changes`.
 */
export async function proveOffline(
  tokens: Pick<TokenReads, "fact" | "stateProof">,
  token: string,
  keys: readonly (string | Uint8Array)[],
  waitS: number,
): Promise<OfflineProof> {
  const facts = await factsOfOneState(tokens, token, keys);
  const [{ outputRefId }] = facts;
  for (const until = Date.now() + waitS * 1_000;;) {
    const log = await tokens.stateProof(token, outputRefId);
    if (log !== undefined) return offlineProof(facts, log);
    if (Date.now() >= until) {
      throw new CliError(
        `The state ${outputRefId} is not in the log yet: it enters some blocks after its own. --wait <seconds> waits for that.`,
        "not_logged",
      );
    }
    await sleep(LOOK_MS);
  }
}

/** A file with the history of a key and the proof that nothing was left out, as far as the service's log has it. */
export async function historyOffline(
  tokens: Pick<TokenReads, "provedHistory">,
  token: string,
  key: string | Uint8Array,
  span: { readonly from?: number; readonly to?: number },
): Promise<KeyHistoryFile> {
  return keyHistoryFile(token.toLowerCase(), key, await tokens.provedHistory(token, key, span));
}

async function factsOfOneState(
  tokens: Pick<TokenReads, "fact">,
  token: string,
  keys: readonly (string | Uint8Array)[],
): Promise<readonly [FactProof, ...FactProof[]]> {
  for (let i = 0; i < ATTEMPTS; i++) {
    const facts: FactProof[] = [];
    for (const key of keys) facts.push(await tokens.fact(token, key));
    const [first, ...more] = facts;
    if (first && more.every(({ outputRefId }) => outputRefId === first.outputRefId)) return [first, ...more];
  }
  throw new CliError("The token's state changes with each look at it: prove one key at a time.", "state_changes");
}

/**
 * Verifies a file (`-` is the standard input) by a policy out of another file.
 *
 * @throws {CliError} with the code of `OfflineRefusal` or `KeyHistoryRefusal`.
 */
export async function readOffline(file: string, policy: string): Promise<VerifiedOffline | VerifiedKeyHistory> {
  const content = readJson(await readInput(file));
  if (content === undefined) throw new CliError(`${inputName(file)} is not JSON.`, "malformed");
  const text = fromUtf8(await readInput(policy));
  if (text === undefined) throw new CliError(`${inputName(policy)} is not a text.`, "bad_policy");
  const verified = isKeyHistoryFile(content) ? verifyKeyHistoryFile(content, text) : verifyOffline(content, text);
  if (!verified.ok) throw new CliError(verified.error.message, verified.error.code);
  return verified.value;
}
