/** Light or dark: as the system has it, until the reader chooses. */
import { h } from "./dom";

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const listeners: (() => void)[] = [];

/** Whether the page is dark now. */
export function isDark(): boolean {
  const chosen = document.documentElement.getAttribute("data-theme");
  return chosen === null ? dark.matches : chosen === "dark";
}

/** Call back when the page changes between light and dark, for what is drawn on canvas. */
export function onTheme(listener: () => void): void {
  listeners.push(listener);
}

const known = new Map<string, string>();

function changed(): void {
  known.clear();
  for (const listener of listeners) listener();
}

dark.addEventListener("change", changed);

/** The colour a style variable has now; it is looked up once, since the page is laid out anew for it. */
export function colour(name: string): string {
  if (!known.has(name)) known.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  return known.get(name)!;
}

/** A button that changes between light and dark. */
export function themeButton(): HTMLButtonElement {
  const button = h("button", { type: "button", class: "quiet theme", click: toggle }, "");
  const name = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", `Change to the ${isDark() ? "light" : "dark"} colours`);
  };
  function toggle(): void {
    document.documentElement.setAttribute("data-theme", isDark() ? "light" : "dark");
    changed();
  }
  onTheme(name);
  name();
  return button;
}
