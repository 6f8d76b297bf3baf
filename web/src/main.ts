import "./style/base.css";
import "./style/report.css";
import "./style/explorer.css";

import { readDocument } from "./data";
import { h } from "./dom";
import { themeButton } from "./theme";
import { showComparison } from "./report/comparison_page";
import { showReport } from "./report/report";
import { showSweep } from "./report/sweep_page";
import { showTrajectory } from "./report/trajectory_page";
import { showVerdict } from "./report/verdict_page";
import { showExplorer } from "./explorer/explorer";

async function start(): Promise<void> {
  const root = document.getElementById("page")!;
  const theme = themeButton();
  try {
    const page = await readDocument();
    root.replaceChildren();
    if (page.kind === "report") showReport(page, root, theme);
    else if (page.kind === "sweep") showSweep(page, root, theme);
    else if (page.kind === "verdict") showVerdict(page, root, theme);
    else if (page.kind === "comparison") showComparison(page, root, theme);
    else if (page.kind === "trajectory") showTrajectory(page, root, theme);
    else if (page.kind === "explorer") showExplorer(page, root, theme);
    else throw new Error("this page's document is of no known kind");
    document.documentElement.setAttribute("data-ready", "true");
  } catch (error) {
    root.replaceChildren(
      h("p", { role: "alert", class: "failure" }, `This page cannot be shown: ${(error as Error).message}`),
    );
    throw error;
  }
}

void start();
