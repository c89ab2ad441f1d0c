import { describe, expect, it } from "vitest";
import { LOG_KEY, noteSigner, vkeyOf, WITNESS_KEY } from "#src/tlog/note.ts";
import { isLogName, readLogKey, readWitness } from "#src/tokens/log/settings.ts";

const seed = new Uint8Array(32).fill(1);
const log = vkeyOf(noteSigner("log.example/a", LOG_KEY, seed));
const witness = vkeyOf(noteSigner("witness.example/w", WITNESS_KEY, seed));

describe("settings of the log", () => {
  it("read a witness by its URL, or by its key and URL", () => {
    expect(readWitness("https://w.example/witness/")).toEqual({
      ok: true,
      value: { url: "https://w.example/witness" },
    });
    // that of another Arbor by the address of its token service
    for (const url of ["https://w.example", "https://w.example/"]) {
      expect(readWitness(url)).toEqual({ ok: true, value: { url: "https://w.example/witness" } });
    }
    expect(readWitness(`${witness} https://w.example/`)).toMatchObject({
      ok: true,
      value: { url: "https://w.example" },
    });
    expect(readWitness(` ${witness}  http://127.0.0.1:1/x `)).toMatchObject({
      ok: true,
      value: { url: "http://127.0.0.1:1/x", key: { name: "witness.example/w" } },
    });
  });

  it.each([
    "",
    "w.example",
    "ftp://w.example",
    `${log} http://w.example`,
    `${witness} w`,
    `${witness}`,
    "a b c",
    "x http://w.example",
  ])(
    "refuse %j as a witness",
    (text) => expect(readWitness(text).ok).toBe(false),
  );

  it("read keys of logs alone, and names without spaces and plus", () => {
    expect(readLogKey(log)).toMatchObject({ ok: true, value: { name: "log.example/a" } });
    expect([witness, "", "a+b+c"].map((text) => readLogKey(text).ok)).toEqual([false, false, false]);
    expect(["log.example/a", "a b", "a+b", ""].map(isLogName)).toEqual([true, false, false, false]);
  });
});
