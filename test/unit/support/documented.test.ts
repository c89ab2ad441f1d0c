/** The comparison of answers with an OpenAPI document. */
import { expect, test } from "vitest";
import { Documented } from "../../support/docs/openApiAnswers.ts";

const json = (schema: object) => ({ content: { "application/json": { schema } } });
const documented = new Documented({
  paths: {
    "/things/{id}": {
      get: { responses: { 200: json({ $ref: "#/components/schemas/Thing" }), 404: json({ type: "object" }) } },
      delete: { responses: { 204: {} } },
    },
    "/things/best": { get: { responses: { 200: json({ const: "best" }) } } },
    "/elsewhere": { servers: {}, get: { responses: {} } },
  },
  components: { schemas: { Thing: { type: "object", required: ["name"], properties: { name: { type: "string" } } } } },
} as never);
const answer = (status: number, body?: unknown, type = body === undefined ? "" : "application/json") => ({
  status,
  type,
  text: body === undefined ? "" : JSON.stringify(body),
});
const faults = (method: string, path: string, ...parts: Parameters<typeof answer>) =>
  documented.faults(method, path, answer(...parts)).length;

test("an answer of the document has no faults", () => {
  expect(faults("GET", "/things/1?all=true", 200, { name: "a" })).toBe(0);
  expect(faults("GET", "/things/best", 200, "best")).toBe(0);
  expect(faults("DELETE", "/things/1", 204)).toBe(0);
  expect([faults("GET", "/nothing", 404, {}), faults("PUT", "/things/1", 405, {})]).toEqual([0, 0]);
});

test("another status, body, type or path is a fault", () => {
  expect(faults("GET", "/things/1", 500, {})).toBe(1);
  expect(faults("GET", "/things/1", 200, { name: 1 })).toBe(1);
  expect(faults("GET", "/things/best", 200, { name: "a" })).toBe(1);
  expect(faults("GET", "/things/1", 200, { name: "a" }, "text/html")).toBe(1);
  expect(faults("DELETE", "/things/1", 204, {})).toBe(1);
  expect([faults("GET", "/elsewhere", 200, {}), faults("GET", "/things/1/2", 200, {})]).toEqual([1, 1]);
});
