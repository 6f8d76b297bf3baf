import "../style/base.css";
import "../style/report.css";
import "./try.css";

import { TryPage } from "./try_page";
import Counter from "./worker?worker&inline";

new TryPage(document.getElementById("page")!, () => new Counter()).showStart();
document.documentElement.setAttribute("data-ready", "true");
