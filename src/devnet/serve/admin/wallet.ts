/**
 * The development wallet for pages (`/wallet-sdk.js`) and its endpoints, in the JSON of Yaci DevKit. Only a devnet has
 * them: the keys are public.
 *
 * Refusals of what CIP-30 defines carry its error beside the usual members: `type`, the number as `code`, the sentence as
 * `info`, and the code of this service as `reason`.
 */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { fromHex, isHex, toHex } from "#src/base/bytes.ts";
import type { Failure, Result } from "#src/base/result.ts";
import { VERSION } from "#src/base/version.ts";
import * as api from "#src/devnet/api/devnetWallet.ts";
import { type Address, addressText, parseAddress, readAddress } from "#src/cardano/address.ts";
import { decodeAll, encode } from "#src/cardano/cbor.ts";
import { readWitnesses } from "#src/cardano/conway/witnesses.ts";
import { parseDrepId } from "#src/cardano/drepId.ts";
import type { LedgerFailure } from "#src/cardano/failure.ts";
import { describeFailure } from "#src/cardano/failureText.ts";
import { addWitnesses, transactionHash } from "#src/cardano/transaction.ts";
import { encodeValue } from "#src/cardano/value.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { DevnetWallet, unspentOutputHex, type WalletAccount, type WalletServices } from "#src/devnet/wallet/wallet.ts";
import { readPages, sending } from "#src/http/pages.ts";
import { endpoint } from "#src/http/route.ts";
import { answered, paid, paymentRefusal, refusal } from "#src/devnet/serve/admin/walletFailures.ts";
import { addressOf, coinOf, decoded, pageOf, total, valueOf, valueView } from "#src/devnet/serve/admin/walletValues.ts";
import { untilInBlock } from "#src/devnet/serve/admin/untilInBlock.ts";

/** What the wallet's endpoints depend on. */
export interface WalletRoutesOptions {
  readonly devnet: WalletServices["devnet"] & Pick<Devnet, "blockMs">;
  /** The port to the same devnet. */
  readonly port: WalletServices["port"] & Pick<ChainPort, "inMempool">;
  /** The folder with a folder for each page. */
  readonly pages: URL;
  /** How long a transfer waits for its block, in ms. */
  readonly transferMs?: number;
}

const PREFIX = "/api/v1/wallet";
const UNKNOWN_ACCOUNT = "There is no such account: the accounts are 0 to 19.";
const refusing = (description: string) => ({ description, schema: api.walletError });
const AWAY = refusing("`network_unreachable`, `devnet_unavailable`, `mempool_full`, `unavailable`");
const BAD_ORIGIN = "`bad_origin`: the request is from a page whose origin is not in `--devnet-origins`";
const ACCOUNT_UNKNOWN = { 404: refusing("`account_unknown`") };
const SIGNING = { 403: BAD_ORIGIN, 413: "`body_too_large`", 503: AWAY };

/** The endpoints of one wallet. */
interface WalletEndpoints extends WalletRoutesOptions {
  readonly app: OpenAPIHono;
  readonly wallet: DevnetWallet;
  /** An account by its id. @throws {HttpFailure} 404 `account_unknown` */
  readonly accountOf: (id: string) => WalletAccount;
}

/** Adds `/wallet-sdk.js` and `/api/v1/wallet/…`. */
export function walletRoutes(app: OpenAPIHono, options: WalletRoutesOptions): void {
  const { devnet, port, pages } = options;
  const wallet = new DevnetWallet({ devnet, port });
  const accountOf = (id: string) => {
    const account = wallet.account(id);
    if (account) return account;
    throw refusal({ code: "account_unknown", message: UNKNOWN_ACCOUNT });
  };
  const sdk = sending(readPages(new URL("devnet/", pages)), {
    "x-content-type-options": "nosniff",
    // pages of any origin may load it
    "cross-origin-resource-policy": "cross-origin",
  });
  app.get("/wallet-sdk.js", (c) => sdk(c, "wallet-sdk.js"));
  const endpoints = { ...options, app, wallet, accountOf };
  for (const add of [accountRoutes, signingRoutes, paymentRoutes, cip30Routes, cip95Routes, decodeRoutes]) {
    add(endpoints);
  }
}

