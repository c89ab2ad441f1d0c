/** The protocols' messages compared with encodings of other implementations: decoded, and encoded to the same bytes. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { concat, equalBytes, fromHex, toHex } from "#src/base/bytes.ts";
import { CborError, encode, Encoded } from "#src/cardano/cbor.ts";
import { chainSync } from "#src/node/protocols/chainSync.ts";
import { heightOf, readHeader } from "#src/node/client/header.ts";
import type { Message, Protocol } from "#src/node/protocols/protocol.ts";
import { stateQuery } from "#src/node/protocols/stateQuery.ts";
import { txMonitor } from "#src/node/protocols/txMonitor.ts";
import { txSubmission } from "#src/node/protocols/txSubmission.ts";
import { vectors } from "../../support/base/vectors.ts";

const folder = vectors("blocks/");

/** Decodes and encodes again. */
function again<S extends string, M extends Message>(protocol: Protocol<S, M>, bytes: Uint8Array): [M, string] {
  const message = protocol.decode(bytes);
  return [message, toHex(concat(...protocol.encode(message)))];
}

const PROTOCOLS: Record<string, (bytes: Uint8Array) => [Message, string]> = {
  chainsync: (bytes) => again(chainSync(), bytes),
  localtxsubmission: (bytes) => again(txSubmission, bytes),
  localtxmonitor: (bytes) => again(txMonitor, bytes),
  localstatequery: (bytes) => again(stateQuery, bytes),
};

describe("messages of the specification", () => {
  const cases: readonly (readonly [string, string, Message])[] = [
    ["localstatequery", "82038200820082068103", { type: "query", query: fromHex("8200820082068103") } as Message],
    ["localstatequery", "810a", { type: "acquire", target: "immutable" } as Message],
    ["localstatequery", "810b", { type: "reacquire", target: "immutable" } as Message],
    ["localstatequery", "820200", { type: "failure", failure: "point_too_old" } as Message],
    ["localtxmonitor", "8106", { type: "replyNextTx", transaction: undefined } as Message],
    ["localtxsubmission", "82028182068100", { type: "reject", reason: fromHex("8182068100") } as Message],
    ["chainsync", "83058082800" + "0", { type: "intersectFound" } as Message],
  ];
  it.each(cases)("%s %s", (protocol, hex, expected) => {
    const [message, bytes] = PROTOCOLS[protocol]!(fromHex(hex));
    expect(message).toMatchObject(expected);
    expect(bytes).toBe(hex);
  });

  it("reads lists of points of either length, and writes them definite", () => {
    const points = encode([4, [[7, new Uint8Array(32).fill(1)], []]]);
    const open = concat(fromHex("8204" + "9f"), encode([7, new Uint8Array(32).fill(1)]), fromHex("80ff"));
    const [message, bytes] = again(chainSync(), open);
    expect(message).toEqual(chainSync().decode(points));
    expect(bytes).toBe(toHex(points));
  });

  it("refuses unknown messages, wrong numbers of arguments and bytes that are not a message", () => {
    for (const [name, read] of Object.entries(PROTOCOLS)) {
      for (
        const hex of ["8118", "8163", "80", "00", "8101ff", "830000", "84000000", "8402000000", "a0", "8120", "814100"]
      ) {
        expect(() => read(fromHex(hex)), `${name} ${hex}`).toThrow(CborError);
      }
    }
  });
});

