/** Request ids: which are accepted from clients, and their scope. */
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { asRequestId, forRequest, requestId } from "#src/base/request.ts";

describe("a request's id", () => {
  it("is the client's when it is a plain token", () => {
    for (const id of ["a", "req-1.2:3_4", "x".repeat(64)]) expect(asRequestId(id)).toBe(id);
    for (const id of [undefined, null, "", "x".repeat(65), "a b", "a\nb", 'a"b', "ä", "<x>"]) {
      expect(asRequestId(id)).toMatch(/^[0-9a-f-]{36}$/);
    }
    expect(asRequestId(undefined)).not.toBe(asRequestId(undefined));
  });

  it("is available in all work for the request, and nowhere else", async () => {
    const seen = await Promise.all(["one", "two"].map((id) =>
      forRequest(id, async () => {
        await wait(id === "one" ? 10 : 1);
        return [id, requestId()];
      })
    ));
    expect(seen).toEqual([["one", "one"], ["two", "two"]]);
    expect(requestId()).toBeUndefined();
  });
});
