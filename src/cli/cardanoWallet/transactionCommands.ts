/** `transaction`: requests on the transactions of a server's wallets. */
import type { Command } from "commander";
import type { Json } from "#src/base/json.ts";
import { addGroup, type Context } from "#src/cli/cardanoWallet/context.ts";
import {
  type Payment,
  readCount,
  readMetadata,
  readOrder,
  readPassphrase,
  readPayment,
  readSeconds,
  readTime,
  readTransaction,
  readTransactionId,
  readWalletId,
} from "#src/cli/cardanoWallet/readers.ts";
import {
  addRequest,
  findWallet,
  type PortOption,
  sendAndPrint,
  sendOnAndPrint,
} from "#src/cli/cardanoWallet/requests.ts";

interface PaymentOptions extends PortOption {
  readonly payment: readonly Payment[];
  readonly metadata?: Json;
  readonly ttl?: bigint;
}

interface ListOptions extends PortOption {
  readonly start?: string;
  readonly end?: string;
  readonly order?: string;
  readonly simpleMetadata?: true;
  readonly max_count?: bigint;
}

const WALLET = ["<WALLET_ID>", "id of the wallet", readWalletId] as const;
const TRANSACTION = ["<TRANSACTION_ID>", "hash of the transaction", readTransactionId] as const;
const SIMPLE = ["--simple-metadata", "output metadata json in no-schema encoding"] as const;
const EXAMPLE_ID = "2512a00e9653fe49a44a5886202e24d77eeb998f";
const EXAMPLE_HASH = "1423856bc91c49e928f6f30f4e8d665d53eb4ab6028bd0ac971809d514c92db1";

/** Adds `transaction`. */
export function transactionCommands(program: Command, context: Context): void {
  const group = addGroup(program, "transaction", "About transactions");
  paymentCommands(group, context);

  addRequest(
    group,
    "list",
    "List the transactions associated with a wallet",
    `cardano-wallet transaction list ${EXAMPLE_ID} --order ascending`,
  )
    .argument(...WALLET)
    .option(
      "--start <TIME>",
      "start time (ISO 8601 date-and-time format: basic or extended, e.g. 2012-09-25T10:15:00Z)",
      readTime,
    )
    .option("--end <TIME>", "end time, in the same format", readTime)
    .option("--order <ORDER>", "sort order, either 'ascending' or 'descending'", readOrder)
    .option(...SIMPLE)
    .option("--max_count <MAX_COUNT>", "limit to the number of transactions returned", readCount)
    .action((id: string, { start, end, order, simpleMetadata, max_count, ...options }: ListOptions) => {
      const query = { start, end, order, max_count: max_count?.toString(), "simple-metadata": simpleMetadata };
      return sendOnAndPrint(context, options, id, (wallet) => ({ path: `${wallet}/transactions`, query }));
    });

  addRequest(group, "submit", "Submit an externally-signed transaction", "cardano-wallet transaction submit 84a400…")
    .argument("<BINARY_BLOB>", "hex-encoded binary blob of externally-signed transaction", readTransaction)
    .action((bytes: Uint8Array, options: PortOption) =>
      sendAndPrint(context, options, { method: "POST", path: "/proxy/transactions", body: bytes })
    );

  addRequest(
    group,
    "forget",
    "Forget a pending transaction",
    `cardano-wallet transaction forget ${EXAMPLE_ID} ${EXAMPLE_HASH}`,
  )
    .argument(...WALLET)
    .argument(...TRANSACTION)
    .action((id: string, hash: string, options: PortOption) =>
      sendOnAndPrint(
        context,
        options,
        id,
        (wallet) => ({ method: "DELETE", path: `${wallet}/transactions/${hash}` }),
      )
    );

  addRequest(group, "get", "Get a transaction", `cardano-wallet transaction get ${EXAMPLE_ID} ${EXAMPLE_HASH}`)
    .argument(...WALLET)
    .argument(...TRANSACTION)
    .option(...SIMPLE)
    .action((id: string, hash: string, { simpleMetadata, ...options }: PortOption & { simpleMetadata?: true }) => {
      const query = { "simple-metadata": simpleMetadata };
      return sendOnAndPrint(context, options, id, (wallet) => ({ path: `${wallet}/transactions/${hash}`, query }));
    });
}

function paymentCommands(group: Command, context: Context): void {
  const payments = (name: string, summary: string) =>
    addRequest(
      group,
      name,
      summary,
      `cardano-wallet transaction ${name} ${EXAMPLE_ID} --payment 1000000@addr1… --ttl 7200s`,
    )
      .argument(...WALLET)
      .requiredOption("--payment <PAYMENT>", "amount and address, separated by @; for each payment once", readPayment)
      .option("--metadata <JSON>", "transaction metadata as a JSON object, in the form of the API", readMetadata)
      .option(
        "--ttl <DURATION>",
        "time-to-live in seconds with a trailing 's'. Default is 7200s (2 hours).",
        readSeconds,
      );
  const bodyOf = ({ payment, metadata, ttl }: PaymentOptions) => ({
    payments: payment,
    ...(metadata === undefined ? {} : { metadata }),
    ...(ttl === undefined ? {} : { time_to_live: { quantity: ttl, unit: "second" } }),
  });

  payments("create", "Create and submit a new transaction")
    .action(async (id: string, options: PaymentOptions) => {
      // an unknown wallet is refused before the prompt
      const wallet = await findWallet(options, id);
      const passphrase = await context.prompts.secret("Please enter your passphrase: ", readPassphrase);
      const body = { ...bodyOf(options), passphrase };
      await sendAndPrint(context, options, { method: "POST", path: `${wallet}/transactions`, body });
    });
  payments("fees", "Estimate fees for a transaction")
    .action((id: string, options: PaymentOptions) =>
      sendOnAndPrint(
        context,
        options,
        id,
        (wallet) => ({ method: "POST", path: `${wallet}/payment-fees`, body: bodyOf(options) }),
      )
    );
}
