/** Small parts of views. */
import type { ComponentChildren, ComponentType, FunctionComponent } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "#src/client/http.ts";
import { title } from "./router.ts";
import { Failure, Loading } from "./states.tsx";

export type Tone = "good" | "warn" | "bad" | "quiet";

/** Sets the title of the document. */
export function useTitle(text: string): void {
  useEffect(() => {
    title.value = text;
  }, [text]);
}

/** The heading of a view, with actions at its side. It receives the focus when the view is opened. */
export function Heading({ children, aside, title: text }: {
  readonly children: ComponentChildren;
  readonly aside?: ComponentChildren;
  /** Title of the document. */
  readonly title: string;
}) {
  useTitle(text);
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    // the view was opened before its heading was there
    if (document.activeElement?.id === "main") heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <div class="heading">
      <h1 ref={heading} tabIndex={-1}>{children}</h1>
      {aside !== undefined && <div class="buttons">{aside}</div>}
    </div>
  );
}

/** A part of a view with a heading of its own; `aside` stands at the heading's side. */
export function Panel({ title: text, aside, children, class: more }: {
  readonly title: string;
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly class?: string;
}) {
  const id = useId();
  return (
    <section class={more === undefined ? "panel" : `panel ${more}`} aria-labelledby={id}>
      <div class="panel-head">
        <h2 id={id}>{text}</h2>
        {aside !== undefined && <div class="panel-aside">{aside}</div>}
      </div>
      {children}
    </section>
  );
}

/** Names with their values. Pairs whose value is undefined are left out. */
export function Facts({ pairs, align }: {
  readonly pairs: readonly (readonly [name: string, value: ComponentChildren])[];
  /** Where most values are amounts, they form a column. */
  readonly align?: "right";
}) {
  return (
    <dl class={align === undefined ? "facts" : `facts ${align}`}>
      {pairs.filter(([, value]) => value !== undefined).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Badge({ tone = "quiet", title: hint, children }: {
  readonly tone?: Tone;
  readonly title?: string;
  readonly children: ComponentChildren;
}) {
  return <span class={`badge ${tone}`} {...(hint === undefined ? {} : { title: hint })}>{children}</span>;
}

/** A state or a short code. */
export function Chip({ children }: { readonly children: ComponentChildren }) {
  return <span class="chip">{children}</span>;
}

/** A number with its name, for the head of a view. */
export function Stat({ name, children, note, tone }: {
  readonly name: string;
  readonly children: ComponentChildren;
  readonly note?: ComponentChildren;
  readonly tone?: Tone;
}) {
  return (
    <div class={tone === undefined ? "stat" : `stat ${tone}`}>
      <p class="stat-name">{name}</p>
      <p class="stat-value">{children}</p>
      {note !== undefined && <p class="note">{note}</p>}
    </div>
  );
}

/** Numbers side by side. */
export function Stats({ children }: { readonly children: ComponentChildren }) {
  return <div class="stats">{children}</div>;
}

export interface TimelineItem {
  readonly key: string;
  readonly title: ComponentChildren;
  readonly time?: ComponentChildren;
  readonly tone?: Tone;
  readonly body?: ComponentChildren;
}

/** Events in their order, one below the other. */
export function Timeline({ items, label, busy = false }: {
  readonly items: readonly TimelineItem[];
  readonly label: string;
  /** Whether others are read in their place. */
  readonly busy?: boolean;
}) {
  return (
    <ol class="timeline" aria-label={label} aria-busy={busy}>
      {items.map(({ key, title: text, time, tone, body }) => (
        <li key={key} class={tone ?? ""}>
          <div class="timeline-head">
            <span class="timeline-title">{text}</span>
            {time !== undefined && <span class="note">{time}</span>}
          </div>
          {body}
        </li>
      ))}
    </ol>
  );
}

/** A button that does nothing more while its action runs. It keeps the focus, so that a dialog can give it back. */
export function Action({ run, children, tone, small = false, disabled = false, label }: {
  readonly run: () => unknown;
  readonly children: ComponentChildren;
  readonly tone?: "primary" | "danger";
  readonly small?: boolean;
  readonly disabled?: boolean;
  readonly label?: string;
}) {
  const [busy, setBusy] = useState(false);
  const click = async () => {
    if (busy) return;
    setBusy(true);
    try {
      await run();
    } finally {
      setBusy(false);
    }
  };
  return (
    <button
      type="button"
      class={[tone ?? "", small ? "small" : ""].join(" ").trim()}
      disabled={disabled}
      aria-disabled={busy}
      onClick={click}
      {...(label === undefined ? {} : { "aria-label": label })}
    >
      {children}
    </button>
  );
}

/** Buttons of which one is chosen. */
export function Choice<T extends string>({ label, options, value, onChange }: {
  readonly label: string;
  readonly options: readonly (readonly [value: T, name: string])[];
  readonly value: T;
  readonly onChange: (value: T) => void;
}) {
  return (
    <div class="choice" role="group" aria-label={label}>
      {options.map(([one, name]) => (
        <button
          type="button"
          key={one}
          aria-pressed={one === value}
          onClick={() => onChange(one)}
        >
          {name}
        </button>
      ))}
    </div>
  );
}

/** Views of one thing, as links in a row; the address names the one that is shown. */
export function Tabs({ label, tabs, current, again }: {
  readonly label: string;
  readonly tabs: readonly { readonly id: string; readonly name: ComponentChildren; readonly href: string }[];
  readonly current: string;
  /** Called when the tab of the view that is shown is pressed. */
  readonly again?: () => void;
}) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ id, name, href }) => (
        <a key={id} href={href} {...(id === current ? { "aria-current": "page" as const, onClick: again } : {})}>
          {name}
        </a>
      ))}
    </nav>
  );
}

const NOT_LOADED = new ApiError(
  503,
  "not_loaded",
  "This part of the page could not be loaded. Check that the service is running, or reload the page.",
);

/** A component whose module is loaded when it first appears; with `soon`, once the browser has nothing else to do. */
export function lazy<P extends object>(
  load: () => Promise<ComponentType<P>>,
  { soon = false }: { readonly soon?: boolean } = {},
): FunctionComponent<P> {
  let loaded: ComponentType<P> | undefined;
  // a failure is shown when the component appears
  if (soon) whenIdle(() => load().then((component) => loaded ??= component, () => {}));
  return function Lazy(props: P) {
    const [state, set] = useState<{ error?: unknown; tries: number }>({ tries: 0 });
    useLayoutEffect(() => {
      if (loaded !== undefined) return;
      let wanted = true;
      load().then((component) => {
        loaded = component;
        if (wanted) set({ tries: 0 });
      }, () => wanted && set((before) => ({ error: NOT_LOADED, tries: before.tries })));
      return () => {
        wanted = false;
      };
    }, [state.tries]);
    if (loaded !== undefined) {
      const Component = loaded;
      return <Component {...props} />;
    }
    const retry = () => set((before) => ({ tries: before.tries + 1 }));
    return state.error === undefined ? <Loading /> : <Failure error={state.error} retry={retry} />;
  };
}

/** Calls when the page is idle, a second after its start or later, so that it does not delay the first data. */
function whenIdle(call: () => unknown): void {
  setTimeout(() => {
    if (typeof requestIdleCallback === "function") requestIdleCallback(call);
    else call();
  }, 1_000);
}
