/** Contrast of the pages' colours in both themes, by WCAG 2.2: 4.5 for text, 3 for marks of charts. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

type Rgb = readonly [red: number, green: number, blue: number];
const THEMES = ["light", "dark"] as const;
type Theme = typeof THEMES[number];

const SHEETS = [
  "kit/theme",
  "operator/operator",
  "explorer/style",
  "wallet/wallet",
  "tokens/page",
  "start/style",
].map((name) => `${name}.css`);

/** A rule without the rules around it. */
interface Rule {
  readonly sheet: string;
  readonly selector: string;
  readonly values: ReadonlyMap<string, string>;
}

const rules: readonly Rule[] = SHEETS.flatMap((sheet) => {
  const text = readFileSync(new URL(`../../../src/pages/${sheet}`, import.meta.url), "utf8");
  return [...text.replace(/\/\*.*?\*\//gs, "").matchAll(/([^{}]+)\{([^{}]*)\}/g)].map((
    [, selector = "", body = ""],
  ) => ({
    sheet,
    selector: selector.trim().replace(/\s+/g, " "),
    values: new Map(
      body.split(";").map((one) => one.trim()).filter(Boolean).map((one) => {
        const at = one.indexOf(":");
        return [one.slice(0, at).trim(), one.slice(at + 1).trim()] as const;
      }),
    ),
  }));
});
const variables = rules.find(({ selector }) => selector === ":root")!.values;
const hues = rules.flatMap(({ values }) => values.get("--hue") ?? []);

