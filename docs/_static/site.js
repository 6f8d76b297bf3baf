// Names for what the theme and the gallery show as a picture alone.
document.addEventListener("DOMContentLoaded", () => {
  for (const link of document.querySelectorAll(".sphx-glr-thumbcontainer a.reference")) {
    link.setAttribute("aria-label", link.textContent.trim());
  }
  for (const summary of document.querySelectorAll("nav summary")) {
    const link = summary.closest("li")?.querySelector("a");
    if (!summary.textContent.trim()) {
      summary.setAttribute("aria-label", `Pages under ${link?.textContent.trim() ?? "this one"}`);
    }
  }
});

// A formula that does not fit is scrolled by the keyboard, too.
function reachFormulas() {
  for (const formula of document.querySelectorAll("div.math")) {
    if (formula.scrollWidth > formula.clientWidth) formula.setAttribute("tabindex", "0");
    else formula.removeAttribute("tabindex");
  }
}
window.addEventListener("load", reachFormulas);
window.addEventListener("resize", reachFormulas);
