import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkpointText, openCheckpoint, parseCheckpoint, parseSize, signCheckpoint } from "#src/tlog/checkpoint.ts";
import { EMPTY_LOG_ROOT, leafHash } from "#src/tlog/hash.ts";
import {
  cosignText,
  isKeyName,
  LOG_KEY,
  noteSigner,
  noteText,
  parseNote,
  parseSignatures,
  parseVkey,
  signatureLine,
  signText,
  verifySignatures,
  vkeyOf,
  WITNESS_KEY,
} from "#src/tlog/note.ts";
import { acceptCheckpoint, parsePolicy } from "#src/tlog/policy.ts";
import { parseLogProof } from "#src/tlog/proofFile.ts";
import { decideCheckpoint, parseAddCheckpoint } from "#src/tlog/witness.ts";
import { utf8 } from "#src/base/bytes.ts";

const seed = (n: number) => new Uint8Array(32).fill(n);
const log = noteSigner("log.example/a", LOG_KEY, seed(1));
const other = noteSigner("log.example/b", LOG_KEY, seed(2));
const [w1, w2, w3] = [3, 4, 5].map((n) => noteSigner(`w${n - 2}.example`, WITNESS_KEY, seed(n))) as [
  ReturnType<typeof noteSigner>,
  ReturnType<typeof noteSigner>,
  ReturnType<typeof noteSigner>,
];
const checkpoint = { origin: log.name, size: 12, root: leafHash(utf8("root")) };
const body = checkpointText(checkpoint);
const signed = (...signers: readonly ReturnType<typeof noteSigner>[]) =>
  noteText({
    text: body,
    signatures: signers.map((one) => one.type === LOG_KEY ? signText(one, body) : cosignText(one, body, 1_700_000_000)),
  });

describe("notes", () => {
  it("are read as they were written, an empty line in the text included", () => {
    const text = "first\n\nlast\n";
    const note = { text, signatures: [signText(log, text), cosignText(w1, text, 5)] };
    expect(parseNote(noteText(note))).toEqual({ ok: true, value: note });
    const verified = verifySignatures(note, [log, w1]);
    expect(verified.ok && verified.value.map(({ key, seconds }) => [key.name, seconds])).toEqual([
      [log.name, undefined],
      [w1.name, 5],
    ]);
  });

  it.each([
    ["nothing", ""],
    ["no signature", "text\n\n"],
    ["no empty line", `text\n${signatureLine(signText(log, "text\n"))}`],
    ["no last newline", noteText({ text: "a\n", signatures: [signText(log, "a\n")] }).slice(0, -1)],
    ["a tab", noteText({ text: "a\tb\n", signatures: [signText(log, "a\tb\n")] })],
    ["a carriage return", noteText({ text: "a\n", signatures: [signText(log, "a\n")] }).replaceAll("\n", "\r\n")],
    ["a hyphen", noteText({ text: "a\n", signatures: [signText(log, "a\n")] }).replace("\u2014", "-")],
    ["a plus in a name", "a\n\n\u2014 a+b AAAAAAAA\n"],
    ["short bytes", "a\n\n\u2014 a AAAA\n"],
    ["base64 without padding", "a\n\n\u2014 a AAAAAAA\n"],
    ["base64 with bits to spare", "a\n\n\u2014 a AAAAAAB=\n"],
    ["too many signatures", "a\n\n" + "\u2014 a AAAAAAAA\n".repeat(65)],
    ["too many characters", "a".repeat(65_536) + "\n\n\u2014 a AAAAAAAA\n"],
    ["half a character", "\ud800\n\n\u2014 a AAAAAAAA\n"],
  ])("are not read with %s", (_, text) => expect(parseNote(text).ok).toBe(false));

  it("are worthless where a known key's signature is wrong, and ignore keys that are not known", () => {
    const note = { text: body, signatures: [signText(log, body)] };
    expect(verifySignatures({ ...note, text: body.replace("12", "13") }, [log]).ok).toBe(false);
    expect(verifySignatures(note, [other])).toEqual({ ok: true, value: [] });
    const named = { ...signText(other, body), name: log.name };
    expect(verifySignatures({ text: body, signatures: [named] }, [log])).toEqual({ ok: true, value: [] });
    for (let bit = 0; bit < 8; bit++) {
      const signature = signText(log, body).signature.slice();
      signature[bit * 8]! ^= 1 << bit;
      expect(verifySignatures({ text: body, signatures: [{ ...signText(log, body), signature }] }, [log]).ok).toBe(
        false,
      );
    }
  });

  it("have cosignatures over their time", () => {
    const line = cosignText(w1, body, 1_700_000_000);
    const later = line.signature.slice();
    later[7]! += 1;
    expect(verifySignatures({ text: body, signatures: [line] }, [w1]).ok).toBe(true);
    expect(verifySignatures({ text: body, signatures: [{ ...line, signature: later }] }, [w1]).ok).toBe(false);
    const far = line.signature.slice().fill(255, 0, 8);
    expect(verifySignatures({ text: body, signatures: [{ ...line, signature: far }] }, [w1]).ok).toBe(false);
    const plain = { ...line, signature: line.signature.slice(8) };
    expect(verifySignatures({ text: body, signatures: [plain] }, [w1]).ok).toBe(false);
  });

  it("have keys that are read as they are written", () => {
    for (const key of [log, w1]) {
      const parsed = parseVkey(vkeyOf(key));
      expect(parsed.ok && vkeyOf(parsed.value)).toBe(vkeyOf(key));
    }
    const vkey = vkeyOf(log);
    for (
      const wrong of [
        "",
        "a",
        vkey.slice(0, -1),
        vkey.replace("log.", "lug."),
        `${vkey} `,
        ` ${vkey}`,
        vkey.replace("+", ""),
        vkeyOf({ ...log, publicKey: seed(1).subarray(1) }),
        vkeyOf({ ...log, type: 6 as never }),
      ]
    ) {
      expect(parseVkey(wrong).ok, wrong).toBe(false);
    }
    expect(isKeyName("a\u00a0b")).toBe(false);
    expect(isKeyName("a\u0085b")).toBe(false);
    expect(isKeyName("übung.example/ä")).toBe(true);
  });
});

