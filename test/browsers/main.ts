/**
 * The main paths in a browser that is installed here, by keyboard alone: `npm run test:browsers -- firefox|webkit`. Starts an instance
 * of its own; prints a line for each thing that was tried, and fails where one is not so. Chromium is what `npm test` uses.
 */
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { setTimeout as sleep } from "node:timers/promises"

import { fillInstallation, pagesOf } from "../support/every-page.ts"
import { numbered } from "../support/files/pdf-samples.ts"
import { makeFolder, runChild } from "../support/processes/child.ts"
import { openFirefox, openWebKit, type Tab } from "./drivers.ts"

const BROWSERS: Readonly<Record<string, () => Promise<Tab>>> = { firefox: openFirefox, webkit: openWebKit }
const name = process.argv[2] ?? "firefox"
const open = BROWSERS[name]
if (open === undefined) {
  console.error(`usage: npm run test:browsers -- ${Object.keys(BROWSERS).join("|")}`)
  process.exit(2)
}

const [SECRET, ADMIN, OWNER] = ["browsers-secret", "browsers-admin-token-4711", "browsers-owner-token-4711"]
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")
const WAIT_MS = 30_000

const folder = await makeFolder()
const server = runChild("src/runtime/entries/start.ts", [], {
  PORT: "0",
  SMTP_PORT: "0",
  SUBMISSION_PORT: "0",
  POSTLANE_DATA_DIR: folder.path,
  PROXY_SHARED_SECRET: SECRET,
  ADMIN_TOKEN: ADMIN,
  OWNER_TOKEN: OWNER
})
let failed = 0
const check = (what: string, holds: boolean, more: unknown = "") => {
  if (!holds) failed += 1
  console.log(`${holds ? "ok    " : "FAILED"} ${what}${holds ? "" : ` ${JSON.stringify(more)}`}`)
}

const tab = await open()
try {
  const api = await server.line((line) => /^ {2}API +(\S+)/.exec(line)?.[1])
  const holds = async (what: string, expression: string) => {
    const until = Date.now() + WAIT_MS
    let now = false
    while (!now && Date.now() < until) {
      now = await tab.run<boolean>(expression).catch(() => false)
      if (!now) await sleep(200)
    }
    check(what, now, now || (await tab.run("[location.pathname, document.body.innerText.slice(0, 400)]")))
  }
  /** Tabs to the first element that a selector matches. */
  const tabTo = async (selector: string) => {
    for (let presses = 0; presses < 80; presses += 1) {
      if (await tab.run<boolean>(`document.activeElement.matches(${JSON.stringify(selector)})`)) return
      await tab.press("Tab")
    }
    check(`the keyboard reaches ${selector}`, false)
  }
  const look = async (path: string) => {
    for (const width of [1280, 320]) {
      await tab.width(width)
      await tab.open(`${api}${path}`)
      await sleep(500)
      const wide = await tab.run<ReadonlyArray<number>>(
        "[document.scrollingElement.scrollWidth, document.documentElement.clientWidth]"
      )
      check(`${path} fits into ${wide[1]} px`, wide[0]! <= wide[1]!, wide)
    }
    const broken = await tab.run<ReadonlyArray<string>>(
      `(async () => { if (!window.axe) { ${AXE}; } const { violations } = await window.axe.run({ iframes: false }); return violations.map(({ id }) => id) })()`
    )
    check(`${path} passes axe`, broken.length === 0, broken)
  }
  const signIn = async (token: string, home: string) => {
    await tab.open(`${api}/sign-in`)
    await tabTo("#token")
    await tab.press(...token.split(""), "Enter")
    await holds(`signs in by keyboard, to ${home}`, `location.pathname === ${JSON.stringify(home)}`)
  }

  await tab.width(1280)
  await tab.open(`${api}/dev`)
  const subjects = await fillInstallation(api, {
    admin: ADMIN,
    owner: OWNER,
    secret: SECRET,
    bounces: "cleo@example.com"
  })
  await holds("a mail arrives in the open outbox", "document.body.innerText.includes('Your receipt')")
  await tabTo(".mails a")
  await tab.press("Enter")
  await holds("it opens by keyboard, in its frame", "document.querySelector('iframe') !== null")
  const lookAt = async (who: Parameters<typeof pagesOf>[0]) => {
    for (const [, path] of pagesOf(who, subjects)) await look(path)
  }
  await lookAt("anybody")

  await signIn(ADMIN, "/admin")
  await lookAt("admin")
  await tab.width(1280)
  await tab.open(`${api}/admin/email-log`)
  await holds("the log shows the mail", "document.querySelector('main tbody a') !== null")
  await tabTo("main tbody a")
  await tab.press("Enter")
  await holds("a mail's page opens by keyboard", "/^.admin.email-log..+/.test(location.pathname)")

  await signIn(OWNER, "/dashboard")
  const form = new FormData()
  form.set("file", new Blob([new Uint8Array(numbered(3))]), "Second.pdf")
  await fetch(`${api}/api/v1/files`, {
    method: "POST",
    headers: { authorization: `Bearer ${OWNER}` },
    body: form
  })
  await tab.open(`${api}/dashboard`)
  await holds("a document stands in the dashboard", "document.querySelector('[data-does=convert]') !== null")
  await tabTo("[data-does=convert]")
  await tab.press("Enter")
  await holds("it is converted by keyboard", "document.body.innerText.split('Open result').length === 3")
  await lookAt("owner")
  check("nothing was logged as an error", tab.errors.length === 0, tab.errors)
} finally {
  await tab.close()
  await server.destroy()
  await folder.remove()
}
console.log(failed === 0 ? `${name}: all of it holds` : `${name}: ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
