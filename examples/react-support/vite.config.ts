import react from "@vitejs/plugin-react";
import { defaultClientConditions, defineConfig } from "vite";

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  // Inside this repository the packages are used as they are written; an app has no need of this line.
  resolve: { conditions: [...defaultClientConditions, "orcha-source"] },
  build: { outDir: "dist", emptyOutDir: true },
});
