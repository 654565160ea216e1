import { Window } from "happy-dom";
import { expect } from "vitest";

// Only what React and the app need of a page: fetch and streams stay Node's, where the mock answers.
const window = new Window({ url: "http://support.example/" });
const { document, location, history, HTMLElement, IntersectionObserver, ResizeObserver } = window;
Object.assign(globalThis, { window, document, location, history, HTMLElement, IntersectionObserver, ResizeObserver, IS_REACT_ACT_ENVIRONMENT: false });

/** What the page says, as a reader of it would find it. */
export const page = {
  text: (): string => window.document.body.textContent,

  /** Waits until the page says something. */
  async says(text: string): Promise<void> {
    await expect.poll(() => page.text()).toContain(text);
  },

  /** Presses the button or follows the link of that name. */
  press(name: string): void {
    const found = [...window.document.querySelectorAll("button, a")].find((element) => element.textContent.includes(name));
    if (!found) throw new Error(`the page has no "${name}"; it says: ${page.text()}`);
    const href = found.getAttribute("href");
    if (href === null) (found as unknown as { click: () => void }).click();
    else window.location.hash = href;
  },

  /** Writes a message and sends it. */
  async send(text: string): Promise<void> {
    const field = window.document.querySelector("textarea");
    if (!field) throw new Error("there is nowhere to write");
    // As typing does it: React looks for a change behind its own back.
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), "value")?.set?.call(field, text);
    field.dispatchEvent(new window.Event("input", { bubbles: true }));
    await expect.poll(() => window.document.querySelector("button[type=submit]")?.hasAttribute("disabled")).toBe(false);
    page.press("Send");
  },
};
