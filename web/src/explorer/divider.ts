/** The line between the table and the views under it: dragged, or moved with the arrow keys. */
import { h } from "../dom";
import { SPLIT, SPLIT_RANGE } from "./state";

const STEP = 4;

export class Divider {
  readonly node: HTMLElement;
  private share = SPLIT;

  constructor(private readonly whole: HTMLElement, private readonly moved: (share: number) => void) {
    this.node = h("div", {
      class: "divider", role: "separator", tabindex: "0", "aria-orientation": "horizontal", "aria-label": "Height of the views, in percent",
      "aria-valuemin": SPLIT_RANGE[0], "aria-valuemax": SPLIT_RANGE[1], title: "Drag, or use the arrow keys; Enter for the usual height",
      keydown: (event: KeyboardEvent) => this.key(event), dblclick: () => this.to(SPLIT),
    });
    this.node.addEventListener("pointerdown", (event) => {
      this.node.setPointerCapture(event.pointerId);
      event.preventDefault();
      this.node.focus();
    });
    this.node.addEventListener("pointermove", (event) => {
      if (!this.node.hasPointerCapture(event.pointerId)) return;
      const box = this.whole.getBoundingClientRect();
      this.to((100 * (box.bottom - event.clientY)) / box.height);
    });
  }

  private key(event: KeyboardEvent): void {
    const to: Record<string, number> = { ArrowUp: this.share + STEP, ArrowDown: this.share - STEP, Home: SPLIT_RANGE[0], End: SPLIT_RANGE[1], Enter: SPLIT };
    if (!(event.key in to)) return;
    event.preventDefault();
    this.to(to[event.key]);
  }

  private to(share: number): void {
    const kept = Math.round(Math.min(SPLIT_RANGE[1], Math.max(SPLIT_RANGE[0], share)));
    if (kept !== this.share) this.moved(kept);
  }

  draw(share: number): void {
    this.share = share;
    this.node.setAttribute("aria-valuenow", String(share));
    this.whole.style.setProperty("--views", `${share}%`);
  }
}
