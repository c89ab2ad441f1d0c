/** What the index knows of actors: which tokens, wallets and transactions belong together, for history and search. */
import { parseAddress } from "#src/cardano/address.ts";
import { readOwned, readTokenTraces } from "#src/tokens/index/owned.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import { type KnownBlock, readBlocks } from "#src/chain/index/transactions.ts";
import type { EntityRef } from "#src/runtime/types.ts";
import type { Store } from "#src/store/store.ts";
import { credentialOf, ownedCredential } from "#src/wallets/index/credential.ts";
import { ownersOf } from "#src/wallets/index/owners.ts";
import { readWalletsOf, readWalletsOfStake } from "#src/wallets/index/read.ts";
import { findWalletsByName, type NamedWallet, readWalletNames } from "#src/wallets/rows.ts";

/** Something that the index found: an actor, or a request for a token. */
export interface Found extends EntityRef {
  readonly label?: string;
}

/** How far the index has read, and the network's tip when it last read. */
export interface IndexPosition {
  readonly slot: number;
  readonly height: number;
  readonly tipSlot: number;
  readonly tipHeight: number;
}

/** The index, for operators. Lists have at most the requested number of entries, and some more. */
export interface Lookups {
  position(): Promise<IndexPosition>;
  blocks(slots: readonly number[]): Promise<ReadonlyMap<number, KnownBlock>>;
  /** Tokens, requests and wallets that transactions touched. */
  touchedBy(hashes: readonly string[], most: number): Promise<readonly Found[]>;
  /** Wallets, and owned tokens and requests, by an address; `undefined` where the text is none. */
  ofAddress(text: string, most: number): Promise<readonly Found[] | undefined>;
  /** Wallets by a part of their names. */
  named(text: string, most: number): Promise<readonly Found[]>;
}

/** The lookups in the index of a database. */
export function indexLookups({ sql }: Store): Lookups {
  const wallets = async (ids: readonly string[]) =>
    ids.length === 0 ? [] : (await readWalletNames(sql, [...new Set(ids)])).map(walletFound);
  return {
    position: async () => {
      const { at, networkTip } = await readCursor(sql);
      return { slot: at.slot, height: at.height, tipSlot: networkTip.slot, tipHeight: networkTip.height };
    },
    blocks: (slots) => readBlocks(sql, slots),
    touchedBy: async (hashes, most) => {
      if (hashes.length === 0) return [];
      const [tokens, owners] = await Promise.all([
        readTokenTraces(sql, hashes, most),
        readWalletsOf(sql, hashes, most),
      ]);
      return [...tokens.flatMap(tokenFound), ...await wallets(owners.map(({ wallet }) => wallet))];
    },
    ofAddress: async (text, most) => {
      const parsed = parseAddress(text);
      if (!parsed.ok) return undefined;
      const address = parsed.value;
      const credential = credentialOf(address.hex);
      const [owners, staked, owned] = await Promise.all([
        credential === undefined ? [] : ownersOf(sql, [credential]).then((found) => found.get(credential) ?? []),
        "stake" in address ? readWalletsOfStake(sql, ownedCredential(address.stake), most) : [],
        "payment" in address ? readOwned(sql, address.payment.hash, most) : [],
      ]);
      const ids = [...owners.map(({ wallet }) => wallet), ...staked].slice(0, most);
      return [...await wallets(ids), ...owned.flatMap(tokenFound)];
    },
    named: async (text, most) => (await findWalletsByName(sql, text, most)).map(walletFound),
  };
}

const walletFound = ({ id, kind, name }: NamedWallet): Found => ({
  kind: kind === "shared" ? "shared-wallet" : "wallet",
  id,
  label: name,
});

/** The request, where there is one, and its token. */
function tokenFound({ token, request }: { readonly token: string; readonly request: string | null }): Found[] {
  const found = { kind: "token", id: token };
  return request === null ? [found] : [{ kind: "request", id: request }, found];
}
