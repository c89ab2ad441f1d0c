/**
 * `deno task api-examples`: records the examples of the signing service, those of the token service that depend on the
 * contract, and those of the devnet's time, governance and root of outputs, from services that this command starts. They
 * are another token's each time;
 * `test/unit/tokens/http/config.test.ts` has that of `GET /config`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { fromHex } from "#src/base/bytes.ts";
import { decode } from "#src/cardano/cbor.ts";
import { readOutput } from "#src/cardano/output.ts";
import { cageScript } from "#src/contract/script.ts";
import { DEVNET_LOG_DEPTH } from "#src/tokens/log/settings.ts";
import type { Arbor } from "../support/service/arbor.ts";
import { signerEnv } from "../support/service/signerClient.ts";
import { fund, http, land, User } from "../support/service/user.ts";
import { withService } from "./service.ts";

await withService(async (arbor) => {
  await recorded("tokens/http", arbor.tokens, (record) => recordTokens(arbor, record));
  await recorded("signer/http", arbor.signer, (record) => recordSigner(arbor, record));
  await recorded("devnet/serve/admin", arbor.devnet, recordTime);
  await recorded("chain/utxoRoot", arbor.devnet, (record) => recordUtxoRoot(arbor.devnet, record));
  await recorded("devnet/serve/admin", arbor.devnet, recordGovernance);
}, { ...signerEnv("wallet"), ARBOR_DREPS: "1" });
process.exit(0);

/** Sends a request and takes it as the example of its operation, or of its query where it names one; gives the answer. */
type RecordExample = (
  operation: string,
  given: Readonly<{ [name: string]: string | string[] }>,
  body?: object,
  // deno-lint-ignore no-explicit-any
) => Promise<any>;

/** Records examples of the service at `base` into the file in a folder of `src`. */
async function recorded(folder: string, base: string, work: (record: RecordExample) => Promise<void>): Promise<void> {
  const file = new URL(`../../src/${folder}/examples.json`, import.meta.url);
  const examples = JSON.parse(readFileSync(file, "utf8"));
  await work(async (operation, given, body) => {
    const [method = "", target = ""] = operation.split(" ");
    const [template = "", named = ""] = target.split("?");
    const query = Object.entries(given).filter(([name]) => !template.includes(`{${name}}`))
      .flatMap(([name, value]) => [value].flat().map((one) => [name, one])).concat([...new URLSearchParams(named)]);
    const path = template.replace(/\{(\w+)\}/g, (_, name) => String(given[name]));
    const answer = await http(base, method, `${path}?${new URLSearchParams(query)}`, body);
    if (answer.status !== 200) throw new Error(`${operation}: ${answer.status} ${JSON.stringify(answer.body)}`);
    const parameters = Object.keys(given).length > 0 ? { parameters: given } : {};
    examples[operation] = { ...parameters, ...(body ? { body } : {}), answer: answer.body };
    return answer.body;
  });
  writeFileSync(file, JSON.stringify(examples, null, 2) + "\n");
}

async function recordTime(record: RecordExample): Promise<void> {
  await record("PUT /mining", {}, { mode: "manual" });
  await record("POST /time/sync", {}, {});
  await record("PUT /mining", {}, { mode: "submit" });
  await record("POST /blocks", {}, { count: 3 });
  await record("POST /time/advance", {}, { seconds: 3600 });
  const { slot } = await record("GET /time", {});
  await record("POST /time/next", {}, { slot: slot + 20 });
}

async function recordUtxoRoot(devnet: string, record: RecordExample): Promise<void> {
  const { address } = new User();
  const { body: { txHash: txId } } = await http(devnet, "POST", "/faucet", { address, lovelace: 1_000_000_000 });
  const output = { txId, txIx: "0" };
  const { txOut } = await record("GET /utxo-csmt/await/{txId}/{txIx}", { ...output, timeout: "30" });
  const ofAddress = readOutput(decode(fromHex(txOut))).address;
  await record("GET /utxo-root", {});
  await record("GET /utxo-root/addresses/{address}", { address });
  await record("GET /utxo-root/addresses/{address}/outputs/{txId}/{index}", { address, txId, index: "0" });
  await record("GET /utxo-csmt/merkle-roots", {});
  await record("GET /utxo-csmt/proof/{txId}/{txIx}", output);
  await record("GET /utxo-csmt/utxos-by-address/{address}", { address: ofAddress });
  await record("GET /utxo-csmt/ready", {});
  await record("GET /utxo/root", {});
  await record("GET /utxo/{txId}/{txIx}", output);
  await record("GET /utxo/{txId}/{txIx}/proof", output);
}