/** The arguments of a function's text. */
function split(text: string): string[] {
  const parts = [""];
  let depth = 0;
  for (const char of text) {
    depth += char === "(" ? 1 : char === ")" ? -1 : 0;
    if (char === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += char;
  }
  return parts.map((part) => part.trim());
}

/** A colour of CSS in a theme; `undefined` for one that depends on its place. */
function colour(text: string, theme: Theme, hue: string | undefined): Rgb | undefined {
  const [, hex] = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(text) ?? [];
  if (hex !== undefined) {
    const full = hex.length === 3 ? [...hex].map((digit) => digit + digit).join("") : hex;
    const [red, green, blue] = [0, 2, 4].map((at) => parseInt(full.slice(at, at + 2), 16) / 255);
    return [red!, green!, blue!];
  }
  const [, name, inner] = /^([a-z-]+)\((.*)\)$/s.exec(text) ?? [];
  if (inner === undefined) return undefined;
  if (name === "var") {
    const value = inner === "--hue" ? hue : variables.get(inner);
    return value === undefined ? undefined : colour(value, theme, hue);
  }
  if (name === "light-dark") return colour(split(inner)[theme === "light" ? 0 : 1]!, theme, hue);
  if (name === "color-mix") {
    const [, first = "", second = ""] = split(inner);
    const [, one = "", share = ""] = /^(.*) (\d+)%$/.exec(first) ?? [];
    const [a, b] = [colour(one, theme, hue), colour(second, theme, hue)];
    if (a === undefined || b === undefined) return undefined;
    const [red, green, blue] = a.map((value, i) => value * Number(share) / 100 + b[i]! * (1 - Number(share) / 100));
    return [red!, green!, blue!];
  }
  if (name !== "oklch") return undefined;
  const [lightness = 0, chroma = 0, angle = 0] = inner.replace("var(--hue)", hue ?? "0").split(" ").map(Number);
  return oklch(lightness, chroma, angle);
}

/** sRGB of OKLCH, by CSS Color 4. */
function oklch(lightness: number, chroma: number, degrees: number): Rgb {
  const [a, b] = [Math.cos(degrees * Math.PI / 180) * chroma, Math.sin(degrees * Math.PI / 180) * chroma];
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const gamma = (value: number) => {
    const inside = Math.min(1, Math.max(0, value));
    return inside <= 0.0031308 ? 12.92 * inside : 1.055 * inside ** (1 / 2.4) - 0.055;
  };
  return [
    gamma(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    gamma(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    gamma(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

function luminance(rgb: Rgb): number {
  const [red, green, blue] = rgb.map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

function contrast(a: Rgb, b: Rgb): number {
  const [high, low] = [luminance(a), luminance(b)].sort((one, other) => other - one);
  return (high! + 0.05) / (low! + 0.05);
}

/** Pairs of colours whose contrast is below a bound, with it. */
function tooLow(
  pairs: readonly { readonly where: string; readonly front: string; readonly back: string }[],
  least: number,
): string[] {
  return THEMES.flatMap((theme) =>
    pairs.flatMap(({ where, front, back }) =>
      (`${front}${back}`.includes("--hue") ? hues : [undefined]).flatMap((hue) => {
        const [a, b] = [colour(front, theme, hue), colour(back, theme, hue)];
        if (a === undefined || b === undefined) throw new Error(`${where}: ${front} on ${back} is not understood`);
        const found = contrast(a, b);
        return found >= least ? [] : [`${theme}: ${where}: ${front} on ${back}: ${found.toFixed(2)}`];
      })
    )
  );
}

const PLACES = ["--ground", "--surface", "--sunk"].map((name) => `var(${name})`);
const SOFT = ["--leaf-soft", "--warn-soft", "--bad-soft"].map((name) => `var(${name})`);
const FIXED = /^(inherit|currentColor|transparent|none)$/;
/** Values that are colours; the value of a background may be more. */
const isColour = (value: string | undefined): value is string => value !== undefined && !FIXED.test(value);

describe("the colours of pages", () => {
  it("are measured as WCAG defines contrast", () => {
    expect(contrast([0, 0, 0], [1, 1, 1])).toBeCloseTo(21);
    expect(contrast(colour("#777", "light", undefined)!, [1, 1, 1])).toBeCloseTo(4.48, 2);
    // oklch of pure red, by CSS Color 4
    oklch(0.62796, 0.25768, 29.2339).forEach((value, i) => expect(value).toBeCloseTo(i === 0 ? 1 : 0, 3));
  });

  it("of text stand out from every background without a colour of its own", () => {
    const texts = rules.filter(({ values }) => isColour(values.get("color")) && !isColour(values.get("background")));
    expect(texts.length).toBeGreaterThan(50);
    const pairs = texts.flatMap(({ sheet, selector, values }) =>
      PLACES.map((back) => ({ where: `${sheet} ${selector}`, front: values.get("color")!, back }))
    );
    expect(tooLow(pairs, 4.5)).toEqual([]);
  });

  it("of usual and of quiet text stand out from soft backgrounds, too", () => {
    const pairs = ["var(--ink)", "var(--muted)"].flatMap((front) =>
      SOFT.map((back) => ({ where: "soft", front, back }))
    );
    expect(tooLow(pairs, 4.5)).toEqual([]);
  });

  it("of text stand out from the background of the same rule, of states and of every worker", () => {
    const both = rules.filter(({ values }) => isColour(values.get("color")) && isColour(values.get("background")));
    expect(both.length).toBeGreaterThan(15);
    expect(hues.length).toBeGreaterThan(5);
    const pairs = both.map(({ sheet, selector, values }) => ({
      where: `${sheet} ${selector}`,
      front: values.get("color")!,
      back: values.get("background")!,
    }));
    expect(tooLow(pairs, 4.5)).toEqual([]);
  });

  it("of text in statecharts stand out from every state, the current one and a wrong one", () => {
    const texts = rules.filter(({ selector, values }) =>
      values.has("fill") &&
      selector.split(", ").some((one) => /^\.statechart.* (text|\.row|\.event|\.row\.now)$/.test(one))
    );
    expect(texts.length).toBe(5);
    const pairs = texts.flatMap(({ sheet, selector, values }) =>
      [...PLACES, ...SOFT].map((back) => ({ where: `${sheet} ${selector}`, front: values.get("fill")!, back }))
    );
    expect(tooLow(pairs, 4.5)).toEqual([]);
  });

  it("of kinds and errors in charts and their legends stand out from the panel", () => {
    const marks = rules.filter(({ selector }) => /(^| )\.c\d$/.test(selector));
    expect(marks.length).toBe(9);
    const pairs = marks.flatMap(({ sheet, selector, values }) =>
      ["fill", "background"].map((property) => ({
        where: `${sheet} ${selector} ${property}`,
        front: values.get(property)!,
        back: "var(--surface)",
      }))
    );
    expect(tooLow(pairs, 3)).toEqual([]);
  });
});
