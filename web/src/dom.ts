/** Elements from code. Text always goes in as text: nothing here ever parses markup. */

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: any) => void)>;

const SVG = "http://www.w3.org/2000/svg";

function fill(node: Element, attributes: Attributes, children: Child[]): void {
  for (const name in attributes) {
    const value = attributes[name];
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name, value as EventListener);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child);
  }
}

/** An HTML element with attributes, listeners (function values) and children. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  fill(node, attributes, children);
  return node;
}

/** An SVG element. */
export function s(tag: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  const node = document.createElementNS(SVG, tag) as SVGElement;
  fill(node, attributes, children);
  return node;
}

/** A drawing with a name for those who cannot see it; it scales to the width it is given. */
export function drawing(width: number, height: number, label: string, ...children: Child[]): SVGElement {
  return s(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label, class: "drawing" },
    ...children,
  );
}
