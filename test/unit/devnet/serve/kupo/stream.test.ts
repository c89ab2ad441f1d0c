/** Answers that are sent while they are made. */
import { expect, test } from "vitest";
import { bodyOf, type Emit } from "#src/devnet/serve/kupo/stream.ts";

const part = "x".repeat(100_000);

async function textOf(body: string | ReadableStream<Uint8Array>): Promise<string> {
  return typeof body === "string" ? body : await new Response(body as ReadableStream<Uint8Array<ArrayBuffer>>).text();
}

test("a small answer is one text", async () => {
  const body = await bodyOf(async (emit) => {
    for (const one of ["a", "b", "c"]) await emit(one);
  });
  expect(body).toBe("abc");
});

test("a large answer is a stream with all of its parts", async () => {
  const body = await bodyOf(async (emit) => {
    for (let i = 0; i < 50; i++) await emit(`${i}${part}`);
  });
  expect(body).toBeInstanceOf(ReadableStream);
  expect(await textOf(body)).toBe(Array.from({ length: 50 }, (_, i) => `${i}${part}`).join(""));
});

test("parts are made no faster than they are read", async () => {
  let made = 0;
  const body = await bodyOf(async (emit) => {
    for (; made < 1_000; made++) await emit(part);
  }) as ReadableStream<Uint8Array>;
  const reader = body.getReader();
  for (let read = 0; read < 20; read++) {
    await reader.read();
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(made).toBeLessThan(read + 10);
  }
  await reader.cancel();
});

test("a fault before anything is sent is the caller's", async () => {
  const fault = new Error("fault");
  await expect(bodyOf(async (emit) => {
    await emit("a");
    throw fault;
  })).rejects.toBe(fault);
});

test("a fault after the first parts ends the body with an error", async () => {
  const body = await bodyOf(async (emit) => {
    for (let i = 0; i < 5; i++) await emit(part);
    throw new Error("fault");
  });
  await expect(textOf(body)).rejects.toThrow("fault");
});

/** Makes parts without end; resolves to the reason why it ended. */
function endless(): { produce: (emit: Emit) => Promise<void>; ended: Promise<unknown> } {
  let end = (_: unknown) => {};
  const ended = new Promise((resolve) => end = resolve);
  const produce = async (emit: Emit) => {
    try {
      for (;;) await emit(part);
    } catch (error) {
      end(error);
      throw error;
    }
  };
  return { produce, ended };
}

test("a client that stops reading ends what makes the answer", async () => {
  const { produce, ended } = endless();
  const body = await bodyOf(produce, { stalledMs: 50 }) as ReadableStream<Uint8Array>;
  expect(await ended).toMatchObject({ message: expect.stringContaining("does not read") });
  await expect(textOf(body)).rejects.toThrow("does not read");
});

test("a client that reads too slowly in all ends what makes the answer", async () => {
  const { produce, ended } = endless();
  const body = await bodyOf(produce, { longestMs: 50 }) as ReadableStream<Uint8Array>;
  await expect(textOf(body)).rejects.toThrow("in time");
  expect(await ended).toBeInstanceOf(Error);
});

test("a client that leaves ends what makes the answer", async () => {
  const { produce, ended } = endless();
  const body = await bodyOf(produce) as ReadableStream<Uint8Array>;
  const gone = new Error("gone");
  await body.cancel(gone);
  expect(await ended).toBe(gone);
});
