// @ts-check
/// <reference lib="dom" />
/**
 * The development wallet of a devnet for any page, as a browser wallet (CIP-30): `window.cardano.yacidevkit`, under which
 * Yaci DevKit has its own, and the same as `window.cardano.arbordevnet`. Its keys are public, and the devnet signs with
 * them: there is no secret here. Each fires `<name>:ready` on the window when the devnet answers.
 *
 * A page loads it with `<script src="http://127.0.0.1:10000/wallet-sdk.js"></script>`; the attribute `data-wallets`
 * chooses one of the two names.
 */
(() => {
  "use strict";

  /** The version of Yaci DevKit's script whose interface this one has. */
  const VERSION = "4.0.0";
  const NAMES = { yacidevkit: "Yaci DevKit", arbordevnet: "Arbor devnet wallet (development)" };
  const ICON = "data:image/svg+xml;base64," + btoa(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48"><rect width="48" height="48" rx="10" fill="#8a4b08"/>' +
      '<path d="M14 34 24 12l10 22M18 27h12" fill="none" stroke="#fff" stroke-width="4"/></svg>',
  );

  /** The extension for governance. */
  const GOVERNANCE = { cip: 95 };

  /** An error of CIP-30. */
  class WalletError extends Error {
    /** @param {number} code @param {string} info */
    constructor(code, info) {
      super(info);
      this.name = new.target.name;
      this.code = code;
      this.info = info;
    }
  }
  class APIError extends WalletError {
    static InvalidRequest = -1;
    static InternalError = -2;
    static Refused = -3;
    static AccountChange = -4;
  }
  class TxSignError extends WalletError {
    static ProofGeneration = 1;
    static UserDeclined = 2;
  }
  class TxSendError extends WalletError {
    static Refused = 1;
    static Failure = 2;
  }
  class DataSignError extends WalletError {
    static ProofGeneration = 1;
    static AddressNotPK = 2;
    static UserDeclined = 3;
  }
  class PaginateError extends Error {
    /** @param {number} maxSize how many items there are */
    constructor(maxSize) {
      super(`There are ${maxSize} items.`);
      this.name = "PaginateError";
      this.maxSize = maxSize;
    }
  }
  /** @type {Record<string, new (code: number, info: string) => WalletError>} */
  const TYPES = { APIError, TxSignError, TxSendError, DataSignError };

  const script = document.currentScript instanceof HTMLScriptElement ? document.currentScript : null;
  const devnet = script?.src ? new URL(script.src).origin : "http://localhost:10000";
  const offered = /** @type {(keyof typeof NAMES)[]} */ (Object.keys(NAMES)).filter((name) =>
    script?.dataset.wallets === undefined || script.dataset.wallets === name
  );

  /**
   * The error behind an answer. @param {number} status @param {any} answer
   */
  function errorOf(status, answer) {
    if (answer?.type === "PaginateError") return new PaginateError(answer.maxSize);
    const Type = TYPES[answer?.type];
    if (Type) return new Type(answer.code, answer.info);
    const info = typeof answer?.error === "string" ? answer.error : `The devnet responded with ${status}.`;
    const { Refused, InternalError, InvalidRequest } = APIError;
    return new APIError(status === 403 ? Refused : status >= 500 ? InternalError : InvalidRequest, info);
  }

  /**
   * Sends a request; gives the answer: JSON, or a text. Throws an error of CIP-30. @param {string} path @param {object}
   * [body] of a POST @returns {Promise<any>}
   */
  async function call(path, body) {
    const request = body === undefined
      ? {}
      : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    /** @type {Response} */
    let response;
    /** @type {any} */
    let answer;
    try {
      response = await fetch(`${devnet}/api/v1/wallet${path}`, request);
      const isJson = response.headers.get("content-type")?.startsWith("application/json");
      answer = await (isJson ? response.json() : response.text());
    } catch {
      throw new APIError(APIError.InternalError, `The devnet at ${devnet} cannot be reached.`);
    }
    if (response.ok) return answer;
    throw errorOf(response.status, answer);
  }

  /** Those parameters of a query that have values. @param {Record<string, unknown>} values */
  function query(values) {
    const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== null);
    const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
    return text === "" ? "" : `?${text}`;
  }

  /**
   * What an enabled wallet gives. @param {string} active @param {{ id: string }[]} accounts @param {boolean} governs
   * whether the page has asked for CIP-95
   */
  function enabledApi(active, accounts, governs) {
    let account = active;
    /** @param {string} path @param {Record<string, unknown>} [values] */
    const read = (path, values = {}) => call(`/cip30/${encodeURIComponent(account)}${path}${query(values)}`);
    /** @param {string} path */
    const govern = (path) => call(`/cip95/${encodeURIComponent(account)}${path}`);
    return {
      getExtensions: async () => governs ? [GOVERNANCE] : [],
      getNetworkId: () => call("/cip30/network-id"),
      /** @param {string} [amount] CBOR of a value @param {{ page: number, limit: number }} [paginate] */
      getUtxos: (amount, paginate) => read("/utxos", { amount, page: paginate?.page, limit: paginate?.limit }),
      getBalance: () => read("/balance"),
      /** @param {{ page: number, limit: number }} [paginate] */
      getUsedAddresses: (paginate) => read("/used-addresses", { page: paginate?.page, limit: paginate?.limit }),
      /** An account has one address, which counts as used. */
      getUnusedAddresses: async () => /** @type {string[]} */ ([]),
      getChangeAddress: () => read("/change-address"),
      getRewardAddresses: () => read("/reward-addresses"),
      /** @param {{ amount?: string }} [parameters] CBOR of lovelace */
      getCollateral: (parameters) => read("/collateral", { amount: parameters?.amount }),
      /** @param {string} transaction CBOR @param {boolean} [partialSign] */
      signTx: async (transaction, partialSign = false) =>
        (await call("/sign-tx", { txCbor: transaction, accountId: account, partialSign })).witnessSet,
      /** @param {string} address hexadecimal or text @param {string} payload hexadecimal */
      signData: (address, payload) => call("/sign-data", { address, payload, accountId: account }),
      /** @param {string} transaction CBOR */
      submitTx: (transaction) => call("/submit-tx", { txCbor: transaction }),
      ...(governs
        ? {
          cip95: {
            getPubDRepKey: () => govern("/pub-drep-key"),
            getRegisteredPubStakeKeys: () => govern("/registered-pub-stake-keys"),
            getUnregisteredPubStakeKeys: () => govern("/unregistered-pub-stake-keys"),
            /** @param {string} address hexadecimal, text, or a representative's id @param {string} payload hexadecimal */
            signData: (address, payload) => call("/sign-data", { address, payload, accountId: account }),
          },
        }
        : {}),

      // as Yaci DevKit's, beside CIP-30
      /** @param {number | string} id */
      selectAccount(id) {
        if (!accounts.some((one) => one.id === String(id))) {
          throw new APIError(APIError.InvalidRequest, `There is no account ${id}.`);
        }
        account = String(id);
      },
      getAccountId: () => account,
      getAccounts: () => accounts,
      /** @param {string} hex */
      decodeAddress: (hex) => call(`/decode/address${query({ cborHex: hex })}`),
      /** @param {string} hex */
      decodeValue: (hex) => call(`/decode/value${query({ cborHex: hex })}`),
    };
  }

  /** What a page finds under `window.cardano`. @param {string} name */
  function provider(name) {
    /** @type {{ active: string, governs: boolean, api: ReturnType<typeof enabledApi> } | undefined} */
    let enabled;
    return {
      name,
      icon: ICON,
      apiVersion: "1",
      supportedExtensions: [GOVERNANCE],
      isEnabled: async () => enabled !== undefined,
      /** Of the extensions that are requested CIP-95 is enabled. @param {{ extensions?: { cip: number }[] }} [options] */
      enable: async (options) => {
        const governs = options?.extensions?.some(({ cip }) => cip === GOVERNANCE.cip) ?? false;
        const [{ accountId }, { accounts }] = await Promise.all([call("/active-account"), call("/accounts")]);
        if (enabled && enabled.active === accountId && enabled.governs === governs) return enabled.api;
        const api = enabledApi(accountId, accounts, governs);
        enabled = { active: accountId, governs, api };
        return api;
      },
    };
  }

  const page = /** @type {{ cardano?: Record<string, unknown> } & Record<string, unknown>} */ (
    /** @type {unknown} */ (globalThis)
  );
  page.cardano ??= {};
  for (const name of offered) page.cardano[name] = provider(NAMES[name]);
  page.YaciDevKitErrors = { APIError, TxSignError, TxSendError, DataSignError, PaginateError };
  const sdk = { isReady: false };
  page.yaciDevKitSDK = sdk;
  call("/health").then(() => {
    sdk.isReady = true;
    for (const name of offered) {
      dispatchEvent(new CustomEvent(`${name}:ready`, { detail: { version: VERSION, development: true } }));
    }
  }, (error) => console.warn("[Arbor devnet]", error.message));
})();