describe("captures", () => {
  it("messages of gouroboros", () => {
    const captures = JSON.parse(readFileSync(folder + "captures/messages-gouroboros-tests.json", "utf8")) as {
      file: string;
      cbor: string;
    }[];
    let seen = 0;
    for (const { file, cbor } of captures) {
      const protocol = PROTOCOLS[file.split("/")[1]!];
      if (!protocol) continue;
      const [, bytes] = protocol(fromHex(cbor));
      expect(bytes, file).toBe(cbor);
      seen++;
    }
    expect(seen).toBe(29);
  });

  it("blocks of a node", () => {
    const files = readdirSync(folder + "captures/").filter((name) => name.startsWith("rollforward_ntc_"));
    expect(files).toHaveLength(3);
    for (const name of files) {
      const hex = readFileSync(folder + "captures/" + name, "utf8").trim();
      const [message, bytes] = again(chainSync(), fromHex(hex));
      expect(bytes === hex, name).toBe(true);
      if (message.type !== "rollForward") throw new Error(message.type);
      const { hash, slot, height } = readHeader(message.block);
      expect(name).toContain(hash);
      expect(slot).toBeLessThanOrEqual(message.tip.slot);
      expect(heightOf(message.block)).toBe(height);
    }
  });

  it("transactions, their ids and rejections of every version and era", () => {
    const golden = folder + "captures/ntc-golden/";
    const seen: Record<string, number> = {};
    for (const query of readdirSync(golden)) {
      for (const version of readdirSync(golden + query)) {
        for (const name of readdirSync(`${golden}${query}/${version}`)) {
          const bytes = new Uint8Array(readFileSync(`${golden}${query}/${version}/${name}`));
          const kind = name.split("_")[0]!;
          const label = `${version}/${name}`;
          if (kind === "GenTx") {
            const message = concat(fromHex("8200"), bytes);
            expect(again(txSubmission, message)[1], label).toBe(toHex(message));
            const reply = concat(fromHex("8206"), bytes);
            expect(again(txMonitor, reply)[1], label).toBe(toHex(reply));
          } else if (kind === "GenTxId") {
            const message = concat(fromHex("8207"), bytes);
            expect(again(txMonitor, message)[1], label).toBe(toHex(message));
          } else if (kind === "ApplyTxErr") {
            const message = concat(fromHex("8202"), bytes);
            const [read, written] = again(txSubmission, message);
            expect(written, label).toBe(toHex(message));
            expect(read).toEqual({ type: "reject", reason: bytes });
          } else if (kind === "Query" || kind === "Result") {
            const message = concat(Uint8Array.of(0x82, kind === "Query" ? 3 : 4), bytes);
            expect(again(stateQuery, message)[1], label).toBe(toHex(message));
          } else continue;
          seen[kind] = (seen[kind] ?? 0) + 1;
        }
      }
    }
    expect(Math.min(seen.GenTx!, seen.GenTxId!, seen.ApplyTxErr!, seen.Query!, seen.Result!)).toBeGreaterThan(50);
  });

  it("reasons of rejections", () => {
    const reasons = JSON.parse(readFileSync(folder + "captures/reject-reasons-pallas.json", "utf8")) as {
      cbor: string;
    }[];
    expect(reasons).toHaveLength(218);
    for (const { cbor } of reasons) {
      const message = concat(fromHex("8202"), fromHex(cbor));
      expect(again(txSubmission, message)).toEqual([{ type: "reject", reason: fromHex(cbor) }, "8202" + cbor]);
    }
  });

  it("points and heights of single blocks of every era", () => {
    const index = JSON.parse(readFileSync(folder + "single/index.json", "utf8")) as {
      file: string;
      slot: number;
      height: number;
      hash: string;
      era: number;
    }[];
    let seen = 0;
    for (const { file, slot, height, hash } of index) {
      const at = existsSync(folder + "single/" + file) ? folder + "single/" + file : folder + file;
      if (file.includes("golden-dijkstra")) continue;
      const block = new Uint8Array(readFileSync(at));
      expect(readHeader(block), file).toEqual({ slot, height, hash });
      expect(heightOf(block), file).toBe(height);
      const sent = concat(...chainSync().encode({ type: "rollForward", block, tip: { slot, height, hash } }));
      const expected = encode([2, new Encoded(wrap(block)), [[slot, fromHex(hash)], height]]);
      expect(equalBytes(sent, expected), file).toBe(true);
      const read = chainSync().decode(sent);
      if (read.type !== "rollForward") throw new Error(read.type);
      expect(read.tip).toEqual({ slot, height, hash });
      expect(equalBytes(read.block, block), file).toBe(true);
      seen++;
    }
    expect(seen).toBe(42);
  });

  it("names the era of a block that is not supported", () => {
    expect(() => readHeader(fromHex("820880"))).toThrow("an era (Dijkstra)");
    expect(() => heightOf(fromHex("821780"))).toThrow("an era (era 22)");
  });
});

function wrap(block: Uint8Array): Uint8Array {
  return concat(fromHex("d818"), encode(block));
}
