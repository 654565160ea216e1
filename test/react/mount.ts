import { document } from "./dom.ts";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createElement, Fragment, StrictMode, type ReactElement, type ReactNode } from "react";
import { createRoot, hydrateRoot, type Root } from "react-dom/client";
import { onTestFinished } from "vitest";

/** A hook in a component of its own: its newest value, and all of them. */
export interface Mounted<V, P> {
  readonly current: V;
  readonly all: readonly V[];
  readonly queryClient: QueryClient;
  /** Renders again, with other properties. */
  render: (properties: P) => void;
  unmount: () => void;
}

interface Options<P> {
  properties?: P;
  queryClient?: QueryClient;
  strict?: boolean;
  /** How many components use the hook. */
  times?: number;
}

/** Uses a hook in a page, until the test is over. */
export function mount<V, P = undefined>(use: (properties: P) => V, options: Options<P> = {}): Mounted<V, P> {
  const { queryClient = new QueryClient(), strict = false, times = 1 } = options;
  const all: V[] = [];
  function Probe({ properties }: { properties: P }): ReactNode {
    all.push(use(properties));
    return null;
  }
  const root = createRoot(document.createElement("div"));
  const render = (properties: P): void => {
    const probes = Array.from({ length: times }, (_, key) => createElement(Probe, { key, properties }));
    root.render(createElement(strict ? StrictMode : Fragment, null, withClient(queryClient, probes)));
  };
  // A hook without properties ignores what it gets.
  render(options.properties as P);
  const unmount = onlyOnce(root);
  onTestFinished(() => {
    unmount();
    queryClient.clear();
  });
  return {
    get current() {
      const newest = all.at(-1);
      if (newest === undefined) throw new Error("nothing is rendered yet");
      return newest;
    },
    all,
    queryClient,
    render,
    unmount,
  };
}

/** Takes over what a server rendered, until the test is over. */
export function hydrated(html: string, queryClient: QueryClient, element: ReactElement): { container: HTMLElement; faults: string[] } {
  const container = document.createElement("div");
  container.innerHTML = html;
  const faults: string[] = [];
  const root = hydrateRoot(container, withClient(queryClient, element), { onRecoverableError: (error) => faults.push(String(error)) });
  const unmount = onlyOnce(root);
  onTestFinished(() => {
    unmount();
    queryClient.clear();
  });
  return { container, faults };
}

export function withClient(client: QueryClient, children: ReactNode): ReactElement {
  return createElement(QueryClientProvider, { client }, children);
}

function onlyOnce(root: Root): () => void {
  let isMounted = true;
  return () => {
    if (isMounted) root.unmount();
    isMounted = false;
  };
}
