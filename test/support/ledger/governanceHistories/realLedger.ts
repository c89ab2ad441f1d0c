/** The ledger of `src/ledger` in memory, driven by operations of the plain model. */
import { baseAddress } from "#src/cardano/address.ts";
import { type Encodable, encode } from "#src/cardano/cbor.ts";
import type { Utxo } from "#src/cardano/output.ts";
import type { ProtocolParameters } from "#src/cardano/parameters.ts";
import { applyDelta, undoDelta } from "#src/ledger/delta.ts";
import { applyEpoch, passEpoch, undoEpoch } from "#src/ledger/epoch/pass.ts";
import { GOVERNANCE, governanceOf } from "#src/ledger/governance/actions.ts";
import { mainnetParametersAt, type Major } from "#src/ledger/parameters.ts";
import { parseCredentialKey } from "#src/ledger/state.ts";
import { ada, alice, output, World } from "../draft.ts";
import type { Operation, PlainState } from "../plainGovernance/types.ts";
import { witnesses } from "./cast.ts";
import { changesOfParameters } from "./parameters.ts";
import { accountBytes, poolRegistration, signerOf, writeCertificate, writeProposal, writeVotes } from "./write.ts";

/** What every transaction here pays. */
export const FEE = 3n * ada;

const TERMS = {
  epochLength: 100,
  activeSlots: { numerator: 1n, denominator: 10n },
  maxSupply: 45_000_000_000n * ada,
};

/** An account's outputs are the payer's to spend. */
function addressOf(credential: string): string {
  return baseAddress(0, { kind: "key", hash: alice.hash }, parseCredentialKey(credential)).hex;
}

export class RealLedger {
  readonly world: World;
  /** The payer's output, which every transaction spends. */
  purse: Utxo;
  /** Outputs of accounts. */
  readonly holdings = new Map<string, readonly Utxo[]>();
  private proposals = 0;

  /** A ledger that begins as the plain one. */
  constructor(plain: PlainState) {
    const [major, minor] = plain.version;
    this.world = new World({
      ...mainnetParametersAt(major as Major),
      ...changesOfParameters(plain.parameters),
      protocolVersion: { major, minor },
    } as ProtocolParameters);
    const { state } = this.world;
    state.epoch = plain.epoch;
    Object.assign(state.pots, { treasury: plain.treasury, deposits: plain.deposits });
    for (const [key, account] of plain.accounts) state.accounts.set(key, { ...account });
    for (const [id, { account, ...pool }] of plain.pools) {
      state.pools.set(id, { ...pool, certificate: encode(poolRegistration(id, account)) });
    }
    for (const [key, { deposit, expiry }] of plain.dreps) state.dreps.set(key, { deposit, expiry });
    for (const [key, until] of plain.committee!.members) {
      state.committee.set(key, { elected: true, until, hot: plain.hot.get(key) });
    }
    const [numerator, denominator] = plain.committee!.quorum;
    state.governance.set(GOVERNANCE, { ...governanceOf(state), quorum: { numerator, denominator } });
    for (const [key, lovelace] of plain.outputs) this.holdings.set(key, [this.world.fund(addressOf(key), lovelace)]);
    this.purse = this.world.fund(alice.address, 2_000_000_000n * ada);
  }

