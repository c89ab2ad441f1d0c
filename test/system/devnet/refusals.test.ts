/**
 * A transaction for each failure of the ledger is refused alike by every interface of the devnet: the Blockfrost API
 * and the node socket name the same failures in the same order with the same text, and so do the requests of Yaci
 * DevKit and what the devnet remembers of refused transactions.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isObject, parseJson } from "#src/base/json.ts";
import { silentLog } from "#src/base/log.ts";
import { memberOf } from "#src/base/member.ts";
import { ok } from "#src/base/result.ts";
import type { LedgerFailure } from "#src/cardano/failure.ts";
import { describeFailure, failureNames } from "#src/cardano/failureText.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { readDepartures, writeDepartures } from "#src/devnet/blocks/departureRows.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { devnetApp } from "#src/devnet/serve/admin/app.ts";
import { blockfrostApp } from "#src/devnet/serve/blockfrost/app.ts";
import { connectNode, type NodeConnection } from "#src/node/client/connection.ts";
import { showFailure } from "#src/node/rejections/haskellText.ts";
import { decodeRejection } from "#src/node/rejections/rejections.ts";
import { measureRedeemers } from "#src/plutus/measurement.ts";
import { BlockfrostApi } from "../../support/blockfrost/blockfrostApi.ts";
import { spend } from "../../support/devnet/devnet.ts";
import { devnetWorld, give, makeBlock, valueOf } from "../../support/devnet/devnetWorld.ts";
import type { World } from "../../support/ledger/draft.ts";
import { person } from "../../support/wallets/person.ts";
import type { RefusedDraft } from "../../support/ledger/refusedDrafts.ts";
import { furtherRefusals, refusals, worldOf } from "../../support/ledger/refusals.ts";

const world = devnetWorld();

const rows: readonly (readonly [what: string, row: RefusedDraft])[] = [
  ...Object.entries(refusals).flatMap(([name, row]) => typeof row === "string" ? [] : [[name, row] as const]),
  ...furtherRefusals,
];

/** Refusals of which a node tells less than the ledger knows, or keys in the order of a set. */
const OTHER_SENTENCES: ReadonlySet<string> = new Set([
  "ValidationTagMismatch",
  "CollectErrors",
  "WithdrawalsNotInRewardsCERTS",
  "IncorrectDepositDELEG",
  "an inline datum for Plutus V1",
  "failures of several rules",
]);

/** The text of all sources of the ledger's rules. */
function ledgerSource(): string {
  const folder = join(import.meta.dirname ?? "", "../../../src/ledger");
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"))
    .map((name) => readFileSync(join(folder, name), "utf8")).join("\n");
}

test("there is a transaction for each failure that the ledger's rules name, and for no other", () => {
  const source = ledgerSource();
  const named = failureNames.filter((name) => source.includes(`"${name}"`));
  const given = failureNames.filter((name) => typeof refusals[name] !== "string");
  expect(Object.keys(refusals).sort()).toEqual([...failureNames].sort());
  expect(given).toEqual(named.filter((name) => name !== "DeserialiseFailure"));
  for (const name of given) expect(rows.find(([what]) => what === name)?.[1].names).toContain(name);
});

/** The state of a refusal that is served. */
interface Served {
  ledger: World;
  failures: readonly LedgerFailure[];
}

