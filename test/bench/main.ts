/** `deno task bench [name…] [--quick]`: results as tables, with the machine they were measured on. */
import process from "node:process";
import { parseArgs } from "node:util";
import { benchAbuse } from "./abuse.ts";
import { benchBlockfrost } from "./blockfrost.ts";
import { benchBuild } from "./build.ts";
import { benchCapacity } from "./capacity.ts";
import { benchChain } from "./chain.ts";
import { benchChainRequests } from "./chain-requests.ts";
import { benchDevnet } from "./devnet.ts";
import { benchDevnetPace } from "./devnet-pace.ts";
import { benchDevnetEpoch } from "./devnet-epoch.ts";
import { benchDevnetStart } from "./devnet-start.ts";
import { benchDevnetIndex } from "./devnet-index.ts";
import { benchDisk } from "./disk.ts";
import { embeddedBench } from "./embedded.ts";
import { machine } from "./machine.ts";
import { benchKupo } from "./kupo.ts";
import { benchOgmios } from "./ogmios.ts";
import { benchPages } from "./pages.ts";
import { benchPlutus } from "./plutus.ts";
import { benchProofKinds } from "./proof-kinds.ts";
import { benchProofs } from "./proofs.ts";
import { benchReplay } from "./replay.ts";
import { benchRuntime } from "./runtime.ts";
import { benchService } from "./service.ts";
import { benchUtxoRoot } from "./utxo-root.ts";
import { benchUpdateCosts } from "./update-costs.ts";
import { benchSnapshots } from "./snapshots.ts";
import { benchTrie } from "./trie.ts";
import { benchWallet } from "./wallet.ts";
import { benchWalletIndex } from "./wallet-index.ts";
import { benchWalletKeys } from "./wallet-keys.ts";

const BENCHES: Readonly<Record<string, () => Promise<void>>> = {
  trie: benchTrie,
  abuse: benchAbuse,
  capacity: benchCapacity,
  "update-costs": benchUpdateCosts,
  build: benchBuild,
  pages: benchPages,
  plutus: benchPlutus,
  proofs: async () => {
    await benchProofs();
    console.log("\nThe root of the unspent outputs\n");
    await benchUtxoRoot();
    console.log("");
    await benchProofKinds();
  },
  chain: benchChain,
  "chain-requests": benchChainRequests,
  service: benchService,
  devnet: benchDevnet,
  "devnet-epoch": benchDevnetEpoch,
  "devnet-pace": benchDevnetPace,
  "devnet-start": benchDevnetStart,
  snapshots: benchSnapshots,
  blockfrost: benchBlockfrost,
  ogmios: benchOgmios,
  kupo: benchKupo,
  "devnet-index": benchDevnetIndex,
  disk: benchDisk,
  embedded: embeddedBench,
  runtime: benchRuntime,
  replay: benchReplay,
  wallet: benchWallet,
  "wallet-index": benchWalletIndex,
  "wallet-keys": benchWalletKeys,
};

// some benchmarks have options of their own, which they parse themselves
const { positionals: names, values: { help } } = parseArgs({
  args: process.argv.slice(2),
  strict: false,
  allowPositionals: true,
  options: {
    part: { type: "string", multiple: true },
    events: { type: "string" },
    facts: { type: "string" },
    blocks: { type: "string" },
    size: { type: "string", multiple: true },
    requests: { type: "string" },
    help: { type: "boolean", short: "h" },
  },
});
if (help) {
  process.stdout.write(`deno task bench [name…] [--quick]; names: ${Object.keys(BENCHES).join(", ")} (all)\n`);
  process.exit(0);
}
const unknown = names.filter((name) => !(name in BENCHES));
if (unknown.length > 0) {
  process.stderr.write(`There is no ${unknown.join(", ")}; there are ${Object.keys(BENCHES).join(", ")}.\n`);
  process.exit(2);
}
console.log(machine());
for (const name of names.length > 0 ? names : Object.keys(BENCHES)) {
  console.log(`\n${name}\n`);
  await BENCHES[name]!();
}
process.exit(0);