describe("checkpoints", () => {
  it("are read as they were written, extension lines read over", () => {
    const read = parseCheckpoint(signCheckpoint(log, checkpoint));
    expect(read.ok && read.value.checkpoint).toEqual(checkpoint);
    const text = `${body}an extension\n`;
    const extended = noteText({ text, signatures: [signText(log, text)] });
    expect(openCheckpoint(extended, [log])).toMatchObject({ ok: true, value: { checkpoint } });
    expect(() => checkpointText({ ...checkpoint, origin: "a b" })).toThrow(RangeError);
  });

  it.each([
    ["a leading zero", body.replace("12", "012")],
    ["a sign", body.replace("12", "+12")],
    ["an exponent", body.replace("12", "1e2")],
    ["a size of 2^53", body.replace("12", "9007199254740992")],
    ["a short root", body.replace(/\n[^\n]+\n$/, "\nAAAA\n")],
    ["no root", `${log.name}\n12\n`],
    ["no origin", body.replace(log.name, "")],
    ["an empty extension", `${body}\nx\n`],
  ])("are not read with %s", (_, text) => {
    expect(parseCheckpoint(noteText({ text, signatures: [signText(log, text)] })).ok).toBe(false);
  });

  it("count only when their own log signed them", () => {
    expect(openCheckpoint(signed(log), [other, log])).toMatchObject({ ok: true });
    expect(openCheckpoint(signed(log), [other])).toMatchObject({ ok: false, error: { code: "unknown_log" } });
    expect(openCheckpoint(signed(other, w1), [log, other])).toMatchObject({ ok: false, error: { code: "not_signed" } });
    // a witness's key of the same name does not make a log
    const named = noteSigner(log.name, WITNESS_KEY, seed(1));
    expect(openCheckpoint(signed(named), [named])).toMatchObject({ ok: false, error: { code: "unknown_log" } });
  });

  it("have sizes in one form", () => {
    expect(["0", "7", "9007199254740991"].map(parseSize)).toEqual([0, 7, Number.MAX_SAFE_INTEGER]);
    expect(["", "-0", "00", " 1", "1 ", "0x1", "9007199254740992", "1".repeat(400)].map(parseSize)).toEqual(
      Array(8).fill(undefined),
    );
  });
});