/** The same devnet, whose submissions are judged by another ledger. */
function judging(devnet: Devnet, served: () => Served): Devnet {
  const submit: Devnet["submit"] = () => Promise.resolve(ok({ outcome: "refused", failures: served().failures }));
  const query: Devnet["query"] = (use) => Promise.resolve(use(served().ledger.state, devnet.tip()));
  return new Proxy(devnet, {
    get: (target, name) => {
      if (name === "submit") return submit;
      if (name === "query") return query;
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

/** The texts of the failures in a refusal of the Blockfrost API. */
async function blockfrostTexts(api: BlockfrostApi, cbor: Uint8Array): Promise<unknown> {
  const headers = { "content-type": "application/cbor" };
  const { status, body } = await api.send("POST", "/tx/submit", { body: cbor as Uint8Array<ArrayBuffer>, headers });
  expect(status).toBe(400);
  const message = isObject(body) ? String(body.message) : "";
  const document = parseJson(message);
  const kind = memberOf(memberOf(memberOf(document, "contents"), "contents"), "contents");
  expect(document).toEqual({
    tag: "TxSubmitFail",
    contents: {
      tag: "TxCmdTxSubmitValidationError",
      contents: {
        tag: "TxValidationErrorInCardanoMode",
        contents: { kind: "ShelleyTxValidationError", era: "ShelleyBasedEraConway", error: expect.any(Array) },
      },
    },
  });
  return memberOf(kind, "error");
}

/** The failures in a rejection of a node. */
async function nodeFailures(connection: NodeConnection, cbor: Uint8Array): Promise<readonly LedgerFailure[]> {
  const verdict = valueOf(await connection.submit(cbor));
  if (verdict.accepted) throw new Error("the transaction was accepted");
  return decodeRejection(verdict.reason, cbor);
}

/** The failures in a refusal of the request of Yaci DevKit, with the sentence for all. */
async function requestFailures(devnet: Devnet, cbor: Uint8Array): Promise<unknown> {
  const app = devnetApp({
    devnet,
    store: world.store,
    port: world.rows,
    log: silentLog,
    files: [],
    health: () => {},
    admin: { places: () => ({ socket: "", tcp: 0, indexer: 0 }) },
  });
  const headers = { "content-type": "application/cbor" };
  const body = cbor.slice();
  const answer = await app.request("/local-cluster/api/tx/submit", { method: "POST", headers, body });
  expect(answer.status).toBe(400);
  const { code, error: message, details } = Object(parseJson(await answer.text()));
  expect(code).toBe("refused_by_ledger");
  return { message, names: Object(details).failures.map(({ name }: { readonly name: string }) => name) };
}

test("every interface refuses each of them for the same failures in the same order", async () => {
  const devnet = await world.start();
  let served: Served | undefined;
  const judge = judging(devnet, () => {
    if (!served) throw new Error("nothing is judged");
    return served;
  });
  const measure = async (input: Parameters<typeof measureRedeemers>[0]) => measureRedeemers(input);
  const api = new BlockfrostApi(blockfrostApp({ devnet: judge, store: world.store, measure, log: silentLog }));
  const { path } = await world.serve(judge);
  const connection = valueOf(await connectNode({ path }, { magic: 42 }));
  for (const [what, row] of rows) {
    const ledger = worldOf(row);
    const cbor = ledger.write(row.draft(ledger));
    const judged = await ledger.judge(cbor);
    if ("hash" in judged) throw new Error(`${what}: accepted`);
    expect([what, judged.map(({ name }) => name)]).toEqual([what, row.names]);
    served = { ledger, failures: judged };
    const texts = await blockfrostTexts(api, cbor);
    const rejected = await nodeFailures(connection, cbor);
    expect([what, rejected.map(({ name }) => name)]).toEqual([what, row.names]);
    expect([what, texts]).toEqual([what, rejected.map(showFailure)]);
    const sentences = judged.map(describeFailure).join(" ");
    const differ = rejected.map(describeFailure).join(" ") !== sentences;
    expect([what, differ]).toEqual([what, OTHER_SENTENCES.has(what)]);
    expect([what, await requestFailures(judge, cbor)]).toEqual([what, {
      message: `The ledger refuses the transaction: ${sentences}`,
      names: row.names,
    }]);
    const { hash } = scanTransaction(cbor);
    await writeDepartures(world.store.sql, [
      { hash, cbor, kind: "refused", why: "", failures: judged, at: 0, slot: 0 },
    ]);
    expect([what, (await readDepartures(world.store.sql)).at(-1)?.failures]).toEqual([what, judged]);
  }
  connection.close();
});

test("a transaction that is in the mempool or in a block is refused as included, until a rollback drops it", async () => {
  const devnet = await world.start();
  const measure = async (input: Parameters<typeof measureRedeemers>[0]) => measureRedeemers(input);
  const api = new BlockfrostApi(blockfrostApp({ devnet, store: world.store, measure, log: silentLog }));
  const { path } = await world.serve(devnet);
  const connection = valueOf(await connectNode({ path }, { magic: 42 }));
  const payer = person("payer");
  const coin = await give(devnet, payer.enterprise, 10_000_000n);
  await makeBlock(devnet);
  const paid = spend({ from: payer, inputs: [coin], outputs: [[payer.enterprise, 9_000_000n]] });
  const twin = spend({ from: payer, inputs: [coin], outputs: [[payer.enterprise, 8_000_000n]] });
  const message = "All inputs are spent. Transaction has probably already been included";
  const included = { name: "ConwayMempoolFailure", message } as const;
  const expectRefused = async () => {
    for (const { cbor } of [paid, twin]) {
      expect(await nodeFailures(connection, cbor)).toEqual([included]);
      expect(await blockfrostTexts(api, cbor)).toEqual([`ConwayMempoolFailure "${message}"`]);
      expect(await requestFailures(devnet, cbor)).toMatchObject({ names: ["ConwayMempoolFailure"] });
    }
  };
  expect(valueOf(await connection.submit(paid.cbor))).toEqual({ accepted: true });
  await expectRefused();
  await makeBlock(devnet);
  await expectRefused();
  valueOf(await devnet.rollback({ blocks: 1 }, { drop: true }));
  expect(valueOf(await connection.submit(paid.cbor))).toEqual({ accepted: true });
  connection.close();
});
