/**
 * Takes the pictures of the pages for README and docs: `node scripts/screenshots.ts [FOLDER]`, by default into docs/pictures; with `--all`
 * of each page at every width of the design and in both colours. Starts an instance of its own with simulated providers, gives it
 * something to show, and ends it.
 */
import { mkdir } from "node:fs/promises"
import { fileURLToPath } from "node:url"

import { openBrowser } from "../test/support/processes/browser.ts"
import { makeFolder, runChild } from "../test/support/processes/child.ts"

const args = process.argv.slice(2)
const all = args.includes("--all")
const target =
  args.find((arg) => !arg.startsWith("--")) ?? fileURLToPath(new URL("../docs/pictures", import.meta.url))
const [SECRET, ADMIN] = ["screenshots-secret", "screenshots-admin-token-4711"]

/** The widths of the design, each with the height of its screen. */
const SCREENS = [
  [1440, 900],
  [1280, 800],
  [768, 1024],
  [390, 844],
  [320, 640]
] as const
const PAGES = {
  components: "/dev/kitchen-sink",
  overview: "/admin",
  log: "/admin/email-log",
  statistics: "/admin/statistics",
  suppressions: "/admin/suppressions",
  jobs: "/admin/jobs",
  domain: "/admin/sender-domain",
  notifications: "/admin/notifications",
  outbox: "/dev",
  templates: "/dev/templates"
}

/** Mails that a shop sends; the third one meets a provider that refuses. */
const MAILS = [
  { to: "ann@example.com", subject: "Your receipt for order 17", category: "transactional" },
  { to: "ben@example.com", subject: "Sign in to the shop", category: "auth" },
  { to: "cleo@example.com", subject: "Your order is on its way", category: "notification" }
] as const

const folder = await makeFolder()
const child = runChild("src/runtime/entries/start.ts", [], {
  PORT: "0",
  SMTP_PORT: "0",
  SUBMISSION_PORT: "0",
  EMAIL_FALLBACK: "provider_b",
  POSTLANE_DATA_DIR: folder.path,
  PROXY_SHARED_SECRET: SECRET,
  ADMIN_TOKEN: ADMIN
})
const browser = await openBrowser()
try {
  const api = await child.line((line) => /^ {2}API +(\S+)/.exec(line)?.[1])
  const post = (path: string, body: unknown) =>
    fetch(`${api}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-proxy-secret": SECRET },
      body: JSON.stringify(body)
    })
  for (const [at, mail] of MAILS.entries()) {
    if (at === 2) await post("/dev/simulate", { provider: "provider_a", outcomes: ["unavailable"] })
    const html = `<h1>${mail.subject}</h1><p>Thank you for your order.</p>`
    const text = "Thank you for your order."
    await post("/internal/send-email", { ...mail, html, text, source: "api:shop" })
  }
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  await mkdir(target, { recursive: true })
  const shoot = async (path: string, name: string, height = 800) => {
    await page.setViewportSize({ width: 1280, height })
    await page.goto(`${api}${path}`, { waitUntil: "networkidle" })
    await page.screenshot({ path: `${target}/${name}.png` })
    console.log(`${target}/${name}.png`)
  }
  if (!all) await shoot("/dev", "outbox", 500)
  await page.goto(`${api}/sign-in?next=/admin`)
  await page.locator("#token").fill(ADMIN)
  await page.keyboard.press("Enter")
  await page.waitForURL(({ pathname }) => pathname === "/admin")
  if (!all) {
    await shoot("/admin", "overview")
    await shoot("/admin/email-log", "log")
  } else {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme })
      for (const [width, height] of SCREENS)
        for (const [name, path] of Object.entries(PAGES)) {
          await page.setViewportSize({ width, height })
          await page.goto(`${api}${path}`, { waitUntil: "load" })
          await page.locator("#loading").waitFor({ state: "hidden" })
          await page.screenshot({ path: `${target}/${name}-${width}-${colorScheme}.png`, fullPage: true })
        }
    }
  }
} finally {
  await browser.close()
  await child.destroy()
  await folder.remove()
}
