/** Texts and messages that many scenarios send or match. */

/** Names of several scripts, with control characters and pictures: valid as names and as passphrases. */
export const NAMES: Readonly<Record<string, string>> = {
  "Russian": "АаБбВвГгДдЕеЁёЖжЗз ИиЙйКкЛлМм ЩщЪъ ЫыЬьЭэЮюЯя ІѢѲѴѵѳѣі",
  "Polish": "aąbcćdeęfghijklłmnoóprsś\r\ntuvwyzżźAĄBCĆDEĘFGHIJ\rKLŁMNOP",
  "Kanji": "亜哀挨愛曖悪握圧扱宛嵐安案暗以衣位囲医依\n営詠影鋭衛易疫益液駅\r央応往押旺欧殴桜翁奥横\r",
  "Arabic": "ثم نفس سقطت وبالتحديد،, جزيرتي باستخدام أن دنو. إذ هنا؟ الستار",
  "wildcards": "`~`!@#$%^&*()_+-=<>,./?;':\"\"'{}[]\\|❤️ 💔 💌 💕 0️⃣ 🔟🇺🇸🇷🇺🇸 🇦🇫",
};

/** A request's headers, and whether the request is accepted by an operation with a JSON body. */
export const HEADERS: Readonly<Record<string, readonly [headers: Record<string, string>, status?: 406 | 415]>> = {
  "no headers": [{}, 415],
  "accept text/plain": [{ "content-type": "application/json", accept: "text/plain" }, 406],
  "no accept": [{ "content-type": "application/json" }],
  "no content type": [{ accept: "application/json" }, 415],
  "content type text/plain": [{ "content-type": "text/plain" }, 415],
};

/** The same for an operation without a body: only what is accepted counts. */
export const HEADERS_WITHOUT_BODY: typeof HEADERS = {
  "no headers": [{}],
  "accept text/plain": [{ "content-type": "application/json", accept: "text/plain" }, 406],
  "no accept": [{ "content-type": "application/json" }],
  "no content type": [{ accept: "application/json" }],
  "content type text/plain": [{ "content-type": "text/plain" }],
};

/** Messages by status, as far as clients match them. */
export const HEADER_MESSAGES = {
  406: "It seems as though you don't accept 'application/json', but unfortunately I only speak 'application/json'! " +
    "Please double-check your 'Accept' request header and make sure it's set to 'application/json'",
  415:
    "I'm really sorry but I only understand 'application/json'. I need you to tell me what language you're speaking in " +
    "order for me to understand your message. Please double-check your 'Content-Type' request header and make sure it's " +
    "set to 'application/json'.",
} as const;

export const CODES = { 406: "not_acceptable", 415: "unsupported_media_type" } as const;

/** What an answer to these headers is, where `status` is that of a success. */
export const headerAnswer = (refused: 406 | 415 | undefined, status: number) =>
  refused === undefined ? { status } : { status: refused, code: CODES[refused], message: HEADER_MESSAGES[refused] };

export const WRONG_PASSPHRASE = {
  status: 403,
  code: "wrong_encryption_passphrase",
  message:
    "The given encryption passphrase doesn't match the one I use to encrypt the root private key of the given wallet",
};

export const WRONG_MNEMONIC = {
  status: 403,
  code: "wrong_mnemonic",
  message: "The given mnemonic doesn't match the one this wallet was created with",
};

/** The answer to a request about a wallet that is not known. */
export const noSuchWallet = (id: string) => ({
  status: 404,
  code: "no_such_wallet",
  message: `I couldn't find a wallet with the given id: ${id}`,
  body: { info: { wallet_id: id } },
});

/** The refusal of what needs a root key, for a wallet that has none. */
export const noRootKey = (id: string) => ({
  status: 403,
  code: "no_root_key",
  message:
    `I couldn't find a root private key for the given wallet: ${id}. However, this operation requires that I do ` +
    "have such a key. Either there's no such wallet, or I don't fully own it.",
});

export const METADATA_TOO_LONG = {
  status: 400,
  code: "bad_request",
  message: "Text string metadata value must consist of at most 64 UTF8 bytes",
};

export const NOTHING_TO_MIGRATE = {
  status: 403,
  code: "nothing_to_migrate",
  message:
    "I wasn't able to construct a migration plan. This could be because your wallet is empty, or it could be because the " +
    "amount of ada in your wallet is insufficient to pay for any of the funds to be migrated. Try adding some ada to " +
    "your wallet before trying again.",
};

export const NOT_BENEFICIAL = {
  status: 403,
  code: "withdrawal_not_beneficial",
  message: "I've noticed that you're requesting a withdrawal from an account that is either empty or doesn't have a " +
    "balance big enough to deserve being withdrawn. I won't proceed with that request.",
};

/** The answer to a request about a transaction that is not known. */
export const noSuchTransaction = (id: string) => ({
  status: 404,
  code: "no_such_transaction",
  message: `I couldn't find a transaction with the given id: ${id}`,
});