const lines = [
  `log ${vkeyOf(log)} https://log.example/a`,
  ...[w1, w2, w3].map((w, i) => `witness w${i + 1} ${vkeyOf(w)}`),
];
const policyOf = (...more: readonly string[]) => parsePolicy([...lines, ...more].join("\n"));

describe("policies", () => {
  it.each([
    ["none", ["quorum none"], [[], [0]]],
    ["one witness", ["quorum w2"], [[1], [0, 1, 2]]],
    ["any of two", ["group g any w1 w2", "quorum g"], [[0], [1], [1, 2]]],
    ["all", ["group g all w1 w2 w3", "quorum g"], [[0, 1, 2]]],
    ["two of three", ["group g 2 w1 w2 w3", "quorum g"], [[0, 1], [0, 2], [1, 2]]],
    ["groups", ["group g any w1 w2", "group h all g w3", "quorum h"], [[0, 2], [1, 2]]],
  ])("accept a quorum of %s", (_, more, enough) => {
    const policy = policyOf(...more);
    if (!policy.ok) throw new Error(policy.error.message);
    for (let set = 0; set < 8; set++) {
      const who = [0, 1, 2].filter((i) => set & (1 << i));
      const accepted = acceptCheckpoint(policy.value, signed(log, ...who.map((i) => [w1, w2, w3][i]!)));
      // enough, or more than that
      const expected = enough.some((needed) => needed.every((i) => who.includes(i)));
      expect(accepted.ok, `${who}`).toBe(expected);
      if (accepted.ok) expect(accepted.value.witnesses.map(({ name }) => name)).toEqual(who.map((i) => `w${i + 1}`));
    }
  });

  it("reads comments, spaces and tabs", () => {
    expect(policyOf("", " \t", "# comment", "  # another", " group\tg  any w1 ", "quorum g").ok).toBe(true);
  });

  it.each([
    ["no quorum", []],
    ["two quorums", ["quorum none", "quorum none"]],
    ["an unknown quorum", ["quorum x"]],
    ["a word", ["quorums none"]],
    ["a second key", [`witness x ${vkeyOf({ ...w1, name: "x.example" })}`, "quorum none"]],
    ["a second log", [`log ${vkeyOf({ ...log, name: "x.example" })}`, "quorum none"]],
    ["a second name", [`witness w1 ${vkeyOf(noteSigner("x", WITNESS_KEY, seed(9)))}`, "quorum none"]],
    ["a witness with a log's key", [`witness x ${vkeyOf(other)}`, "quorum none"]],
    ["a log with a witness's key", [`log ${vkeyOf(noteSigner("x", WITNESS_KEY, seed(9)))}`, "quorum none"]],
    ["none as a name", ["group none any w1", "quorum none"]],
    ["none as a member", ["group g any none", "quorum g"]],
    ["a group without members", ["group g any", "quorum none"]],
    ["a member twice", ["group g 2 w1 w1", "quorum g"]],
    ["a member of two groups", ["group g any w1", "group h any w1", "quorum g"]],
    ["itself as a member", ["group g any g", "quorum g"]],
    ["too high a threshold", ["group g 3 w1 w2", "quorum g"]],
    ["a threshold of zero", ["group g 0 w1 w2", "quorum g"]],
    ["a control character", ["quorum none\r"]],
    ["a word too much", ["quorum none none"]],
    ["too many lines", Array<string>(256).fill("")],
  ])("are not read with %s", (_, more) => expect(policyOf(...more).ok).toBe(false));

  it("refuse a checkpoint whose cosignature is forged, even where enough others signed", () => {
    const policy = policyOf("quorum w1");
    if (!policy.ok) throw new Error(policy.error.message);
    const forged = { ...cosignText(w2, body, 7), signature: cosignText(w3, body, 7).signature };
    const note = noteText({ text: body, signatures: [signText(log, body), cosignText(w1, body, 7), forged] });
    expect(acceptCheckpoint(policy.value, note)).toMatchObject({ ok: false, error: { code: "bad_signature" } });
    expect(acceptCheckpoint(policy.value, signed(w1))).toMatchObject({ ok: false, error: { code: "not_signed" } });
  });
});

