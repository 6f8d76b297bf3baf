/** What is under the pointer, by name, beside it. Those who cannot see charts have the table. */
import { h } from "../dom";

const node = h("div", { class: "hover", "aria-hidden": "true" });
node.hidden = true;

/** Show lines beside a place of the window; the first is the name. */
export function showHover(event: PointerEvent, lines: string[]): void {
  if (!node.isConnected) document.body.append(node);
  node.replaceChildren(...lines.map((line, i) => h(i ? "div" : "strong", {}, h("bdi", {}, line))));
  node.hidden = false;
  // Kept inside the window.
  const [wide, tall] = [node.offsetWidth, node.offsetHeight];
  const left = event.clientX + 14 + wide > window.innerWidth ? event.clientX - 14 - wide : event.clientX + 14;
  const top = event.clientY + 14 + tall > window.innerHeight ? event.clientY - 14 - tall : event.clientY + 14;
  node.style.left = `${Math.max(4, left)}px`;
  node.style.top = `${Math.max(4, top)}px`;
}

export function hideHover(): void {
  node.hidden = true;
}

/** Hide it when the pointer leaves a chart. */
export function leaves(chart: HTMLElement, then: () => void = () => {}): void {
  chart.addEventListener("pointerleave", () => {
    hideHover();
    then();
  });
}
