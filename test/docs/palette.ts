/** Writes a screenshot with a palette, which takes less than half of its bytes: a page has few colours, and shades at edges. */
import { crc32, deflateSync, inflateSync } from "node:zlib";

const SIGNATURE = 8;
const COLOURS = 64;

/** A PNG of 8 bits a channel without alpha and interlacing, as Chromium makes it, with its most frequent colours. */
export function withPalette(png: Uint8Array): Buffer {
  const chunks = [...chunksOf(Buffer.from(png))];
  const header = Buffer.from(chunks.find(({ type }) => type === "IHDR")!.data);
  if (header[8] !== 8 || header[9] !== 2 || header[12] !== 0) throw new Error("not a picture of RGB in one pass");
  const width = header.readUInt32BE(0);
  const data = Buffer.concat(chunks.filter(({ type }) => type === "IDAT").map(({ data }) => data));
  const pixels = pixelsOf(inflateSync(data), 3 * width);
  const uses = new Map<number, number>();
  for (const colour of pixels) uses.set(colour, (uses.get(colour) ?? 0) + 1);
  const frequent = [...uses].sort(([, a], [, b]) => b - a).map(([colour]) => colour);
  const palette = frequent.slice(0, COLOURS);
  const places = new Map(frequent.map((colour) => [colour, nearest(palette, colour)]));
  const lines = Buffer.alloc((width + 1) * (pixels.length / width));
  pixels.forEach((colour, i) => lines[i + Math.floor(i / width) + 1] = places.get(colour)!);
  header[9] = 3;
  return Buffer.concat([
    png.subarray(0, SIGNATURE),
    chunk("IHDR", header),
    chunk("PLTE", Buffer.from(palette.flatMap(channels))),
    chunk("IDAT", deflateSync(lines, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function* chunksOf(png: Buffer): Generator<{ readonly type: string; readonly data: Buffer }> {
  for (let at = SIGNATURE; at < png.length;) {
    const length = png.readUInt32BE(at);
    yield { type: png.toString("latin1", at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) };
    at += length + 12;
  }
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** Undoes the filters of lines of a number of bytes; gives colours as numbers. */
function pixelsOf(raw: Buffer, line: number): Uint32Array {
  const pixels = new Uint32Array(raw.length / (line + 1) * line / 3);
  let above = new Uint8Array(line);
  for (let at = 0, n = 0; at < raw.length; at += line + 1) {
    const own = Uint8Array.from(raw.subarray(at + 1, at + 1 + line));
    for (let i = 0; i < line; i++) {
      const [a, b, c] = [own[i - 3] ?? 0, above[i]!, above[i - 3] ?? 0];
      own[i] = own[i]! + [0, a, b, (a + b) >> 1, paeth(a, b, c)][raw[at]!]!;
    }
    for (let i = 0; i < line; i += 3) pixels[n++] = own[i]! << 16 | own[i + 1]! << 8 | own[i + 2]!;
    above = own;
  }
  return pixels;
}

function paeth(a: number, b: number, c: number): number {
  const [toA, toB, toC] = [Math.abs(b - c), Math.abs(a - c), Math.abs(a + b - 2 * c)];
  return toA <= toB && toA <= toC ? a : toB <= toC ? b : c;
}

const channels = (colour: number): [number, number, number] => [colour >> 16, colour >> 8 & 255, colour & 255];

/** Index of the colour of a palette that differs least. */
function nearest(palette: readonly number[], colour: number): number {
  const own = channels(colour);
  const distances = palette.map((one) => channels(one).reduce((sum, value, i) => sum + (value - own[i]!) ** 2, 0));
  return distances.indexOf(Math.min(...distances));
}
