/** Query parameters and methods of every route of the four services: unknown ones are refused with a message. */
import { describe, expect, it } from "vitest";
import { type Edge, edgesAlone, servedPaths } from "../../support/service/edges.ts";

const call = (edge: Edge, method: string, path: string) =>
  edge.app.request(path, { method: method.toUpperCase(), headers: edge.headers });

/** Whether a body has `bad_request` and names the parameter, in the service's form. */
function names(body: unknown, name: string): boolean {
  const { code, details, message } = body as {
    code: string;
    details?: readonly { where: string; at: string }[];
    message?: string;
  };
  if (code !== "bad_request") return false;
  return details ? details.some(({ where, at }) => where === "query" && at === name) : message!.includes(`"${name}"`);
}

describe.each(edgesAlone().map((edge) => [edge.name, edge] as const))("the %s service", (_, edge) => {
  it("refuses an unknown parameter on every route, and names it", async () => {
    for (const { path, operations } of await servedPaths(edge)) {
      for (const [method, { parameters = [] }] of operations) {
        const own = parameters.flatMap((one) => one.in === "query" ? [one.name] : []);
        const near = own.flatMap((name) => [`${name}[]`, `${name}[0]`, `${name}s`, name.toUpperCase(), `${name} `]);
        for (const name of ["unknown", "__proto__", "constructor", "", ...near]) {
          const answer = await call(edge, method, `${path}?${encodeURIComponent(name)}=1`);
          const body = await answer.json();
          expect([method, path, name, answer.status, names(body, name), body])
            .toEqual([method, path, name, 400, true, body]);
        }
      }
    }
  });

  it("refuses a second value of every single-valued parameter, and names it", async () => {
    for (const { path, operations } of await servedPaths(edge)) {
      for (const [method, { parameters = [] }] of operations) {
        for (const { name, schema } of parameters.filter((one) => one.in === "query")) {
          const answer = await call(edge, method, `${path}?${name}=1&${name}=1`);
          const body = await answer.json();
          const refused = schema.type !== "array";
          expect([method, path, name, answer.status === 400 && names(body, name)])
            .toEqual([method, path, name, refused]);
        }
      }
    }
  });

  it("answers an unsupported method with 405 and the supported ones, and an unknown path with 404", async () => {
    const served = await servedPaths(edge);
    for (const { path } of served) {
      const has = served.filter(({ fits }) => fits(path)).flatMap(({ operations }) => [...operations.keys()])
        .flatMap((method) => method === "get" ? ["GET", "HEAD"] : method.toUpperCase());
      for (const method of ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"].filter((one) => !has.includes(one))) {
        const answer = await call(edge, method, path);
        const allow = answer.headers.get("allow")?.split(", ").sort();
        expect([method, path, answer.status, allow]).toEqual([method, path, 405, [...new Set(has)].sort()]);
        if (method !== "HEAD") expect((await answer.json() as { code: string }).code).toBe("method_not_allowed");
      }
    }
    const unknown = await call(edge, "get", "/nowhere");
    expect([unknown.status, unknown.headers.get("allow")]).toEqual([404, null]);
  });
});

it("only what an update applies and refuses may be repeated", async () => {
  const several: string[] = [];
  for (const edge of edgesAlone()) {
    for (const { path, operations } of await servedPaths(edge)) {
      for (const [method, { parameters = [] }] of operations) {
        several.push(
          ...parameters.flatMap((one) =>
            one.in === "query" && one.schema.type === "array" ? [`${method} ${path} ${one.name}`] : []
          ),
        );
      }
    }
  }
  expect(several).toEqual(["request", "refuse"].map((name) => `get /transaction/0/update-token/0 ${name}`));
});
