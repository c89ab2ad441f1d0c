/** The row of a shared wallet, beside its row in `wallet`. Only its actor's turns write it. */
import { parseJson } from "#src/base/json.ts";
import type { Queries } from "#src/store/store.ts";
import { readWallet, readWallets, type WalletRow } from "#src/wallets/rows.ts";
import { templateOf } from "#src/wallets/shared/script.ts";
import type { ScriptTemplate } from "#src/wallets/shared/types.ts";

/** Account and templates of a shared wallet. */
interface SharedAccount {
  /** Account index, hardened. */
  readonly account: number;
  readonly payment: ScriptTemplate;
  readonly delegation?: ScriptTemplate;
  /** Whether all cosigners' keys are known, so that it has addresses. */
  readonly complete: boolean;
}

/** A shared wallet; `key` is its account key. */
export interface SharedWalletRow extends WalletRow {
  readonly sharing: SharedAccount;
}

interface Columns {
  readonly id: string;
  readonly account: bigint;
  readonly payment: string;
  readonly delegation: string | null;
  readonly complete: boolean;
}

function sharingOf(row: Columns): SharedAccount {
  const template = (text: string) => templateOf(parseJson(text));
  return {
    account: Number(row.account),
    payment: template(row.payment),
    ...(row.delegation === null ? {} : { delegation: template(row.delegation) }),
    complete: row.complete,
  };
}

async function withSharing(sql: Queries, wallets: readonly WalletRow[]): Promise<SharedWalletRow[]> {
  const rows = await sql<Columns[]>`
    select * from shared_wallet where id = any(${sql.array(wallets.map(({ id }) => id))})`;
  const sharings = new Map(rows.map((row) => [row.id, sharingOf(row)]));
  return wallets.flatMap((wallet) => {
    const sharing = sharings.get(wallet.id);
    return sharing ? [{ ...wallet, sharing }] : [];
  });
}

/** A shared wallet, or `undefined` where there is none. */
export async function readSharedWallet(sql: Queries, id: string): Promise<SharedWalletRow | undefined> {
  const wallet = await readWallet(sql, id, ["shared"]);
  return wallet && (await withSharing(sql, [wallet]))[0];
}

/** Shared wallets, the oldest first: those after `after`, at most `limit`. */
export async function readSharedWallets(
  sql: Queries,
  page: Parameters<typeof readWallets>[2] = {},
): Promise<SharedWalletRow[]> {
  return await withSharing(sql, await readWallets(sql, ["shared"], page));
}
