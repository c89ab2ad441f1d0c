/** Sorts many elements of a tree by their keys. They are held as bytes: objects would take four times the memory. */
import { compareBytes } from "#src/base/bytes.ts";
import { elementAt } from "#src/base/present.ts";
import type { Element } from "#src/csmt/tree.ts";

/** Bytes of a value. */
const VALUE = 32;

/** Groups of keys by their first twelve bits; each is sorted at once. */
const GROUPS = 4_096;

export class ElementSorter {
  readonly #groups: Group[] = Array.from({ length: GROUPS }, () => new Group());

  /** The place of a key among all possible ones, from 0 to before 1. */
  static place(key: Uint8Array): number {
    return (elementAt(key, 0) * 256 + elementAt(key, 1)) / 65_536;
  }

  add(element: Element): void {
    elementAt(this.#groups, Math.floor(ElementSorter.place(element.key) * GROUPS)).add(element);
  }

  /** The elements in the order of their keys, in groups. */
  *sorted(): Iterable<readonly Element[]> {
    for (const [i, group] of this.#groups.entries()) {
      yield group.sorted();
      this.#groups[i] = new Group();
    }
  }
}

/** Elements as bytes: the length of a key, the key, the value. */
class Group {
  #bytes = new Uint8Array(256);
  #end = 0;

  add({ key, value }: Element): void {
    const end = this.#end + 1 + key.length + VALUE;
    if (end > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(end, this.#bytes.length * 2));
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#bytes[this.#end] = key.length;
    this.#bytes.set(key, this.#end + 1);
    this.#bytes.set(value, this.#end + 1 + key.length);
    this.#end = end;
  }

  sorted(): Element[] {
    const elements: Element[] = [];
    for (let at = 0; at < this.#end;) {
      const key = this.#bytes.subarray(at + 1, at + 1 + elementAt(this.#bytes, at));
      at += 1 + key.length;
      elements.push({ key, value: this.#bytes.subarray(at, at += VALUE) });
    }
    return elements.sort((a, b) => compareBytes(a.key, b.key));
  }
}
