import { defineConfig } from "vite";

// The page of an audit in the browser: a script and a style sheet of its own, so that reports do not grow by it.
export default defineConfig({
  build: {
    outDir: "../src/biasamp/report/static",
    emptyOutDir: false,
    target: "es2022",
    cssCodeSplit: false,
    sourcemap: false,
    modulePreload: false,
    lib: { entry: "src/try/main.ts", formats: ["iife"], name: "biasampTry", fileName: () => "try.js", cssFileName: "try" },
  },
  worker: { format: "iife" },
});
