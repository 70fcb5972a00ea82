import { defineConfig } from "@playwright/test"

const chromium = process.env.LIMINAL_TEST_CHROMIUM || "/usr/bin/chromium"

export default defineConfig({
  testDir: "stories",
  testMatch: "*.story.js",
  outputDir: "test-results",
  fullyParallel: true,
  workers: 2,
  retries: 0,
  timeout: 60_000,
  expect: { timeout: 10_000 },
  reporter: [["list"]],
  use: {
    viewport: { width: 1024, height: 768 },
    colorScheme: "dark",
    trace: "off",
    screenshot: "only-on-failure",
    launchOptions: {
      executablePath: chromium,
      args: ["--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])],
    },
  },
})
