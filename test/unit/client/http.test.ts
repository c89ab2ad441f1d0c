/** What a client gets from a service that closes the connection. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { ApiError, call } from "#src/client/http.ts";

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

async function serving(respond: (response: ServerResponse, request: IncomingMessage) => void): Promise<string> {
  const server = createServer((request, response) => respond(response, request));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  stops.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it.each([
  ["with a length", { "content-length": "100" }],
  ["in chunks", { "transfer-encoding": "chunked" }],
])("a connection that breaks in the middle of a body %s is an ApiError", async (_, headers) => {
  const base = await serving((response) => {
    response.writeHead(200, { "content-type": "application/json", ...headers });
    response.write('{"facts": ', () => response.destroy());
  });
  const error: unknown = await call(base, "GET", "/token/1/facts").catch((one) => one);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ status: 0, code: "unreachable" });
  expect((error as ApiError).message).toContain(base);
});

it("a connection that is closed before the headers is an ApiError", async () => {
  const base = await serving((response) => response.destroy());
  await expect(call(base, "GET", "/tokens")).rejects.toMatchObject({ status: 0, code: "unreachable" });
});

it("a service that is not started is said so in words", async () => {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  const base = `http://127.0.0.1:${port}`;
  await expect(call(base, "GET", "/tokens")).rejects.toMatchObject({
    code: "unreachable",
    message: `No complete response from ${base}: nothing listens there.`,
  });
});

it("a user and a password in a URL are sent as basic authentication, and no message has them", async () => {
  const base = await serving((response, { url, headers }) =>
    response.end(url === "/text" ? "no JSON" : JSON.stringify(headers.authorization))
  );
  const withUser = base.replace("//", "//user:s%C3%A9cret@");
  const basic = `Basic ${btoa("user:s\xc3\xa9cret")}`;
  expect(await call(withUser, "GET", "/")).toBe(basic);
  const bearer = { authorization: "Bearer token" };
  expect(await call(withUser, "GET", "/", undefined, undefined, bearer)).toBe("Bearer token");
  for (
    const url of [withUser, "http://user:s%C3%A9cret@127.0.0.1:1", "user:s%C3%A9cret@127.0.0.1", "http://user:s%C3@h"]
  ) {
    const error: unknown = await call(url, "GET", "/text").catch((one) => one);
    expect(error).toBeInstanceOf(ApiError);
    expect((error as ApiError).message).not.toMatch(/cret|s%/);
  }
});
