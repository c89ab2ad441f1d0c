/** Stake pools for tests: certificates, and states with pools and people who delegate. */
import { fromHex } from "#src/base/bytes.ts";
import { baseAddress, type Credential, rewardAddress } from "#src/cardano/address.ts";
import { decode, type Encodable, encode } from "#src/cardano/cbor.ts";
import { type Output, readOutput } from "#src/cardano/output.ts";
import type { Parameters, Ratio } from "#src/cardano/parameters.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { credentialKey, type MutableLedgerState, newState } from "#src/ledger/state.ts";
import { output, tagged } from "./draft.ts";

/** The n-th hash, of 28 bytes, in hexadecimal. */
export const hash28 = (number: number): string => number.toString(16).padStart(56, "0");

/** The stake key with a number. */
export const stakeKeyOf = (number: number): Credential => ({ kind: "key", hash: hash28(number) });

/** A pool to be registered. */
export interface DraftPool {
  readonly pledge?: bigint;
  readonly cost?: bigint;
  readonly margin?: Ratio;
  readonly account?: Credential;
  /** Hashes of stake keys. */
  readonly owners?: readonly string[];
  readonly vrf?: number;
}

/** The certificate that registers a pool. */
export function poolCertificate(id: string, pool: DraftPool = {}): Encodable[] {
  const { pledge = 0n, cost = 0n, margin = { numerator: 0n, denominator: 1n }, vrf = 0 } = pool;
  return [
    3,
    fromHex(id),
    new Uint8Array(32).fill(vrf),
    pledge,
    cost,
    tagged(30, [margin.numerator, margin.denominator]),
    fromHex(rewardAddress(0, pool.account ?? stakeKeyOf(0)).hex),
    (pool.owners ?? []).map(fromHex),
    [],
    null,
  ];
}

/** A state that is built row by row. */
export class PoolWorld {
  readonly outputs = new Map<string, Output>();
  readonly state: MutableLedgerState;
  constructor(parameters: Partial<Parameters> = {}, epoch = 10) {
    this.state = newState({ parameters: { ...mainnetParameters, ...parameters }, epoch, outputs: this.outputs });
  }

  pool(id: string, pool: DraftPool, more: { deposit?: bigint; retiring?: number; future?: DraftPool } = {}): void {
    const { deposit = 500_000_000n, retiring, future } = more;
    this.state.pools.set(id, {
      certificate: encode(poolCertificate(id, pool)),
      deposit,
      ...(retiring === undefined ? {} : { retiring }),
      ...(future ? { future: encode(poolCertificate(id, future)) } : {}),
    });
    this.state.pots.deposits += deposit;
  }

  account(credential: Credential, { balance = 0n, pool }: { balance?: bigint; pool?: string } = {}): string {
    const key = credentialKey(credential);
    this.state.accounts.set(key, { deposit: 2_000_000n, balance, ...(pool ? { pool } : {}) });
    this.state.pots.deposits += 2_000_000n;
    return key;
  }

  /** An output whose stake belongs to a credential. */
  pay(stake: Credential, lovelace: bigint): void {
    const address = baseAddress(0, stakeKeyOf(99), stake).hex;
    const ref = `${this.outputs.size.toString(16).padStart(64, "0")}#0`;
    this.outputs.set(ref, readOutput(decode(encode(output(address, lovelace)))));
  }
}
