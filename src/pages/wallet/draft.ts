/** Transactions that may be signed: built by the service, and read again from their bytes in the browser. */
import { ApiError } from "#src/client/http.ts";
import type { Constructed, Decoded, NetworkInformation } from "#src/client/wallets.ts";
import type { OwnKeys } from "./ownKeys.ts";
import type { Requested, Review } from "./review.ts";
import { read, send, type WalletSummary } from "./service.ts";

/** A transaction that may be signed, with what was requested where it was built here. */
export interface Draft {
  /** CBOR in base64. */
  readonly transaction: string;
  readonly requested?: Requested | undefined;
  readonly warnings?: Constructed["warnings"];
}

/** Has the service build a transaction. @throws {ApiError} with advice */
export async function construct(wallet: WalletSummary, body: unknown, requested: Requested): Promise<Draft> {
  const built = await send<Constructed>("POST", `/${wallet.prefix}/${wallet.id}/transactions-construct`, body);
  return { transaction: built.transaction, requested, warnings: built.warnings };
}

/** A transaction as it was read here. */
export interface Reviewed {
  readonly review: Review;
  readonly own: OwnKeys;
  /** Owners of a shared wallet who have signed. */
  readonly signers: ReadonlySet<string>;
}

/** Reads a transaction in the browser; the service only names the paths of addresses, which are derived again here. */
export async function reviewOf(wallet: WalletSummary, { transaction, requested }: Draft): Promise<Reviewed> {
  const { reviewTransaction, transactionBytes, CborError } = await import("./review.ts");
  const bytes = transactionBytes(transaction);
  if (bytes === undefined) {
    throw new ApiError(400, "bad_request", "This is no transaction: it is neither base64 nor hexadecimal.");
  }
  const [{ signersAmong }, own, decoded] = await Promise.all([
    import("./ownKeys.ts"),
    ownKeysOf(wallet),
    send<Decoded>("POST", `/${wallet.prefix}/${wallet.id}/transactions-decode`, { transaction }),
  ]);
  const paths = new Map(
    [...decoded.outputs, ...decoded.inputs].flatMap(({ address, derivation_path: path }) =>
      address && path ? [[address, path] as const] : []
    ),
  );
  try {
    const review = reviewTransaction(bytes, { own, paths, requested });
    const inputPaths = decoded.inputs.flatMap(({ derivation_path: path }) => path ? [path] : []);
    const signers = wallet.payment ? signersAmong(wallet.payment, review.signed, inputPaths) : new Set<string>();
    return { review, own, signers };
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    throw new ApiError(400, "bad_request", `This is no transaction: ${error.message}.`);
  }
}

const keys = new Map<string, Promise<OwnKeys>>();

/** What belongs to a wallet, from its public keys. They never change, so they are read once. */
export function ownKeysOf(wallet: WalletSummary): Promise<OwnKeys> {
  const known = keys.get(wallet.id);
  if (known) return known;
  const made = derive(wallet);
  keys.set(wallet.id, made);
  made.catch(() => keys.delete(wallet.id));
  return made;
}

async function derive({ prefix, id, payment, staking }: WalletSummary): Promise<OwnKeys> {
  const [{ singleOwner, severalOwners }, { network_info: info }] = await Promise.all([
    import("./ownKeys.ts"),
    read<NetworkInformation>("/network/information"),
  ]);
  const network = info.network_id === "mainnet" ? 1 : 0;
  if (payment) return severalOwners(payment, staking, network);
  return singleOwner(await read<string>(`/${prefix}/${id}/keys`, { format: "extended" }), network);
}
