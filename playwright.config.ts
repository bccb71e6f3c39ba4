import { defineConfig } from '@playwright/test';
import { softwareAdapters } from './scripts/adapters.mjs';

// Journeys run on the built page under a sub-path, as a static host serves it.
export default defineConfig({
  testDir: 'e2e',
  fullyParallel: false,
  workers: 1,
  retries: 0,
  forbidOnly: Boolean(process.env.CI),
  reporter: 'line',
  use: {
    baseURL: 'http://localhost:4199/hgpo-playground/',
    launchOptions: {
      ...(process.env.CHROMIUM_PATH ? { executablePath: process.env.CHROMIUM_PATH } : {}),
      args: [...softwareAdapters.chromiumFlags, ...softwareAdapters.swiftshader.chromiumFlags],
      env: { ...(process.env as Record<string, string>), ...softwareAdapters.swiftshader.env },
    },
  },
  webServer: {
    command: 'node e2e/serve.mjs 4199',
    url: 'http://localhost:4199/hgpo-playground/',
    reuseExistingServer: false,
    timeout: 120_000,
  },
});
