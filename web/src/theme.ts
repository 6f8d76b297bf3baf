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

function changed(): void {
  for (const listener of listeners) listener();
}

dark.addEventListener("change", changed);

/** The colour a style variable has now. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
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
