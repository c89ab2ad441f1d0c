/** Why the public functions of Blaze's Blockfrost provider are not used: what an upgrade may change, and then the decision. */
import { Blockfrost, Core } from "@blaze-cardano/sdk";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { addressText, readAddressHex } from "#src/cardano/address.ts";
import { person } from "../../../../support/wallets/person.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A server; gives its URL. */
async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

function providerAt(url: string): Blockfrost {
  const provider = new Blockfrost({ network: "cardano-preview", projectId: "a secret" });
  provider.url = url;
  return provider;
}

const alice = readAddressHex(person("alice").enterprise);
if (!alice.ok) throw new Error(alice.error.message);
const address = addressText(alice.value);

describe("the public functions of Blaze's Blockfrost provider", () => {
  it("throw at an address that has never had an output", async () => {
    const missing = { status_code: 404, error: "Not Found", message: "The requested component has not been found." };
    const url = await serve((_, response) => response.writeHead(404).end(JSON.stringify(missing)));
    await expect(providerAt(url).getUnspentOutputs(Core.Address.fromBech32(address))).rejects.toThrow(/not been found/);
  });

  it("give outputs by reference that are spent", async () => {
    const hash = "ab".repeat(32);
    const output = { address, amount: [{ unit: "lovelace", quantity: "5000000" }], output_index: 0, collateral: false };
    const outputs = [{ ...output, consumed_by_tx: "cd".repeat(32) }];
    const url = await serve((_, response) => response.end(JSON.stringify({ hash, inputs: [], outputs })));
    const input = new Core.TransactionInput(Core.TransactionId(hash), 0n);
    expect(await providerAt(url).resolveUnspentOutputs([input])).toHaveLength(1);
  });

  it("send the project id to another server along a redirect", async () => {
    const seen: unknown[] = [];
    const other = await serve((request, response) => {
      seen.push(request.headers.project_id);
      response.end("[]");
    });
    const url = await serve((_, response) => response.writeHead(307, { location: `${other}elsewhere` }).end());
    await providerAt(url).getUnspentOutputs(Core.Address.fromBech32(address));
    expect(seen).toEqual(["a secret"]);
  });

  it("ask for pages one after the other without a point at which all of them hold", async () => {
    const asked: string[] = [];
    const url = await serve((request, response) => {
      asked.push(new URL(request.url!, "http://x").searchParams.get("page")!);
      const utxo = { address, output_index: 0, amount: [{ unit: "lovelace", quantity: "1" }] };
      const page = Array.from({ length: asked.length === 1 ? 100 : 1 }, (_, i) => ({
        ...utxo,
        tx_hash: String(i).padStart(64, "0"),
        // each page is of another block
        block: String(asked.length).padStart(64, "0"),
      }));
      response.end(JSON.stringify(page));
    });
    // the second page repeats an output of the first, as after a block between the two
    expect(await providerAt(url).getUnspentOutputs(Core.Address.fromBech32(address))).toHaveLength(101);
    expect(asked).toEqual(["1", "2"]);
  });
});
