/** The devnet's services for libraries and tools, as options: Ogmios, Kupo, UTxO RPC, and MCP. */
export const LIBRARY_NAMES = [
  "ogmios-port",
  "ogmios-version",
  "ogmios-include-cbor",
  "kupo-port",
  "utxorpc-port",
  "utxorpc-integers",
  "mcp-port",
] as const;

type OptionName = (typeof LIBRARY_NAMES)[number];

export const LIBRARY_FLAGS = ["ogmios-include-cbor", "utxorpc-integers"] as const;

export const LIBRARY_HELP = `  --ogmios-port N      Ogmios' API of the devnet (1337)                 ARBOR_OGMIOS_PORT
  --ogmios-version N   shapes of its messages: 6 for 6.14, 7 for 7.0 (6)  ARBOR_OGMIOS_VERSION
  --ogmios-include-cbor  transactions in its blocks have their CBOR     ARBOR_OGMIOS_INCLUDE_CBOR
  --kupo-port N        Kupo's API of the devnet (1442)                  ARBOR_KUPO_PORT
  --utxorpc-port N     UTxO RPC of the devnet (50051)                   ARBOR_UTXORPC_PORT
  --utxorpc-integers   its quantities as integers, for @utxorpc/sdk up to 0.7 and Mesh  ARBOR_UTXORPC_INTEGERS
  --mcp-port N         MCP server of the devnet, on loopback only (off)  ARBOR_MCP_PORT`;

/** Services that the devnet has for libraries and tools. Which of them run is in `devnetWithout`. */
export interface LibraryOptions {
  readonly ogmiosPort: number;
  /** Major version whose shapes Ogmios' messages have. */
  readonly ogmiosVersion: 6 | 7;
  /** Whether Ogmios' transactions carry their CBOR. */
  readonly ogmiosIncludeCbor: boolean;
  readonly kupoPort: number;
  readonly utxorpcPort: number;
  /** Whether quantities of UTxO RPC are plain integers, as before version 0.18 of its messages. */
  readonly utxorpcIntegers: boolean;
  /** Port of the MCP server; none where undefined. */
  readonly mcpPort?: number;
}

interface OptionReaders {
  readonly text: (name: OptionName) => string | undefined;
  readonly flag: (name: OptionName) => boolean;
  readonly port: (name: OptionName, usual: number) => number;
  readonly problem: (sentence: string) => void;
}

/** Reads the options of the services for libraries. */
export function readLibraryServices({ text, flag, port, problem }: OptionReaders): LibraryOptions {
  const version = text("ogmios-version") ?? "6";
  if (version !== "6" && version !== "7") problem("--ogmios-version must be 6 or 7");
  return {
    ogmiosPort: port("ogmios-port", 1337),
    ogmiosVersion: version === "7" ? 7 : 6,
    ogmiosIncludeCbor: flag("ogmios-include-cbor"),
    kupoPort: port("kupo-port", 1442),
    utxorpcPort: port("utxorpc-port", 50_051),
    utxorpcIntegers: flag("utxorpc-integers"),
    ...(text("mcp-port") === undefined ? {} : { mcpPort: port("mcp-port", 0) }),
  };
}