function accountRoutes({ app, wallet, accountOf }: WalletEndpoints): void {
  /** Id of the account that pages get when they enable the wallet. */
  let active = "0";

  endpoint(app, "get", `${PREFIX}/health`, {
    summary: "Whether the wallet is there",
    answer: api.health,
  }, async () => ({ status: "ok", service: "arbor-devnet-wallet", version: VERSION }));

  endpoint(app, "get", `${PREFIX}/accounts`, {
    summary: "The accounts of the development wallet",
    answer: api.accounts,
  }, async () => ({ accounts: wallet.accounts.map(accountView) }));

  endpoint(app, "get", `${PREFIX}/accounts/:id`, {
    summary: "An account of the development wallet",
    params: api.idParam,
    answer: api.account,
    refusals: ACCOUNT_UNKNOWN,
  }, async ({ params: { id } }) => accountView(accountOf(id)));

  endpoint(app, "get", `${PREFIX}/active-account`, {
    summary: "The account that pages get when they enable the wallet",
    answer: api.activeAccount,
  }, async () => {
    const { address, name } = accountOf(active);
    return { accountId: active, address: addressText(address), name };
  });

  endpoint(app, "put", `${PREFIX}/active-account`, {
    summary: "Choose the account that pages get when they enable the wallet",
    body: api.activateBody,
    answer: api.activated,
    refusals: { 403: BAD_ORIGIN, ...ACCOUNT_UNKNOWN, 413: "`body_too_large`" },
  }, async ({ body: { accountId } }) => {
    active = accountOf(accountId).id;
    return { accountId, status: "active" };
  });
}

function signingRoutes({ app, wallet, accountOf }: WalletEndpoints): void {
  endpoint(app, "post", `${PREFIX}/sign-tx`, {
    summary: "Sign a transaction with the keys of an account that it needs",
    body: api.signTxBody,
    answer: api.signedTx,
    refusals: {
      400: refusing("`bad_request`, `malformed_json`, `undecodable`, `cannot_sign`"),
      ...ACCOUNT_UNKNOWN,
      ...SIGNING,
    },
  }, async ({ body: { txCbor, accountId, partialSign } }) => {
    const { witnessSet, hash } = answered(await wallet.sign(accountOf(accountId), fromHex(txCbor), partialSign));
    return { witnessSet: toHex(witnessSet), txHash: hash };
  });

  endpoint(app, "post", `${PREFIX}/sign-data`, {
    summary: "Sign data for an address (CIP-8), or as the account's representative (CIP-95)",
    body: api.signDataBody,
    answer: api.signedData,
    refusals: {
      400: refusing("`bad_request`, `malformed_json`, `bad_address`, `address_without_key`, `key_unknown`"),
      ...ACCOUNT_UNKNOWN,
      ...SIGNING,
    },
  }, async ({ body: { address, payload, accountId } }) => {
    const account = accountOf(accountId);
    const of = address === undefined ? account.address : representativeOf(address) ?? answered(addressOf(address));
    const { signature, key } = answered(wallet.signData(account, of, fromHex(payload)));
    return { signature: toHex(signature), key: toHex(key) };
  });

  endpoint(app, "post", `${PREFIX}/submit-tx`, {
    summary: "Submit a signed transaction; responds with its hash",
    body: api.submitBody,
    answer: api.hexText,
    produces: "text/plain",
    refusals: { 400: refusing("`bad_request`, `malformed_json`, `undecodable`, `refused_by_ledger`"), ...SIGNING },
  }, async ({ body: { txCbor }, context }) => context.text(answered(await submitted(wallet, fromHex(txCbor)))));
}

/** The address of a payment's receiver. @throws {HttpFailure} 400 `bad_address` */
function payable(text: string, { network }: WalletRoutesOptions["devnet"]): Address {
  const address = paid(parseAddress(text, network.id));
  if (address.kind !== "reward") return address;
  throw paymentRefusal({ code: "bad_address", message: "A payment cannot be sent to a reward address." });
}

