/** `address list | create | import`, `network`, `stake-pool` and `version`. */
import type { Command } from "commander";
import { addCommand, addGroup, type Context, putLine } from "#src/cli/cardanoWallet/context.ts";
import {
  readEpoch,
  readIndex,
  readPassphrase,
  readStake,
  readState,
  readWalletId,
} from "#src/cli/cardanoWallet/readers.ts";
import { addRequest, type PortOption, sendAndPrint, sendOnAndPrint } from "#src/cli/cardanoWallet/requests.ts";

const WALLET = ["<WALLET_ID>", "id of the wallet", readWalletId] as const;
const EXAMPLE_ID = "2512a00e9653fe49a44a5886202e24d77eeb998f";

/** Adds the commands on the addresses of wallets to `address`. */
export function walletAddressCommands(group: Command, context: Context): void {
  addRequest(
    group,
    "list",
    "List all known addresses of a given wallet",
    `cardano-wallet address list --state unused ${EXAMPLE_ID}`,
  )
    .argument(...WALLET)
    .option("--state <STRING>", "only addresses with the given state: either 'used' or 'unused'", readState)
    .action((id: string, { state, ...options }: PortOption & { state?: string }) =>
      sendOnAndPrint(context, options, id, (wallet) => ({ path: `${wallet}/addresses`, query: { state } }))
    );

  addRequest(
    group,
    "create",
    "Create a new address of a random wallet, at a random index where none is given",
    `cardano-wallet address create --address-index 2147483662 ${EXAMPLE_ID}`,
  )
    .argument(...WALLET)
    .option("--address-index <INDEX>", "a derivation index for the address", readIndex)
    .action(async (id: string, { addressIndex, ...options }: PortOption & { addressIndex?: bigint }) => {
      const passphrase = await context.prompts.secret("Please enter your passphrase: ", readPassphrase);
      const body = { passphrase, ...(addressIndex === undefined ? {} : { address_index: addressIndex }) };
      await sendAndPrint(context, options, { method: "POST", path: `/byron-wallets/${id}/addresses`, body });
    });

  addRequest(
    group,
    "import",
    "Import an address of a random wallet that was created elsewhere; it must belong to the wallet",
    `cardano-wallet address import ${EXAMPLE_ID} DdzFF…`,
  )
    .argument(...WALLET)
    .argument("<ADDRESS>", "the address")
    .action((id: string, address: string, options: PortOption) => {
      const path = `/byron-wallets/${id}/addresses/${encodeURIComponent(address)}`;
      return sendAndPrint(context, options, { method: "PUT", path });
    });
}

/** Adds `network`. */
export function networkCommands(program: Command, context: Context): void {
  const group = addGroup(program, "network", "About the network");
  addRequest(group, "information", "View network information", "cardano-wallet network information")
    .action((options: PortOption) => sendAndPrint(context, options, { path: "/network/information" }));
  addRequest(group, "parameters", "View network parameters", "cardano-wallet network parameters latest")
    .argument("[EPOCH_NUMBER]", "'latest', or an epoch that is not later than the current one", readEpoch)
    .action((epoch: string | undefined, options: PortOption) =>
      sendAndPrint(context, options, { path: "/network/parameters", query: { epoch } })
    );
  addRequest(group, "clock", "View NTP offset", "cardano-wallet network clock --force-ntp-check")
    .option("--force-ntp-check", "check the time with the server now, rather than use a cached result")
    .action(({ forceNtpCheck, ...options }: PortOption & { forceNtpCheck?: true }) =>
      sendAndPrint(context, options, { path: "/network/clock", query: { forceNtpCheck } })
    );
}

/** Adds `stake-pool`. */
export function poolCommands(program: Command, context: Context): void {
  const group = addGroup(program, "stake-pool", "About stake pools");
  addRequest(group, "list", "List all known stake pools", "cardano-wallet stake-pool list --stake 1000000000")
    .option(
      "--stake <STAKE>",
      "the stake in lovelace that you intend to delegate, which affects rewards and ranking",
      readStake,
    )
    .action(({ stake, ...options }: PortOption & { stake?: bigint }) =>
      sendAndPrint(context, options, { path: "/stake-pools", query: { stake: stake?.toString() } })
    );
}

/** Adds `version`. */
export function versionCommand(program: Command, context: Context): void {
  addCommand(program, "version", "Show the program's version", "cardano-wallet version")
    .action(async () => {
      const { VERSION } = await import("#src/base/version.ts");
      putLine(context, VERSION);
    });
}
