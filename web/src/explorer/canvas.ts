/** Canvases that are sharp on every screen. */
import { h } from "../dom";
import { colour } from "../theme";

export class Canvas {
  readonly node: HTMLCanvasElement;
  width = 0;
  height = 0;

  constructor(label: string) {
    this.node = h("canvas", { role: "img", "aria-label": label });
  }

  name(label: string): void {
    this.node.setAttribute("aria-label", label);
  }

  /** Clear it at a size, and hand out what draws on it. */
  begin(width: number, height: number): CanvasRenderingContext2D {
    const scale = window.devicePixelRatio || 1;
    this.width = width;
    this.height = height;
    const [w, t] = [Math.round(width * scale), Math.round(height * scale)];
    if (this.node.width !== w) this.node.width = w;
    if (this.node.height !== t) this.node.height = t;
    this.node.style.width = `${width}px`;
    this.node.style.height = `${height}px`;
    const context = this.node.getContext("2d")!;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = "11px system-ui, sans-serif";
    return context;
  }
}

/** The colour of a run, which stays with it whatever else is shown. */
export function runColour(run: number): string {
  return colour(`run${run % 6}`);
}

/** The letter of a run, for those who cannot go by colour. */
export function runLetter(run: number): string {
  return String.fromCharCode(65 + (run % 26));
}