function paymentRoutes({ app, wallet, devnet, port, transferMs = 10_000 }: WalletEndpoints): void {
  endpoint(app, "post", `${PREFIX}/build-tx`, {
    summary: "Build a payment without signatures",
    body: api.buildTxBody,
    answer: api.builtTx,
    refusals: {
      400: refusing(
        "`bad_request`, `malformed_json`, `bad_address`, `bad_amount`, `sender_without_key`, `amount_too_small`",
      ),
      422: refusing("`not_enough_money`, `too_large`"),
      ...SIGNING,
    },
  }, async ({ body: { senderAddress, receiverAddress, amounts } }) => {
    const [from, to] = [paid(parseAddress(senderAddress, devnet.network.id)), payable(receiverAddress, devnet)];
    const { transaction, hash } = paid(await wallet.build(from, to, total(amounts)));
    return { success: true, txCbor: toHex(transaction), txHash: hash };
  });

  endpoint(app, "post", `${PREFIX}/assemble-tx`, {
    summary: "Add the signatures of a witness set to a transaction",
    body: api.assembleTxBody,
    answer: api.assembledTx,
    refusals: {
      400: refusing("`bad_request`, `malformed_json`, `undecodable`, `bad_witness_set`"),
      403: BAD_ORIGIN,
      413: "`body_too_large`",
    },
  }, async ({ body: { txCbor, witnessCbor } }) => {
    const added = decoded(
      paymentRefusal,
      "bad_witness_set",
      "a witness set",
      () => readWitnesses(decodeAll(fromHex(witnessCbor))),
    );
    const transaction = fromHex(txCbor);
    const signed = decoded(paymentRefusal, "undecodable", "a transaction", () => addWitnesses(transaction, added));
    return { success: true, signedTxCbor: toHex(signed) };
  });

  endpoint(app, "post", `${PREFIX}/transfer`, {
    summary: "Pay from an account; responds when a block contains the payment, or after ten seconds",
    body: api.transferBody,
    answer: api.transferred,
    refusals: {
      400: refusing("`bad_request`, `malformed_json`, `bad_address`, `bad_amount`, `amount_too_small`"),
      ...ACCOUNT_UNKNOWN,
      422: refusing("`not_enough_money`, `too_large`, `cannot_sign`, `refused_by_ledger`"),
      ...SIGNING,
    },
  }, async ({ body: { accountId, receiverAddress, amounts } }) => {
    const account = wallet.account(accountId);
    if (!account) throw paymentRefusal({ code: "account_unknown", message: UNKNOWN_ACCOUNT });
    const { transaction } = paid(await wallet.build(account.address, payable(receiverAddress, devnet), total(amounts)));
    const { witnessSet } = paid(await wallet.sign(account, transaction, false));
    const signed = addWitnesses(transaction, readWitnesses(decodeAll(witnessSet)));
    const txHash = paid(await submitted(wallet, signed));
    if (devnet.blockMs > 0) await untilInBlock(port, txHash, transferMs);
    return { success: true, txHash, message: "Transaction submitted successfully" };
  });
}

function cip30Routes({ app, wallet, devnet, accountOf }: WalletEndpoints): void {
  endpoint(app, "get", `${PREFIX}/cip30/network-id`, {
    summary: "The network id (CIP-30 getNetworkId)",
    answer: api.networkId,
  }, async () => devnet.network.id);

  const refusals = {
    400: refusing("`bad_request`, `bad_value`, `page_out_of_range`"),
    ...ACCOUNT_UNKNOWN,
    503: AWAY,
  };
  const reading = { params: api.accountParam, refusals };

  endpoint(app, "get", `${PREFIX}/cip30/:account/balance`, {
    summary: "CBOR of everything that an account has (CIP-30 getBalance)",
    ...reading,
    answer: api.hexText,
    produces: "text/plain",
  }, async ({ params: { account }, context }) => {
    const value = answered(await wallet.balance(accountOf(account)));
    return context.text(toHex(encode(encodeValue(value))));
  });

  endpoint(app, "get", `${PREFIX}/cip30/:account/utxos`, {
    summary: "CBOR of unspent outputs (CIP-30 getUtxos); null where they do not cover the amount",
    ...reading,
    query: api.utxosQuery,
    answer: api.hexListOrNull,
  }, async ({ params: { account }, query: { amount, ...paging } }) => {
    const utxos = answered(await wallet.utxos(accountOf(account), amount === undefined ? undefined : valueOf(amount)));
    return utxos ? pageOf(utxos, paging).map(unspentOutputHex) : null;
  });

  endpoint(app, "get", `${PREFIX}/cip30/:account/collateral`, {
    summary: "CBOR of outputs for a collateral (CIP-30 getCollateral); null where there are none",
    ...reading,
    query: api.collateralQuery,
    answer: api.hexListOrNull,
  }, async ({ params: { account }, query: { amount } }) => {
    const utxos = answered(
      await wallet.collateral(accountOf(account), amount === undefined ? undefined : coinOf(amount)),
    );
    return utxos ? utxos.map(unspentOutputHex) : null;
  });

  endpoint(app, "get", `${PREFIX}/cip30/:account/used-addresses`, {
    summary: "Bytes of the account's address (CIP-30 getUsedAddresses)",
    ...reading,
    query: api.paging,
    answer: api.hexList,
  }, async ({ params: { account }, query }) => pageOf([accountOf(account).address.hex], query));

  endpoint(app, "get", `${PREFIX}/cip30/:account/change-address`, {
    summary: "Bytes of the account's address (CIP-30 getChangeAddress)",
    ...reading,
    answer: api.hexText,
    produces: "text/plain",
  }, async ({ params: { account }, context }) => context.text(accountOf(account).address.hex));

  endpoint(app, "get", `${PREFIX}/cip30/:account/reward-addresses`, {
    summary: "Bytes of the account's reward address (CIP-30 getRewardAddresses)",
    ...reading,
    answer: api.hexList,
  }, async ({ params: { account } }) => [accountOf(account).rewardAddress.hex]);
}

