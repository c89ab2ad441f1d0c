/** The parser of a client's stream, however that is cut and whatever it contains. */
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NatsParser, type ParserLimits, type ParserOperations } from "#src/embedded/nats/parser.ts";

const LIMITS: ParserLimits = { maxControlLine: 256, maxPayload: 1_000 };

/** Parses chunks; gives the operations as plain values. */
function read(chunks: Iterable<Buffer>, options: { limits?: ParserLimits; refused?: string } = {}): unknown[][] {
  const parsed: unknown[][] = [];
  const operations: ParserOperations = {
    connect: (json) => void parsed.push(["connect", json.trim()]),
    ping: () => void parsed.push(["ping"]),
    pong: () => void parsed.push(["pong"]),
    subscribe: (...words) => void parsed.push(["subscribe", ...words]),
    unsubscribe: (...words) => void parsed.push(["unsubscribe", ...words]),
    accepts: (subject) => subject !== options.refused,
    publish: (subject, reply, headerLength, body) =>
      void parsed.push(["publish", subject, reply, headerLength, body.toString("hex")]),
    broken: (reason) => void parsed.push(["broken", reason]),
  };
  const parser = new NatsParser(options.limits ?? LIMITS, operations);
  for (const chunk of chunks) parser.read(chunk);
  return parsed;
}

const text = (value: string) => [Buffer.from(value)];
const hex = (value: string) => Buffer.from(value).toString("hex");

/** Cuts bytes at the given positions, into chunks that are overwritten after they were read. */
function* cut(bytes: Buffer, places: number[]): Generator<Buffer> {
  let from = 0;
  for (const place of [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b)) {
    const chunk = Buffer.from(bytes.subarray(from, place));
    yield chunk;
    chunk.fill(0x21);
    from = place;
  }
  yield Buffer.from(bytes.subarray(from));
}

