/** Ledger states of many accounts, representatives, actions and votes. */
import { fromHex } from "#src/base/bytes.ts";
import { baseAddress, type Credential, rewardAddress } from "#src/cardano/address.ts";
import { decode, encode } from "#src/cardano/cbor.ts";
import type { Action } from "#src/cardano/conway/governance.ts";
import { encodeProposal } from "#src/cardano/encodeProposal.ts";
import { parseRefKey, readOutput, type Utxo } from "#src/cardano/output.ts";
import { firstSnapshots } from "#src/ledger/epoch/pass.ts";
import { voteKey, voterKey } from "#src/ledger/governance/actions.ts";
import { blocksKey, credentialKey, type MutableLedgerState } from "#src/ledger/state.ts";

/** How much is added to a state. */
export interface Greatness {
  readonly accounts: number;
  readonly dreps: number;
  readonly proposals: number;
  /** Votes of representatives on each proposal. */
  readonly votes: number;
}

const LOVELACE = 1_000_000_000n;
const BLOCKS = 10;

const credential = (number: number): Credential => ({ kind: "key", hash: number.toString(16).padStart(56, "0") });

/** Every second action would pay from the treasury; the votes are too few for it. */
function actionOf(number: number): Action {
  if (number % 2 === 0) return { kind: "info" };
  const who = credential(number);
  return { kind: "treasury", payments: [[{ hex: rewardAddress(0, who).hex, network: 0, credential: who }, 5n]] };
}

/**
 * Adds accounts with an output each, which delegate to the state's pools and to new representatives, and actions with votes,
 * of which every third ends with the state's epoch. Every pool has made blocks. Gives the outputs.
 */
export function makeGreat(state: MutableLedgerState, { accounts, dreps, proposals, votes }: Greatness): Utxo[] {
  const pools = [...state.pools.entries()].map(([id]) => id);
  const utxos = Array.from({ length: accounts }, (_, i): Utxo => {
    const who = credential(i);
    const address = fromHex(baseAddress(0, who, who).hex);
    const output = readOutput(decode(encode(new Map<number, Uint8Array | bigint>([[0, address], [1, LOVELACE]]))));
    const pool = pools[i % pools.length]!;
    const drep = credentialKey(credential(i % dreps));
    state.accounts.set(credentialKey(who), { deposit: 2_000_000n, balance: 5n, pool, drep });
    return { ref: parseRefKey(`${i.toString(16).padStart(64, "0")}#0`), output };
  });
  for (const { ref, output } of utxos) state.utxo.set(ref, output);
  for (let i = 0; i < dreps; i++) {
    state.dreps.set(credentialKey(credential(i)), { deposit: 500_000_000n, expiry: 1_000 });
  }
  for (let i = 0; i < proposals; i++) {
    const key = `${i.toString(16).padStart(64, "f")}#0`;
    const account = rewardAddress(0, credential(i));
    const anchor = { url: "", hash: "00".repeat(32) };
    const cbor = encodeProposal({ deposit: 100_000_000_000n, account: account.hex, anchor, action: actionOf(i) });
    const expiresAfter = state.epoch + (i % 3 === 0 ? 0 : 100);
    state.proposals.set(key, { cbor, order: i, proposedIn: state.epoch, expiresAfter });
    for (let j = 0; j < votes; j++) {
      const voter = voterKey({ role: "drep", credential: credential((i + j) % dreps) });
      state.votes.set(voteKey(key, voter), j % 2 === 0 ? "no" : "yes");
    }
  }
  for (const { key, after } of firstSnapshots(state)) if (after) state.snapshots.set(key, after);
  for (const pool of pools) state.blocks.set(blocksKey(state.epoch - 1, pool), BLOCKS);
  return utxos;
}
