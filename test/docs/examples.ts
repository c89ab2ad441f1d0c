/**
 * `deno task api-examples`: records the examples of the token service that depend on the contract, from a service that this
 * command starts. They are another token's each time; `test/unit/edge/config.test.ts` has that of `GET /config`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import type { Arbor } from "../support/arbor.ts";
import { fund, http, land, User } from "../support/user.ts";
import { withService } from "./service.ts";

const file = new URL("../../src/edge/tokens/examples.json", import.meta.url);
const examples = JSON.parse(readFileSync(file, "utf8"));

await withService(recordAll);
writeFileSync(file, JSON.stringify(examples, null, 2) + "\n");
process.exit(0);

async function recordAll({ tokens, devnet }: Arbor): Promise<void> {
  const [owner, next] = [new User(), new User()];
  await fund(devnet, tokens, owner);
  const { address } = owner;

  /** Sends a request and takes it as the example of its operation; gives the answer. */
  const record = async (operation: string, given: Readonly<Record<string, string | string[]>>, body?: object) => {
    const [method = "", template = ""] = operation.split(" ");
    const query = Object.entries(given).filter(([name]) => !template.includes(`{${name}}`))
      .flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
    const path = template.replace(/\{(\w+)\}/g, (_, name) => String(given[name]));
    const answer = await http(tokens, method, `${path}?${new URLSearchParams(query)}`, body);
    if (answer.status !== 200) throw new Error(`${operation}: ${answer.status} ${JSON.stringify(answer.body)}`);
    const parameters = Object.keys(given).length > 0 ? { parameters: given } : {};
    examples[operation] = { ...parameters, ...(body ? { body } : {}), answer: answer.body };
    return answer.body;
  };
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
  await landed(unsignedTransaction);
  await record("GET /token/{tokenId}/facts/{key}", { tokenId, key: "planet" });
  await record("GET /token/{tokenId}/facts/", { tokenId });

  const change = { key: "planet", oldValue: "Earth" };
  await record("POST /transaction/{address}/request-delete/{tokenId}", ofToken, change);
  const update = await record("POST /transaction/{address}/request-update/{tokenId}", ofToken, {
    ...change,
    value: "Mars",
  });
  const outputRef = `${await landed(update.unsignedTransaction)}-0`;
  await record("GET /transaction/{address}/retract-change/{outputRef}", { address, outputRef });
  await record("GET /transaction/{address}/transfer-token/{tokenId}", { ...ofToken, to: next.address });
  await record("GET /transaction/{address}/end-token/{tokenId}", ofToken);
}
