import { defineConfig } from "vitest/config";

// One script and one style sheet with fixed names: the package inlines them into every page it writes.
export default defineConfig({
  build: {
    outDir: "../src/biasamp/report/static",
    emptyOutDir: true,
    target: "es2022",
    cssCodeSplit: false,
    sourcemap: false,
    modulePreload: false,
    lib: { entry: "src/main.ts", formats: ["iife"], name: "biasampPage", fileName: () => "page.js", cssFileName: "page" },
  },
  // Some cases take a second, and a machine may have more to do.
  test: { include: ["tests/**/*.test.ts"], testTimeout: 60_000 },
});
