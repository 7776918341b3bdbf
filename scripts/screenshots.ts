/**
 * Takes the pictures of the pages for README and docs: `node scripts/screenshots.ts [FOLDER]`, by default into docs/pictures; with `--all`
 * of each page at every width of the design and in both colours. Starts an instance of its own with simulated providers, gives it
 * something to show, and ends it.
 */
import { mkdir } from "node:fs/promises"
import { fileURLToPath } from "node:url"

import { fillInstallation, pagesOf } from "../test/support/every-page.ts"
import { openBrowser } from "../test/support/processes/browser.ts"
import { makeFolder, runChild } from "../test/support/processes/child.ts"

const args = process.argv.slice(2)
const all = args.includes("--all")
const target =
  args.find((arg) => !arg.startsWith("--")) ?? fileURLToPath(new URL("../docs/pictures", import.meta.url))
const [SECRET, ADMIN, OWNER] = [
  "screenshots-secret",
  "screenshots-admin-token-4711",
  "screenshots-owner-token-4711"
]

/** The widths of the design, each with the height of its screen. */
const SCREENS = [
  [1440, 900],
  [1280, 800],
  [768, 1024],
  [390, 844],
  [320, 640]
] as const
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
  ADMIN_TOKEN: ADMIN,
  OWNER_TOKEN: OWNER
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
  const signIn = async (token: string, home: string) => {
    await page.goto(`${api}/sign-in`)
    await page.locator("#token").fill(token)
    await page.keyboard.press("Enter")
    await page.waitForURL(({ pathname }) => pathname === home)
  }
  const shootAll = async (pages: ReturnType<typeof pagesOf>) => {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme })
      for (const [width, height] of SCREENS)
        for (const [name, path] of pages) {
          await page.setViewportSize({ width, height })
          await page.goto(`${api}${path}`, { waitUntil: "load" })
          await page.locator("#loading").waitFor({ state: "hidden" })
          await page.screenshot({ path: `${target}/${name}-${width}-${colorScheme}.png`, fullPage: true })
        }
    }
  }
  if (all) {
    const subjects = await fillInstallation(api, {
      admin: ADMIN,
      owner: OWNER,
      secret: SECRET,
      bounces: "cleo@example.com"
    })
    await shootAll(pagesOf("anybody", subjects))
    await signIn(OWNER, "/dashboard")
    await shootAll(pagesOf("owner", subjects))
    await signIn(ADMIN, "/admin")
    await shootAll(pagesOf("admin", subjects))
  } else {
    await signIn(ADMIN, "/admin")
    await shoot("/admin", "overview")
    await shoot("/admin/email-log", "log")
  }
} finally {
  await browser.close()
  await child.destroy()
  await folder.remove()
}
