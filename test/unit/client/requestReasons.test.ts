/** A refused build says why, request by request. */
import { expect, it } from "vitest";
import { ApiError } from "#src/client/http.ts";
import { messageWithReasons } from "#src/client/requestReasons.ts";

const refused = (requests: { request: string; message: string }[], code = "requests_fail") =>
  new ApiError(409, code, "Requests cannot be applied.", { requests });

it("names each request with its reason, which may be a sentence, and at most five", () => {
  const two = [{ request: "ab-0", message: "the key is not in the trie" }, {
    request: "cd-1",
    message: "It is spent.",
  }];
  expect(messageWithReasons(refused(two))).toBe(
    "Requests cannot be applied. ab-0: the key is not in the trie. cd-1: It is spent.",
  );
  expect(messageWithReasons(refused(two), (request) => request.slice(0, 2))).toContain(" ab: the key");
  const many = Array.from({ length: 9 }, (_, n) => ({ request: `ab-${n}`, message: "no" }));
  expect(messageWithReasons(refused(many)).match(/ab-/g)).toHaveLength(5);
});

it("leaves the messages of other errors alone", () => {
  expect(messageWithReasons(refused([{ request: "ab-0", message: "no" }], "other"))).toBe(
    "Requests cannot be applied.",
  );
  expect(messageWithReasons(new ApiError(409, "requests_fail", "No."))).toBe("No.");
});
