/** A server that misbehaves: broken redirects, halves of answers, slow bytes, too much, wrong types, broken HTTP. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";

/** Answers to a request; those of `SILENT` keep the connection open without an end. */
const answer = (status: string, headers: readonly string[], body = "") =>
  [`HTTP/1.1 ${status}`, ...headers, "", body].join("\r\n");
const json = (body: string) => answer("200 OK", [`content-length: ${body.length}`], body);
const redirect = (location: string) => answer("302 Found", [`location: ${location}`, "content-length: 0"]);

/** Bytes of each misbehaviour that ends by itself. */
const ENDING: Readonly<Record<string, string>> = {
  "a redirect to half an address": redirect("http://["),
  "a redirect to a port that is none": redirect("http://127.0.0.1:99999/"),
  "a redirect to another scheme": redirect("file:///etc/passwd"),
  "a redirect to nothing": redirect(""),
  "a redirect to itself": redirect("/"),
  "a redirect with spaces": redirect("http:// /"),
  "a redirect of odd bytes": redirect("/\u00ff\u0001"),
  "half an answer": answer("200 OK", ["content-length: 1000"], '{"subj'),
  "a chunk of a wrong size": answer("200 OK", ["transfer-encoding: chunked"], "zz\r\nabc\r\n"),
  "no HTTP": "SSH-2.0-OpenSSH_9.6\r\n",
  "no status": answer("", []),
  "two lengths": answer("200 OK", ["content-length: 1", "content-length: 2"], "abc"),
  "an upgrade": answer("101 Switching Protocols", ["upgrade: websocket", "connection: upgrade"]),
  "nothing": "",
  "too much": json(`"${"x".repeat(100_000)}"`),
  "no JSON": json("<html>"),
  "null": json("null"),
  "a number": json("1e999"),
  "an object": json("{}"),
  "a list": json("[[[]]]"),
  "deep lists": json("[".repeat(20_000) + "]".repeat(20_000)),
  "subjects of wrong types": json(
    '{"subjects":[null,1,"x",[],{},{"subject":null},{"subject":"00","name":[],"description":{}}]}',
  ),
  "subjects that are none": json('{"subjects":{"length":2}}'),
  "texts that are not Unicode": json('{"ticker":"\\ud800XX","name":"\\udc00","description":"","homepage":"\\u0000"}'),
  "an error": answer("500 Oops", ["content-length: 0"]),
};
/** Bytes after which nothing follows. */
const SILENT: Readonly<Record<string, string>> = {
  "no answer": "",
  "a head without an end": "HTTP/1.1 200 OK\r\ncontent-type: ",
  "a body without an end": answer("200 OK", ["content-length: 100"], "{"),
  "chunks without an end": answer("200 OK", ["transfer-encoding: chunked"], "1\r\n{\r\n"),
  "only interim answers": "HTTP/1.1 102 Processing\r\n\r\n".repeat(3),
};

/** Names of all misbehaviours, and of those that never end. */
export const SILENCES = Object.keys(SILENT);
export const MISDEEDS = [...Object.keys(ENDING), ...SILENCES];

interface HostileServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Serves a misbehaviour to each request: the next that `next` names. */
export async function hostileServer(next: () => string): Promise<HostileServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    socket.once("data", () => {
      const misdeed = next();
      const silent = SILENT[misdeed];
      if (silent !== undefined) socket.write(silent, "latin1");
      else socket.end(ENDING[misdeed]!, "latin1");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
