import { defineConfig } from "@playwright/test"

const chromium = process.env.LIMINAL_TEST_CHROMIUM || "/usr/bin/chromium"

export default defineConfig({
  testDir: "stories",
  testMatch: "*.story.js",
  outputDir: "test-results",
  fullyParallel: true,
  workers: 2,
  retries: 0,
  // A story says nothing about time. These are only for giving up, also on a machine that is busy with other work.
  timeout: 120_000,
  expect: { timeout: 30_000 },
  reporter: [["list"]],
  // The real agents take seconds to start on a small machine; what they then do is waited for like everything else.
  projects: [
    { name: "stories", testIgnore: "real-*.story.js" },
    { name: "real agents", testMatch: "real-*.story.js", timeout: 240_000, expect: { timeout: 40_000 } },
  ],
  use: {
    viewport: { width: 1024, height: 768 },
    colorScheme: "dark",
    trace: "off",
    screenshot: "only-on-failure",
    launchOptions: {
      executablePath: chromium,
      args: [
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
      ],
    },
  },
})
