/** The handshake: combinations of versions, magics and forms; proposals of real clients; error messages. */
import { mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import http from "node:http";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { afterEach, describe, expect, it } from "vitest";
import { concat, fromHex, toHex } from "#src/base/bytes.ts";
import { type Encodable, encode } from "#src/cardano/cbor.ts";
import { connectNode } from "#src/node/client/connection.ts";
import { connectFailure } from "#src/node/errors.ts";
import { handshake, negotiate, VERSIONS, versionTable } from "#src/node/protocols/handshake.ts";
import { Speaker } from "#src/node/protocols/protocol.ts";
import { dial } from "#src/node/transport/dial.ts";
import { Mux } from "#src/node/transport/mux.ts";
import { type NodeServer, serveNode } from "#src/node/server/server.ts";
import { socketPath } from "../../../support/chain/nodeChain.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function serve(
  options: { magic: number; versions?: readonly number[] },
): Promise<{ path: string; server: NodeServer }> {
  const at = { path: socketPath() };
  const server = await serveNode(at, options);
  if (!server.ok) throw new Error(server.error.message);
  closing.push(() => server.value.close());
  return { ...at, server: server.value };
}

/** A peer that answers the first bytes with the given ones, or not, and then closes, or not. */
async function peer(answer: Uint8Array | undefined, { hangUp = false } = {}): Promise<{ path: string }> {
  const at = { path: socketPath() };
  const open = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    open.add(socket);
    socket.on("error", () => {});
    socket.on("data", () => {
      if (answer) socket.write(answer);
      if (hangUp) socket.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(at, () => resolve()));
  closing.push(() => {
    for (const socket of open) socket.destroy();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return at;
}

const fromServer = (value: Encodable) => {
  const payload = encode(value);
  return concat(new Uint8Array(4), Uint8Array.of(0x80, 0, payload.length >> 8, payload.length & 255), payload);
};

const encoded = (message: Parameters<typeof handshake.encode>[0]) => toHex(concat(...handshake.encode(message)));

describe("handshake messages", () => {
  it("are a definite map with ascending keys, whatever the order given", () => {
    expect(encoded({ type: "propose", versions: versionTable([17, 16], 2, false) })).toBe(
      "8200a2" + "1980108202f4" + "1980118202f4",
    );
    expect(encoded({ type: "accept", version: 23, data: { magic: 764824073, query: false } })).toBe(
      "83011980178" + "21a2d964a09f4",
    );
    expect(encoded({ type: "propose", versions: versionTable([1, 14], 42, false) })).toBe(
      "8200a2" + "01182a" + "19800e182a",
    );
  });

  it("are decoded as they were encoded", () => {
    const messages: Parameters<typeof handshake.encode>[0][] = [
      { type: "propose", versions: versionTable([1, 9, 14, 15, 23], 2, false) },
      { type: "accept", version: 16, data: { magic: 1, query: true } },
      { type: "queryReply", versions: versionTable(VERSIONS, 4, false) },
      { type: "refuse", refusal: { type: "mismatch", versions: [16, 17] } },
      { type: "refuse", refusal: { type: "undecoded", version: 20, text: "é" } },
      { type: "refuse", refusal: { type: "refused", version: 20, text: "no" } },
    ];
    for (const message of messages) expect(handshake.decode(concat(...handshake.encode(message)))).toEqual(message);
  });

  it("of real clients: bare magics, unknown versions and forms, other protocols' numbers are skipped", () => {
    // a table of 1 and 2 to 17, bare up to 14; with a future version, one of another protocol, and unknown forms
    const proposal = encode([
      0,
      new Map<Encodable, Encodable>([
        [1, 42],
        [7, [42, false, 0, false]],
        ...Array.from({ length: 13 }, (_, i): [Encodable, Encodable] => [0x8000 | (i + 2), 42]),
        [0x8000 | 15, [42, false]],
        [0x8000 | 16, [42, false]],
        [0x8000 | 17, [42, false]],
        [0x8000 | 99, new Map([["what", "ever"]])],
        ["text", 1],
      ]),
    ]);
    const message = handshake.decode(proposal);
    if (message.type !== "propose") throw new Error(message.type);
    expect(negotiate(message.versions, VERSIONS, 42)).toEqual({
      type: "accept",
      version: 17,
      data: { magic: 42, query: false },
    });
  });
});

describe("negotiation", () => {
  it("takes the highest common version", () => {
    for (const client of VERSIONS) {
      for (const server of VERSIONS) {
        const proposed = VERSIONS.filter((version) => version <= client);
        const spoken = VERSIONS.filter((version) => version >= server);
        const answer = negotiate(versionTable(proposed, 7, false), spoken, 7);
        if (client < server) {
          expect(answer).toEqual({ type: "refuse", refusal: { type: "mismatch", versions: spoken } });
        } else expect(answer).toEqual({ type: "accept", version: client, data: { magic: 7, query: false } });
      }
    }
  });

  it("refuses another magic before it answers a version query, and data of another form", () => {
    expect(negotiate(versionTable([16], 1, true), VERSIONS, 2)).toMatchObject({
      refusal: { type: "refused", version: 16 },
    });
    expect(negotiate(versionTable([16, 17], 2, true), VERSIONS, 2)).toEqual({
      type: "queryReply",
      versions: versionTable(VERSIONS, 2, false),
    });
    const odd = new Map([[16, { magic: 2, query: false }], [17, undefined]]);
    expect(negotiate(odd, VERSIONS, 2)).toMatchObject({ refusal: { type: "undecoded", version: 17 } });
  });
});

describe("connecting", () => {
  it("negotiates a version over a socket, for each pair of versions", async () => {
    const { path, server } = await serve({ magic: 42, versions: [16, 18, 20] });
    for (const [versions, agreed] of [[VERSIONS, 20], [[16, 17], 16], [[18], 18]] as const) {
      const connection = await connectNode({ path }, { magic: 42, versions });
      expect(connection.ok && connection.value.version).toBe(agreed);
      if (connection.ok) connection.value.close();
    }
    const none = await connectNode({ path }, { magic: 42, versions: [17, 23] });
    expect(none).toMatchObject({ ok: false, error: { code: "version_mismatch" } });
    if (!none.ok) expect(none.error.message).toContain("speaks the versions 16, 18, 20; this program speaks 17, 23");
    expect(server.address).toEqual({ path });
  });

  it("answers a version query, and closes the connection", async () => {
    const { path, server } = await serve({ magic: 42 });
    const ask = async (magic: number) => {
      const dialled = await dial({ path }, 1_000);
      if (!dialled.ok) throw new Error(dialled.error.message);
      const mux = new Mux(dialled.value, "client");
      const channel = mux.channel(handshake.id, handshake.limits.client);
      const speaker = new Speaker(handshake, channel, "client", (reason) => mux.fail(reason));
      speaker.send({ type: "propose", versions: versionTable(VERSIONS, magic, true) });
      return await speaker.receive();
    };
    expect(await ask(42)).toEqual({ type: "queryReply", versions: versionTable(VERSIONS, 42, false) });
    expect(await ask(1)).toMatchObject({ type: "refuse", refusal: { type: "refused" } });
    await gone(server);
  });

  it("names both magics", async () => {
    const { path } = await serve({ magic: 42 });
    const refused = await connectNode({ path }, { magic: 1 });
    expect(refused).toEqual({
      ok: false,
      error: {
        code: "wrong_magic",
        message: `The node at ${path} is on the network with the magic 42, not 1.`,
        details: { ours: 1, theirs: 42 },
      },
    });
  });

  it("over TCP, where a host forwards to the socket", async () => {
    const server = await serveNode({ host: "127.0.0.1", port: 0 }, { magic: 3 });
    if (!server.ok) throw new Error(server.error.message);
    closing.push(() => server.value.close());
    const connection = await connectNode(server.value.address, { magic: 3 });
    expect(connection.ok).toBe(true);
    if (connection.ok) connection.value.close();
  });

  it("explains what prevents using the socket", async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), "arbor-"));
    const file = path.join(folder, "file");
    writeFileSync(file, "");
    const to = (path: string) => connectNode({ path }, { magic: 1 });
    expect(await to(path.join(folder, "none"))).toMatchObject({
      error: { code: "socket_missing", message: `There is no socket at ${folder}/none. Is the node running?` },
    });
    const link = path.join(folder, "link");
    symlinkSync(file, link);
    for (const other of [file, link, folder]) {
      const said = { error: { code: "not_a_node", message: `${other} is not a socket.` } };
      expect(await to(other)).toMatchObject(said);
      expect(await serveNode({ path: other }, { magic: 1 })).toMatchObject(said);
    }
    const long = path.join(folder, "x".repeat(100));
    expect(await to(long)).toMatchObject({ error: { code: "socket_path_too_long" } });
    expect(await serveNode({ path: long }, { magic: 1 })).toMatchObject({ error: { code: "socket_path_too_long" } });
  });

  it("takes a path of as many bytes as the operating system does, and not one more", async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), "arbor-"));
    const longest = ["darwin", "freebsd"].includes(process.platform) ? 103 : 107;
    const at = (length: number) => ({ path: path.join(folder, "é".repeat(2)).padEnd(length - 2, "x") });
    const server = await serveNode(at(longest), { magic: 1 });
    expect(server.ok).toBe(true);
    if (server.ok) closing.push(() => server.value.close());
    const connection = await connectNode(at(longest), { magic: 1 });
    expect(connection.ok).toBe(true);
    if (connection.ok) connection.value.close();
    expect(await connectNode(at(longest + 1), { magic: 1 })).toMatchObject({
      error: { code: "socket_path_too_long", details: { length: longest + 1, limit: longest } },
    });
  });

  it("has a code and a message for errors of the operating system", () => {
    const of = (code: string) => connectFailure(Object.assign(new Error("no"), { code }), "/run/node.socket");
    expect(of("EACCES")).toEqual({
      code: "socket_forbidden",
      message: "This user may not open the socket at /run/node.socket.",
    });
    expect(of("ECONNRESET")).toMatchObject({ code: "connection_lost" });
    expect(connectFailure(undefined, "x")).toMatchObject({ code: "connection_lost" });
  });

  it("reports an abandoned socket, and serves there", async () => {
    const at = { path: socketPath() };
    const { spawnSync } = await import("node:child_process");
    const script = `const s = require("net").createServer(); s.listen(${
      JSON.stringify(at.path)
    }, () => process.kill(process.pid, "SIGKILL"))`;
    spawnSync("node", ["-e", script]);
    expect(await connectNode(at, { magic: 1 })).toMatchObject({ error: { code: "socket_refused" } });
    const server = await serveNode(at, { magic: 1 });
    expect(server.ok).toBe(true);
    if (server.ok) closing.push(() => server.value.close());
    expect(await serveNode(at, { magic: 1 })).toMatchObject({ error: { code: "socket_in_use" } });
  });

  it("detects a peer that is not a node", async () => {
    const web = http.createServer((_, response) => response.end("hello"));
    const at = { path: socketPath() };
    await new Promise<void>((resolve) => web.listen(at, () => resolve()));
    closing.push(() => new Promise((resolve) => web.close(resolve)));
    expect(await connectNode(at, { magic: 1 })).toMatchObject({
      error: { code: expect.stringMatching(/not_a_node|connection_lost/) },
    });
    const to = async (answer: Uint8Array | undefined, hangUp = false) => {
      const result = await connectNode(await peer(answer, { hangUp }), { magic: 1, handshakeTimeout: 100 });
      return result.ok ? "ok" : result.error.code;
    };
    expect(await to(new TextEncoder().encode("HTTP/1.1 400 Bad Request\r\n\r\n"))).toBe("not_a_node");
    expect(await to(undefined)).toBe("not_a_node");
    expect(await to(undefined, true)).toBe("connection_lost");
    expect(await to(fromServer([0, new Map()]))).toBe("not_a_node");
    expect(await to(fromServer("hello"))).toBe("not_a_node");
    expect(await to(fromServer([1, 0x8000 | 24, [1, false]]))).toBe("not_a_node");
    expect(await to(fromServer([1, 0x8000 | 23, 1]))).toBe("not_a_node");
    expect(await to(fromServer([1, 0x8000 | 23, [5, false]]))).toBe("wrong_magic");
    expect(await to(fromServer([2, [2, 0x8000 | 23, "Network magic mismatch"]]))).toBe("wrong_magic");
    expect(await to(fromServer([2, [2, 0x8000 | 23, "too many"]]))).toBe("handshake_refused");
    expect(await to(fromServer([2, [1, 0x8000 | 23, "magic"]]))).toBe("handshake_refused");
    expect(await to(fromServer([2, [0, []]]))).toBe("version_mismatch");
    expect(await to(fromServer([3, new Map()]))).toBe("not_a_node");
    expect(await to(fromServer(new Uint8Array(10_000)))).toBe("not_a_node");
    expect(await to(concat(new Uint8Array(4), fromHex("80000000")))).toBe("not_a_node");
  });

  it("ends with the caller's signal, at any moment", async () => {
    expect(await connectNode({ path: socketPath() }, { magic: 1, signal: AbortSignal.abort() })).toMatchObject({
      error: { code: "aborted" },
    });
    const silent = await peer(undefined);
    const waiting = new AbortController();
    const connecting = connectNode(silent, { magic: 1, signal: waiting.signal });
    setTimeout(() => waiting.abort(), 20);
    expect(await connecting).toMatchObject({ error: { code: "aborted" } });
  });
});

/** Waits until a server has no connection left. */
async function gone(server: NodeServer): Promise<void> {
  while (server.connections > 0) await new Promise((resolve) => setTimeout(resolve, 5));
}