async function recordGovernance(record: RecordExample): Promise<void> {
  await record("GET /governance/voters", {});
  const action = { kind: "parameters", changes: { desiredPools: 400 } };
  const { id } = await record("POST /governance/actions", {}, { action });
  await record("POST /governance/votes", {}, { action: id, vote: "yes", as: ["drep"] });
  await record("GET /governance", {});
}

async function recordSigner({ signer }: Arbor, record: RecordExample): Promise<void> {
  const wait = () => http(signer, "POST", "/indexer/wait-blocks", { n: 2 });
  await record("PUT /wallet/topup", {}, { amount: 1000 });
  await wait();
  await record("GET /wallet", {});
  const { tokenId } = await record("POST /token", {}, {});
  const request = (value: string): Promise<string> =>
    record("POST /token/{tokenId}/request", { tokenId }, { type: "insert", key: "planet", value });
  await record("DELETE /request/{outputRef}", { outputRef: await request("Pluto") });
  const requestId = await request("Earth");
  await wait();
  await record("GET /token/{tokenId}", { tokenId });
  await record("GET /token/{tokenId}/requests", { tokenId });
  await record("PUT /token/{tokenId}", { tokenId }, { requestIds: [requestId] });
  await wait();
  await record("DELETE /token/{tokenId}", { tokenId });
}

async function recordTokens({ tokens, devnet }: Arbor, record: RecordExample): Promise<void> {
  const [owner, next] = [new User(), new User()];
  await fund(devnet, tokens, owner);
  const { address } = owner;
  const landed = (unsigned: string) => land(tokens, owner.sign(unsigned));
  const insert = async (key: string, value: string) => {
    const answer = await record("POST /transaction/{address}/request-insert/{tokenId}", ofToken, { key, value });
    return `${await landed(answer.unsignedTransaction)}-0`;
  };
  const apply = (request: string) =>
    record("GET /transaction/{address}/update-token/{tokenId}", { ...ofToken, request: [request] });

  const boot = await record("GET /transaction/{address}/boot-token", { address });
  const ofToken = { address, tokenId: boot.value as string };
  const { tokenId } = ofToken;
  await landed(boot.unsignedTransaction);
  await landed((await apply(await insert("", "of the empty key"))).unsignedTransaction);
  const { unsignedTransaction } = await apply(await insert("planet", "Earth"));
  await record("POST /transaction/explain", {}, { transaction: unsignedTransaction, address });
  await record("POST /transaction", {}, { signedTransaction: owner.sign(unsignedTransaction) });
  const txHash = await landed(unsignedTransaction);
  await record("GET /transaction/{txHash}/cbor", { txHash });
  await record("GET /token/{tokenId}/facts/{key}", { tokenId, key: "planet" });
  await record("GET /token/{tokenId}/facts/", { tokenId, encoding: "hex" });

  await record("GET /log", {});
  await record("GET /witness", {});
  await record("GET /chain/parameters", {});
  await record("GET /chain/outputs/{address}", { address });
  await record("GET /chain/assets/{asset}", { asset: cageScript.hash + tokenId });
  await record("POST /chain/outputs", {}, { outputRefs: [`${txHash}-0`] });

  const change = { key: "planet", oldValue: "Earth" };
  await record("POST /transaction/{address}/request-delete/{tokenId}", ofToken, change);
  const update = await record("POST /transaction/{address}/request-update/{tokenId}", ofToken, {
    ...change,
    value: "Mars",
  });
  const outputRef = `${await landed(update.unsignedTransaction)}-0`;
  await record("GET /tokens?proof=true", {});
  for (const part of ["", "/requests", "/facts"]) await record(`GET /token/{tokenId}${part}?proof=true`, { tokenId });
  // until the states are in the log
  await http(tokens, "POST", "/indexer/wait-blocks", { n: DEVNET_LOG_DEPTH + 1 });
  await record("GET /token/{tokenId}/facts/{key}/history?proof=true", { tokenId, key: "planet" });
  await record("GET /token/{tokenId}/facts//history?proof=true", { tokenId, encoding: "hex" });
  const applied = await apply(outputRef);
  await record("POST /chain/evaluate", {}, { transaction: applied.unsignedTransaction });
  await record("GET /transaction/{address}/retract-change/{outputRef}", { address, outputRef });
  await record("GET /transaction/{address}/transfer-token/{tokenId}", { ...ofToken, to: next.address });
  await record("GET /transaction/{address}/end-token/{tokenId}", ofToken);
}