  /** Writes an operation as a signed transaction. An account's output of as much lovelace as its stake shrinks by is spent. */
  write(operation: Operation): Uint8Array {
    const { certificates = [], proposals = [], votes = [], withdrawals = [], stake = [], donation = 0n } = operation;
    const { state } = this.world;
    const policies = proposals.flatMap(({ action }) => "policy" in action && action.policy ? [action.policy] : []);
    const signers = [...certificates.map(signerOf), ...votes.map(({ voter }) => voter), ...withdrawals, ...policies];
    const { keys, native } = witnesses(signers);
    const balanceOf = (credential: string) =>
      [accountBytes({ network: 0, credential }), state.accounts.get(credential)?.balance ?? 0n] as const;
    const paid = stake.filter(({ lovelace }) => lovelace > 0n);
    const fields: Record<number, Encodable> = {};
    if (votes.length > 0) fields[19] = writeVotes(votes);
    if (proposals.length > 0) fields[20] = proposals.map((proposal) => writeProposal(proposal, ++this.proposals));
    if (donation > 0n) fields[22] = donation;
    return this.world.write({
      inputs: [this.purse, ...spentBy(operation, this.holdings)],
      outputs: paid.map(({ credential, lovelace }) => output(addressOf(credential), lovelace)),
      paid: paid.reduce((sum, { lovelace }) => sum + lovelace, 0n),
      fee: FEE,
      extra: -this.deposits(operation) - donation,
      ...(certificates.length > 0 ? { certificates: certificates.map(writeCertificate) } : {}),
      ...(withdrawals.length > 0 ? { withdrawals: withdrawals.map(balanceOf) } : {}),
      fields,
      keys: [alice.payment, ...keys],
      ...(native.length > 0 ? { native } : {}),
    });
  }

  /** Lovelace that deposits take, less what is refunded. */
  private deposits({ certificates = [], proposals = [] }: Operation): bigint {
    const { parameters, accounts, dreps, pools } = this.world.state;
    let sum = parameters.govActionDeposit * BigInt(proposals.length);
    for (const one of certificates) {
      if (one.kind === "register") sum += parameters.keyDeposit;
      else if (one.kind === "unregister") sum -= accounts.get(one.credential)?.deposit ?? 0n;
      else if (one.kind === "register drep") sum += parameters.drepDeposit;
      else if (one.kind === "unregister drep") sum -= dreps.get(one.credential)?.deposit ?? 0n;
      else if (one.kind === "register pool" && !pools.get(one.pool)) sum += parameters.poolDeposit;
    }
    return sum;
  }

  /** Judges a transaction in a block or in the mempool, and applies it where it is accepted: gives names of failures, or its id and its undoing. */
  async apply(
    operation: Operation,
    bytes: Uint8Array,
    isSubmitted: boolean,
  ): Promise<{ readonly failures: Set<string> } | { readonly id: string; readonly undo: () => void }> {
    if (isSubmitted) this.world.submission = { horizon: undefined };
    else delete this.world.submission;
    const judged = await this.world.judge(bytes);
    if (!("hash" in judged)) return { failures: new Set(judged.map(({ name }) => name)) };
    const { state } = this.world;
    const [purse, holdings] = [this.purse, new Map(this.holdings)];
    applyDelta(state, judged);
    this.purse = judged.created.at(-1)!;
    this.moveHoldings(operation, judged.created);
    const undo = () => {
      undoDelta(state, judged);
      this.purse = purse;
      this.holdings.clear();
      for (const [key, of] of holdings) this.holdings.set(key, of);
    };
    return { id: judged.hash, undo };
  }

  private moveHoldings(operation: Operation, created: readonly Utxo[]): void {
    const spent = new Set(spentBy(operation, this.holdings));
    for (const [key, of] of this.holdings) this.holdings.set(key, of.filter((one) => !spent.has(one)));
    const paid = (operation.stake ?? []).filter(({ lovelace }) => lovelace > 0n);
    for (const [index, { credential }] of paid.entries()) {
      this.holdings.set(credential, [...this.holdings.get(credential) ?? [], created[index]!]);
    }
  }

  /** Ends the epoch; gives its undoing. */
  passBoundary(): () => void {
    const { state } = this.world;
    const delta = passEpoch(state, TERMS);
    applyEpoch(state, delta);
    return () => undoEpoch(state, delta);
  }
}

function spentBy({ stake = [] }: Operation, holdings: ReadonlyMap<string, readonly Utxo[]>): Utxo[] {
  return stake.filter(({ lovelace }) => lovelace < 0n).map(({ credential, lovelace }) => {
    const found = holdings.get(credential)?.find(({ output }) => output.value.lovelace === -lovelace);
    if (!found) throw new Error("an account has no such output");
    return found;
  });
}