describe("the parser", () => {
  test("reads every operation, in any case and with any blanks", () => {
    const stream = 'CONNECT {"verbose":false, "name":"grün"}\r\nping\r\nPONG\nSUB a.* 1\r\nSUB  a.>\tworkers 2 \r\n' +
      "UNSUB 1\r\nunsub 2 5\r\nPUB a 0\r\n\r\npub a b 5\r\nhe\r\nl\r\nHPUB a 12 14\r\nNATS/1.0\r\n\r\nhi\r\n" +
      "hpub a r 12 12\r\nNATS/1.0\r\n\r\n\r\n\r\n+OK\r\n";
    expect(read(text(stream))).toEqual([
      ["connect", '{"verbose":false, "name":"grün"}'],
      ["ping"],
      ["pong"],
      ["subscribe", "a.*", "", "1"],
      ["subscribe", "a.>", "workers", "2"],
      ["unsubscribe", "1", 0],
      ["unsubscribe", "2", 5],
      ["publish", "a", "", 0, ""],
      ["publish", "a", "b", 0, hex("he\r\nl")],
      ["publish", "a", "", 12, hex("NATS/1.0\r\n\r\nhi")],
      ["publish", "a", "r", 12, hex("NATS/1.0\r\n\r\n")],
    ]);
  });

  test.each([
    ["HELLO\r\n", "Unknown Protocol Operation"],
    ["GET / HTTP/1.1\r\n", "Unknown Protocol Operation"],
    ["SUB\r\n", "Parser Error"],
    ["SUB a b c d\r\n", "Parser Error"],
    ["UNSUB\r\n", "Parser Error"],
    ["UNSUB 1 -1\r\n", "Parser Error"],
    ["UNSUB 1 x\r\n", "Parser Error"],
    ["PUB a\r\n", "Parser Error"],
    ["PUB 3\r\nabc\r\n", "Parser Error"],
    ["PUB a -1\r\n", "Parser Error"],
    ["PUB a 1e2\r\n", "Parser Error"],
    ["PUB a 0x1\r\n", "Parser Error"],
    ["PUB a b c 1\r\n", "Parser Error"],
    ["PUB a 3\r\nabcd\r\n", "Parser Error"],
    ["PUB a 3\r\nabc\n\n", "Parser Error"],
    ["PUB a 1001\r\n", "Maximum Payload Violation"],
    ["PUB a 99999999999999999999\r\n", "Parser Error"],
    ["HPUB a 5\r\n", "Parser Error"],
    ["HPUB a 6 5\r\n", "Parser Error"],
    ["HPUB a x 5\r\n", "Parser Error"],
    [`SUB ${"a".repeat(300)} 1\r\n`, "Maximum Control Line Exceeded"],
    ["a".repeat(300), "Maximum Control Line Exceeded"],
  ])("gives %j up with %j, and reads nothing more", (stream, reason) => {
    expect(read(text(stream + "PING\r\n"))).toEqual([["broken", reason]]);
    expect(read(cut(Buffer.from(stream + "PING\r\n"), Array.from(stream, (_, i) => i)))).toEqual([["broken", reason]]);
  });

  test("skips a payload that is not needed and continues after it", () => {
    const stream = Buffer.from(`PUB no.thanks 900\r\n${"x".repeat(900)}\r\nPING\r\nPUB yes 2\r\nok\r\n`);
    const expected = [["publish", "no.thanks", "", 0, ""], ["ping"], ["publish", "yes", "", 0, hex("ok")]];
    expect(read([stream], { refused: "no.thanks" })).toEqual(expected);
    expect(read(cut(stream, Array.from(stream, (_, i) => i)), { refused: "no.thanks" })).toEqual(expected);
  });

  test("reads the same however the stream is cut, and keeps no chunk", () => {
    const word = fc.stringMatching(/^[a-z*>]{1,6}$/);
    const payload = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));
    const operation = fc.oneof(
      fc.constantFrom(
        "PING\r\n",
        "PONG\r\n",
        "+OK\r\n",
        "SUB a.b 1\r\n",
        "SUB a q 7\n",
        "UNSUB 1 3\r\n",
        "CONNECT {}\r\n",
      )
        .map((line) => Buffer.from(line)),
      fc.tuple(word, payload).map(([subject, body]) =>
        Buffer.concat([Buffer.from(`PUB ${subject} ${body.length}\r\n`), body, Buffer.from("\r\n")])
      ),
      fc.tuple(word, word, payload, fc.nat()).map(([subject, reply, body, split]) =>
        Buffer.concat([
          Buffer.from(`HPUB ${subject} ${reply} ${split % (body.length + 1)} ${body.length}\r\n`),
          body,
          Buffer.from("\r\n"),
        ])
      ),
    );
    fc.assert(fc.property(
      fc.array(operation, { minLength: 1, maxLength: 12 }),
      fc.array(fc.nat(5_000), { maxLength: 40 }),
      fc.boolean(),
      (operations, places, bytewise) => {
        const stream = Buffer.concat(operations);
        const whole = read([stream]);
        expect(whole.some(([kind]) => kind === "broken")).toBe(false);
        expect(read(cut(stream, bytewise ? Array.from(stream, (_, i) => i) : places))).toEqual(whole);
      },
    ));
  });

  test("takes any bytes without throwing, and reads them the same however they are cut", () => {
    const fragment = fc.oneof(
      fc.uint8Array({ maxLength: 80 }).map((bytes) => Buffer.from(bytes)),
      fc.constantFrom(
        "PUB ",
        "HPUB ",
        "SUB ",
        "UNSUB ",
        "CONNECT ",
        "PING",
        "\r\n",
        "\n",
        " ",
        "a.b ",
        "1",
        "99",
        "-",
        "{",
        "}",
      )
        .map((piece) => Buffer.from(piece)),
    );
    fc.assert(
      fc.property(fc.array(fragment, { maxLength: 60 }), fc.array(fc.nat(5_000)), (fragments, places) => {
        const stream = Buffer.concat(fragments);
        expect(read(cut(stream, places))).toEqual(read([stream]));
      }),
      { numRuns: 500 },
    );
  });

  test("stores no more than was received, whatever was announced", () => {
    const quiet: ParserOperations = {
      connect() {},
      ping() {},
      pong() {},
      subscribe() {},
      unsubscribe() {},
      accepts: () => true,
      publish() {},
      broken() {},
    };
    const limits = { maxControlLine: 4_096, maxPayload: 1_048_576 };
    const parser = new NatsParser(limits, quiet);
    parser.read(Buffer.from("PUB a 1048576\r\n"));
    for (let i = 0; i < 1_000; i++) parser.read(Buffer.from("x"));
    expect(parser.stored).toBeLessThan(2_100);
    for (let i = 0; i < 1_048_576 + 2 - 1_000; i += 1_000) {
      parser.read(Buffer.alloc(Math.min(1_000, 1_048_576 - 1_000 - i + 2), "\r\n"));
    }
    expect(parser.stored).toBeLessThanOrEqual(4_096);
  });

  test("parses nothing between hold and resume, wherever the stream is cut, and loses nothing", () => {
    const stream = Buffer.from("PING\r\nCONNECT {}\r\nPUB a 4\r\nab\r\n\r\nCONNECT {}\r\nSUB a 1\r\n");
    fc.assert(fc.property(fc.array(fc.nat()), fc.array(fc.nat()), (places, resumed) => {
      const parsed: string[] = [];
      const note = (operation: string) => void parsed.push(held ? `${operation} while held` : operation);
      let held = false;
      const parser = new NatsParser(LIMITS, {
        connect: () => {
          note("connect");
          held = true;
          parser.hold();
        },
        ping: () => note("ping"),
        pong: () => note("pong"),
        subscribe: () => note("subscribe"),
        unsubscribe: () => note("unsubscribe"),
        accepts: () => true,
        publish: (_subject, _reply, _length, body) => note(`publish ${body.toString("hex")}`),
        broken: note,
      });
      const resume = () => {
        held = false;
        parser.resume();
      };
      let chunks = 0;
      for (const chunk of cut(stream, places)) {
        parser.read(chunk);
        if (held && resumed.includes(chunks++)) resume();
      }
      resume();
      resume();
      expect(parsed).toEqual(["ping", "connect", `publish ${hex("ab\r\n")}`, "connect", "subscribe"]);
    }));
  });
});