describe("a witness", () => {
  const state = (keys = [log]) => ({ keys: () => keys, latest: () => undefined });
  const request = (text: string, old = 0) => `old ${old}\n\n${text}`;

  it("signs a first checkpoint from 0 only", () => {
    expect(decideCheckpoint(request(signed(log)), state())).toMatchObject({ type: "sign", signed: { checkpoint } });
    expect(decideCheckpoint(request(signed(log), 3), state())).toEqual({ type: "conflict", status: 409, size: 0 });
  });

  it("signs the same checkpoint again, and no other of the same size", () => {
    const latest = () => ({ size: 12, root: checkpoint.root });
    expect(decideCheckpoint(request(signed(log), 12), { ...state(), latest })).toMatchObject({ type: "sign" });
    const forked = () => ({ size: 12, root: EMPTY_LOG_ROOT });
    expect(decideCheckpoint(request(signed(log), 12), { ...state(), latest: forked })).toMatchObject({ status: 422 });
  });

  it("answers with the status of each fault", () => {
    expect(decideCheckpoint(request(signed(log), 13), state())).toMatchObject({ status: 400 });
    expect(decideCheckpoint(request(signed(log)), state([]))).toMatchObject({ status: 404 });
    expect(decideCheckpoint(request(signed(log)), state([other]))).toMatchObject({ status: 404 });
    expect(decideCheckpoint(request(signed(w1)), state())).toMatchObject({ status: 403 });
    const changed = signed(log).replace("\n12\n", "\n11\n");
    expect(decideCheckpoint(request(changed), state())).toMatchObject({ status: 403 });
    for (
      const text of [
        "",
        "old 0",
        "old 0\n\n",
        "old 00\n\n" + signed(log),
        "new 0\n\n" + signed(log),
        "old 0\nAAAA\n\n" + signed(log),
      ]
    ) {
      expect(decideCheckpoint(text, state())).toMatchObject({ status: 400 });
    }
    const long = `old 5\n${"A".repeat(43)}=\n`.padEnd(64 * 45 + 10, `${"A".repeat(43)}=\n`);
    expect(parseAddCheckpoint(`${long}\n${signed(log)}`).ok).toBe(false);
  });
});

it("reads no nonsense, and never throws", () => {
  const seeds = [
    signed(log, w1),
    `old 0\n\n${signed(log)}`,
    `c2sp.org/tlog-proof@v1\nindex 0\n\n${signed(log)}`,
    lines.join("\n"),
    vkeyOf(log),
  ];
  const damaged = fc.tuple(
    fc.constantFrom(...seeds),
    fc.array(
      fc.tuple(
        fc.nat(400),
        fc.constantFrom("\n", "\n\n", "\0", " ", "+", "=", "A", "\u2014", "-1", "9".repeat(20), "\ud800", ""),
      ),
      { maxLength: 5 },
    ),
  )
    .map(([text, edits]) => edits.reduce((now, [at, put]) => now.slice(0, at) + put + now.slice(at + 1), text));
  fc.assert(fc.property(fc.oneof(fc.string({ unit: "binary" }), damaged), (text) => {
    for (
      const read of [
        parseNote,
        parseCheckpoint,
        parseLogProof,
        parseAddCheckpoint,
        parsePolicy,
        parseVkey,
        parseSignatures,
      ]
    ) {
      const result = read(text);
      expect(typeof result.ok).toBe("boolean");
    }
    decideCheckpoint(text, { keys: () => [log], latest: () => undefined });
  }));
});
