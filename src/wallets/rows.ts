/** The row of a wallet: what its owner set. Only its actor's turns write it; what the wallet holds is in the index. */
import type { Point } from "#src/cardano/block.ts";
import type { Queries } from "#src/store/store.ts";

/** How a spending passphrase protects the root key. */
type PassphraseMethod = "scrypt" | "pbkdf2-hmac-sha512" | "argon2id-v2";

/** Kinds of wallets of the Byron era, at `/byron-wallets`: `icarus` for the styles icarus, trezor and ledger. */
export const BYRON_KINDS = ["random", "icarus"] as const;
/** Kinds of wallets with a single owner. */
export const SINGLE_KINDS = ["shelley", ...BYRON_KINDS] as const;
type WalletRowKind = (typeof SINGLE_KINDS)[number] | "shared";

/** A wallet. */
export interface WalletRow {
  readonly id: string;
  /** Number of times that it was created. */
  readonly incarnation: number;
  readonly kind: WalletRowKind;
  readonly name: string;
  readonly gap: number;
  /** Account public key and chain code (of a random wallet those of its root), 128 hexadecimal digits. */
  readonly key: string;
  /** Policy public key and chain code, 128 hexadecimal digits. */
  readonly policyKey?: string;
  /** Index of its account (hardened). */
  readonly account: number;
  /** Absent where the wallet has no root key. */
  readonly passphrase?: { readonly at: Date; readonly method: PassphraseMethod };
  /** The block after which the chain is read for it; slot -1 means all blocks. */
  readonly start: Point;
  readonly oneChange: boolean;
  readonly selection: "per-output" | "round-robin";
  readonly createdAt: Date;
}

interface Columns {
  readonly id: string;
  readonly life: number;
  readonly kind: WalletRow["kind"];
  readonly name: string;
  readonly gap: number;
  readonly key: string;
  readonly policy_key: string | null;
  readonly account: bigint;
  readonly passphrase_at: Date | null;
  readonly passphrase_method: PassphraseMethod | null;
  readonly birth_slot: bigint;
  readonly birth_hash: string;
  readonly one_change: boolean;
  readonly selection: WalletRow["selection"];
  readonly created_at: Date;
}

function walletOf(row: Columns): WalletRow {
  return {
    id: row.id,
    incarnation: row.life,
    kind: row.kind,
    name: row.name,
    gap: row.gap,
    key: row.key,
    account: Number(row.account),
    ...(row.policy_key === null ? {} : { policyKey: row.policy_key }),
    ...(row.passphrase_at === null || row.passphrase_method === null
      ? {}
      : { passphrase: { at: row.passphrase_at, method: row.passphrase_method } }),
    start: { slot: Number(row.birth_slot), hash: row.birth_hash },
    oneChange: row.one_change,
    selection: row.selection,
    createdAt: row.created_at,
  };
}

/** A wallet of one of these kinds; `undefined` where there is none of them. */
export async function readWallet(
  sql: Queries,
  id: string,
  kinds: readonly WalletRow["kind"][] = SINGLE_KINDS,
): Promise<WalletRow | undefined> {
  const [row] = await sql<Columns[]>`select * from wallet where id = ${id} and kind = any(${sql.array([...kinds])})`;
  return row && walletOf(row);
}

/** Keeps a wallet's row from being deleted until the transaction ends; false where there is none of that incarnation. */
export async function lockWallet(sql: Queries, id: string, incarnation: number): Promise<boolean> {
  const [row] = await sql`select 1 from wallet where id = ${id} and life = ${incarnation} for key share`;
  return row !== undefined;
}

/** All wallets of some kinds, the oldest first; from the one after `after` on, at most `limit`. */
export async function readWallets(
  sql: Queries,
  kinds: readonly WalletRow["kind"][],
  page: { readonly after?: string | undefined; readonly limit?: number | undefined } = {},
): Promise<WalletRow[]> {
  const rows = await sql<Columns[]>`
    select * from wallet where kind = any(${sql.array([...kinds])})
      ${
    page.after === undefined
      ? sql``
      : sql`and (created_at, id) > (select created_at, id from wallet where id = ${page.after})`
  }
    order by created_at, id ${page.limit === undefined ? sql`` : sql`limit ${page.limit}`}`;
  return rows.map(walletOf);
}

/** A wallet by its name, as a search lists it. */
export interface NamedWallet {
  readonly id: string;
  readonly kind: WalletRow["kind"];
  readonly name: string;
}

/**
 * Wallets with a text in their names, in any case, in the order of names; at most `most`. A database of the locale C
 * knows the case of ASCII letters only: of other letters, all of the text in one case is found.
 */
export async function findWalletsByName(sql: Queries, text: string, most: number): Promise<readonly NamedWallet[]> {
  return await sql<NamedWallet[]>`
    select id, kind, name from wallet
    where position(lower(${text.toLowerCase()}) in lower(name)) > 0
      or position(lower(${text.toUpperCase()}) in lower(name)) > 0
    order by name, id limit ${most}`;
}

/** Names and kinds of some wallets. */
export async function readWalletNames(sql: Queries, ids: readonly string[]): Promise<readonly NamedWallet[]> {
  return await sql<NamedWallet[]>`select id, kind, name from wallet where id = any(${sql.array([...ids])}::text[])`;
}
