/**
 * The wallet of a signing service: an actor `wallet` whose root key is in the vault, under a passphrase that follows
 * from the mnemonic. The mnemonic and the passphrase stay in this process.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { GAP } from "#machines/wallet.ts";
import { fromHex, toHex, utf8 } from "#src/base/bytes.ts";
import { elementAt } from "#src/base/present.ts";
import { baseAddress } from "#src/cardano/address.ts";
import { origin } from "#src/cardano/block.ts";
import { ROLES } from "#src/cardano/keys/derivation.ts";
import { refKey } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { atPoint, readAvailable } from "#src/chain/pending/spendable.ts";
import { HttpFailure } from "#src/http/failure.ts";
import type { SignerOptions, SigningWallet } from "#src/signer/http/options.ts";
import { passphraseOf, withRootKey } from "#src/wallets/http/createWallet.ts";
import { answered } from "#src/wallets/http/status.ts";
import { entityOf, isGone, LONGEST_MS, until } from "#src/wallets/http/service.ts";
import { coinsIn, signTransactions, type SpentCoin } from "#src/wallets/vault/walletSigning.ts";
import { childHash, walletId } from "#src/cardano/keys/account.ts";
import { accountPath, policyPath } from "#src/cardano/keys/paths.ts";
import { readWallet, type WalletRow } from "#src/wallets/rows.ts";

const ACCOUNT = accountPath("shelley");
const PASSPHRASE_OF = "arbor signing service, passphrase of ";

/** The wallet of a mnemonic. @throws where the builder threads fail; the mnemonic was checked before */
export async function signingWallet(
  options: Pick<SignerOptions, "store" | "ask" | "vault" | "builds" | "countSpending" | "networkId">,
  words: readonly string[],
): Promise<SigningWallet> {
  const { store: { sql }, vault, ask, networkId } = options;
  // the root key and its children are the same in both styles, but Icarus also takes 12 words
  const mnemonic = { style: words.length === 12 ? "icarus" as const : "shelley" as const, words };
  const passphrase = toHex(sha256(utf8(PASSPHRASE_OF + words.join(" "))));
  const keys = answered(await vault.mnemonicKeys({ mnemonic, paths: [[], ACCOUNT] }, until()));
  const account = elementAt(keys, 1);
  const id = walletId(fromHex(elementAt(keys, 0)));
  const entity = entityOf(id);
  const owner = childHash(account, ROLES.external, 0);
  const stake = childHash(account, ROLES.stake, 0);
  const address = baseAddress(networkId, { kind: "key", hash: owner }, { kind: "key", hash: stake }).hex;

  const create = async () => {
    await withRootKey(options, { mnemonic, passphrase, paths: [ACCOUNT, policyPath()] }, async (put) => {
      const created = await ask(entity, {
        type: "CREATE",
        kind: "shelley",
        name: "Signing service",
        gap: GAP.usual,
        key: account,
        policyKey: elementAt(put.keys, 1),
        attempt: put.attempt,
        passphrase: passphraseOf(put),
        birth: { slot: origin.slot, hash: origin.hash },
        oneChange: false,
        selection: "per-output",
      }, { deadlineMs: LONGEST_MS });
      // another process with the same mnemonic may have created it meanwhile
      if (!created.ok && !isGone(created.error)) answered(created);
    });
  };

  /** Whether the passphrase of the row's key was found to be right: the row's incarnation. */
  let verified: number | undefined;
  const open = async (): Promise<WalletRow> => {
    let row = await readWallet(sql, id, ["shelley"]);
    if (row === undefined) {
      await create();
      row = await readWallet(sql, id, ["shelley"]);
    }
    if (row === undefined) throw new HttpFailure(503, "unavailable", "The wallet is still being created; try again.");
    if (verified === row.incarnation) return row;
    const known = await vault.verify(id, passphrase, until());
    if (!known.ok && ["wrong_encryption_passphrase", "no_root_key"].includes(known.error.code)) {
      throw new HttpFailure(
        409,
        "wallet_passphrase_differs",
        `This database has the wallet ${id} of the seed file without the key or the passphrase of the signing service: ` +
          "delete it there, or use another database.",
        { wallet: id },
      );
    }
    answered(known);
    verified = row.incarnation;
    return row;
  };
  let opening: Promise<WalletRow> | undefined;

  return {
    id,
    address,
    owner,
    open: () => opening ??= open().finally(() => opening = undefined),
    async sign(transaction) {
      const row = await readWallet(sql, id, ["shelley"]);
      if (row === undefined) throw new HttpFailure(503, "unavailable", "The wallet was deleted; try again.");
      const coins = await coinsSpentBy(options, { id, address }, transaction);
      const [signed] = answered(
        await signTransactions(options, row, [{ transaction, coins, policies: [] }], passphrase),
      );
      if (signed === undefined) throw new TypeError("no signed transaction for an unsigned one");
      return signed;
    },
  };
}

/** The coins of a wallet that a transaction spends or gives as collateral. */
async function coinsSpentBy(
  { store, builds }: Pick<SignerOptions, "store" | "builds">,
  { id, address }: Pick<SigningWallet, "id" | "address">,
  transaction: Uint8Array,
): Promise<SpentCoin[]> {
  const { inputs, collateral } = scanTransaction(transaction);
  const spent = new Set([...inputs, ...collateral].map(refKey));
  const path = [...ACCOUNT, ROLES.external, 0];
  const { value: available } = await atPoint(store, (sql) => readAvailable(sql, address));
  const coins: SpentCoin[] = available.flatMap(({ utxo }) => spent.has(refKey(utxo.ref)) ? [{ utxo, path }] : []);
  // other inputs are the contract's, or coins at the wallet's other addresses
  if (coins.length < spent.size) {
    const decoded = answered(await builds.decode(entityOf(id), transaction, LONGEST_MS));
    const known = new Set(coins.map(({ utxo }) => refKey(utxo.ref)));
    coins.push(
      ...coinsIn([...decoded.inputs, ...decoded.collateral]).filter(({ utxo }) => !known.has(refKey(utxo.ref))),
    );
  }
  return coins;
}
