/** A drawing that is made anew for the width it has. */
import { h } from "./dom";

export function responsive(draw: (width: number) => Element): HTMLElement {
  const holder = h("div", { class: "responsive" });
  let last = 0;
  const redraw = () => {
    const width = Math.max(260, Math.floor(holder.clientWidth || 720));
    if (width === last) return;
    last = width;
    holder.replaceChildren(draw(width));
  };
  new ResizeObserver(redraw).observe(holder);
  return holder;
}
