/** Shared wallets as the API shows them. */
import { readOverviews } from "#src/wallets/walletReads.ts";
import { onlyOf } from "#src/base/present.ts";
import { HARD } from "#src/cardano/keys/derivation.ts";
import type { WalletService } from "#src/wallets/http/service.ts";
import { lastSlot, walletView } from "#src/wallets/http/walletView.ts";
import { accountKeyText } from "#src/cardano/keys/text.ts";
import { pathText } from "#src/cardano/keys/paths.ts";
import type { SharedWalletRow } from "#src/wallets/shared/rows.ts";
import type { ScriptTemplate } from "#src/wallets/shared/types.ts";

/** Kind of the actors of shared wallets. */
export const SHARED = "shared-wallet";

function templateView({ script, keys }: ScriptTemplate) {
  return {
    cosigners: Object.fromEntries(
      Object.entries(keys).map(([name, key]) => [name, accountKeyText(key, { shared: true, format: "extended" })]),
    ),
    template: script,
  };
}

/** The members of complete and incomplete wallets. */
function sharingView({ id, name, gap, sharing }: SharedWalletRow) {
  return {
    id,
    name,
    account_index: onlyOf(pathText([HARD + sharing.account])),
    address_pool_gap: gap,
    payment_script_template: templateView(sharing.payment),
    ...(sharing.delegation ? { delegation_script_template: templateView(sharing.delegation) } : {}),
  };
}

/** Shared wallets, all of them read at one point. */
export async function sharedViews(service: WalletService, rows: readonly SharedWalletRow[]) {
  const complete = rows.filter(({ sharing }) => sharing.complete).map(({ id }) => id);
  const overviewOf = await readOverviews(service, SHARED, complete);
  const eras = await service.eras(lastSlot(complete, overviewOf));
  return rows.map((row) =>
    row.sharing.complete
      ? { ...walletView(row, overviewOf(row.id), eras), ...sharingView(row) }
      : { ...sharingView(row), state: { status: "incomplete" } }
  );
}