/** What CIP-95 adds for governance. Public keys are in hexadecimal. */
function cip95Routes({ app, wallet, accountOf }: WalletEndpoints): void {
  const reading = { params: api.accountParam, refusals: { ...ACCOUNT_UNKNOWN, 503: AWAY } };
  endpoint(app, "get", `${PREFIX}/cip95/:account/pub-drep-key`, {
    summary: "Public key of the account as a representative (CIP-95 getPubDRepKey)",
    ...reading,
    answer: api.hexText,
    produces: "text/plain",
  }, async ({ params: { account }, context }) => context.text(toHex(wallet.drepKey(accountOf(account)))));

  for (const registered of [true, false]) {
    endpoint(app, "get", `${PREFIX}/cip95/:account/${registered ? "" : "un"}registered-pub-stake-keys`, {
      summary: `Public stake keys of the account that are ${registered ? "" : "not "}registered (CIP-95)`,
      ...reading,
      answer: api.hexList,
    }, async ({ params: { account } }) => {
      const { key, isRegistered } = answered(await wallet.stakeKey(accountOf(account)));
      return isRegistered === registered ? [toHex(key)] : [];
    });
  }
}

/** The representative that data is to be signed for: its key's hash, or its id; undefined for an address. */
function representativeOf(text: string): { readonly kind: "drep"; readonly hash: string } | undefined {
  if (isHex(text.toLowerCase(), 28)) return { kind: "drep", hash: text.toLowerCase() };
  const drep = parseDrepId(text);
  return drep?.kind === "key" ? { kind: "drep", hash: drep.hash } : undefined;
}

function decodeRoutes({ app }: WalletEndpoints): void {
  endpoint(app, "get", `${PREFIX}/decode/address`, {
    summary: "The text of an address",
    query: api.decodeQuery,
    answer: api.hexText,
    produces: "text/plain",
    refusals: { 400: refusing("`bad_request`, `bad_address`") },
  }, async ({ query: { cborHex }, context }) => context.text(addressText(answered(readAddress(fromHex(cborHex))))));

  endpoint(app, "get", `${PREFIX}/decode/value`, {
    summary: "A value as JSON",
    query: api.decodeQuery,
    answer: api.value,
    refusals: { 400: refusing("`bad_request`, `bad_value`") },
  }, async ({ query: { cborHex } }) => valueView(valueOf(cborHex)));
}

function accountView({ id, name, address, rewardAddress }: WalletAccount) {
  return { id, name, address: addressText(address), stakeAddress: addressText(rewardAddress), default: true };
}

/** Submits a transaction; gives its hash. */
async function submitted(wallet: DevnetWallet, transaction: Uint8Array): Promise<Result<string, Failure>> {
  const answer = await wallet.submit(transaction);
  if (!answer.ok) return answer;
  if (answer.value.outcome === "accepted") return { ok: true, value: transactionHash(transaction) };
  const { failures } = answer.value;
  const message = `The ledger refuses the transaction. ${failures.map(sentenceOf).join(" ")}`;
  return { ok: false, error: { code: "refused_by_ledger", message, details: failures } };
}

const sentenceOf = (failure: LedgerFailure): string => describeFailure(failure);
