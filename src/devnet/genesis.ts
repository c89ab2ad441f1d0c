/** How a devnet begins: its settings, its faucet's key and first output, kept for ever in its database. */
import { fromHex } from "#src/base/bytes.ts";
import type { Json } from "#src/base/json.ts";
import { enterpriseAddress } from "#src/cardano/address.ts";
import { decode, encode } from "#src/cardano/cbor.ts";
import { hash256 } from "#src/cardano/hash.ts";
import { keyHash, newSeed, publicKey, type SigningKey } from "#src/cardano/keys.ts";
import { readOutput, type Utxo } from "#src/cardano/output.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import type { Network } from "#src/chain/port.ts";
import { insertUtxos } from "#src/devnet/chainWrites.ts";
import { parametersFromJson, parametersToJson } from "#src/devnet/parametersJson.ts";
import type { Queries } from "#src/store/store.ts";

/** Lovelace that the faucet begins with: 30 thousand million ada. */
export const INITIAL_FUNDS = 30_000_000_000_000_000n;

/** What a devnet was begun with. */
export interface Genesis {
  readonly network: Network;
  readonly parameters: Parameters;
  /** Where the parameters were taken from. */
  readonly parametersSource: string;
  /** The issuer of every block: a cold verification key. */
  readonly issuer: Uint8Array;
  readonly faucet: { readonly key: SigningKey; readonly address: string };
}

/** What may be chosen before a devnet has begun. */
export interface GenesisOptions {
  readonly magic: number;
  /** When slot 0 begins, in ms since 1970. */
  readonly genesisTime: number;
  /** Milliseconds that a slot lasts. */
  readonly slotLength: number;
  readonly securityParameter: number;
  readonly parameters: Parameters;
  readonly parametersSource: string;
}

interface MetaRow {
  readonly magic: bigint;
  readonly genesis_time: bigint;
  readonly slot_length: number;
  readonly security_parameter: number;
  readonly parameters: Json;
  readonly parameters_source: string;
  readonly faucet_seed: Uint8Array;
  readonly issuer: Uint8Array;
}

/** The genesis of this database's devnet, if there is one already. */
export async function readGenesis(sql: Queries): Promise<Genesis | undefined> {
  const [row] = await sql<MetaRow[]>`select * from devnet_meta`;
  if (!row) return undefined;
  const key = new Uint8Array(row.faucet_seed);
  const payment = { kind: "key", hash: keyHash(publicKey(key)) } as const;
  return {
    network: {
      magic: Number(row.magic),
      id: 0,
      slots: { zeroTime: Number(row.genesis_time), zeroSlot: 0, slotLength: row.slot_length },
      securityParameter: row.security_parameter,
    },
    parameters: parametersFromJson(row.parameters),
    parametersSource: row.parameters_source,
    issuer: new Uint8Array(row.issuer),
    faucet: { key, address: enterpriseAddress(0, payment).hex },
  };
}

/** Begins a devnet; `sql` is a transaction that has locked its lease. */
export async function createGenesis(sql: Queries, options: GenesisOptions): Promise<Genesis> {
  await sql`
    insert into devnet_meta (magic, network_id, genesis_time, slot_length, security_parameter, parameters, parameters_source,
      faucet_seed, issuer)
    values (${options.magic}, 0, ${options.genesisTime}, ${options.slotLength}, ${options.securityParameter},
      ${sql.json(parametersToJson(options.parameters) as never)}, ${options.parametersSource}, ${newSeed()}, ${
    publicKey(newSeed())
  })`;
  const genesis = (await readGenesis(sql))!;
  await insertUtxos(sql, [initialFunds(genesis.faucet.address)], -1);
  return genesis;
}

/** The output of a Shelley genesis' `initialFunds`: its transaction is the hash of the address. */
export function initialFunds(address: string): Utxo {
  const output = encode(new Map<number, Uint8Array | bigint>([[0, fromHex(address)], [1, INITIAL_FUNDS]]));
  return { ref: { txHash: hash256(fromHex(address)), index: 0 }, output: readOutput(decode(output)) };
}

/** The highest slot that ever held a block, or -1, and the lowest height that a rollback may go back to. */
export async function readBounds(sql: Queries): Promise<{ lastSlot: number; floor: number }> {
  const [row] = await sql<
    { last_slot: bigint; floor_height: bigint }[]
  >`select last_slot, floor_height from devnet_meta`;
  return { lastSlot: Number(row!.last_slot), floor: Number(row!.floor_height) };
}
