/**
 * The main paths in a browser that is installed here, by keyboard alone: `npm run test:browsers -- firefox|webkit`. Starts an instance
 * of its own; prints a line for each thing that was tried, and fails where one is not so. Chromium is what `npm test` uses.
 */
import { setTimeout as sleep } from "node:timers/promises"

import { fillInstallation, pagesOf } from "../support/every-page.ts"
import { numbered } from "../support/files/pdf-samples.ts"
import { findings } from "../support/processes/axe.ts"
import { makeFolder, runChild } from "../support/processes/child.ts"
import { brokenWords, cutTables, smallTargets, unreached } from "../support/processes/page-looks.ts"
import { openFirefox, openWebKit, type Tab } from "./drivers.ts"
import { startReporting } from "./reporting.ts"

const BROWSERS: Readonly<Record<string, () => Promise<Tab>>> = { firefox: openFirefox, webkit: openWebKit }
const name = process.argv[2] ?? "firefox"
const open = BROWSERS[name]
if (open === undefined) {
  console.error(`usage: npm run test:browsers -- ${Object.keys(BROWSERS).join("|")}`)
  process.exit(2)
}

const [SECRET, ADMIN, OWNER] = ["browsers-secret", "browsers-admin-token-4711", "browsers-owner-token-4711"]
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

const direct = await server.line((line) => /^ {2}API +(\S+)/.exec(line)?.[1])
const { reports, stop, url: api } = await startReporting(direct)
const tab = await open()
try {
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
  const page = { evaluate: tab.run, keyboard: { press: (key: string) => tab.press(key) } }
  /** A page's script has asked for what the page is about, and its styles have settled. */
  const filled = async () => {
    const until = Date.now() + WAIT_MS
    const isFilled = "document.getElementById('loading')?.checkVisibility() !== true"
    while (!(await tab.run<boolean>(isFilled)) && Date.now() < until) await sleep(100)
    await sleep(300)
    return tab.run<boolean>(isFilled)
  }
  /** All that a page's one line says: where it holds nothing else is said. */
  const look = async (path: string) => {
    const wrong: Array<unknown> = []
    for (const width of [320, 768, 1280]) {
      await tab.width(width)
      await tab.open(`${api}${path}`)
      if (!(await filled())) wrong.push("it is still loading")
      const [wide = 0, room = 0] = await tab.run<ReadonlyArray<number>>(
        "[document.scrollingElement.scrollWidth, document.documentElement.clientWidth]"
      )
      if (wide > room) wrong.push(`${wide} px wide in ${room} px`)
      wrong.push(...(await cutTables(page)))
      if (width < 1280) wrong.push(...(await smallTargets(page)), ...(await brokenWords(page)))
    }
    wrong.push(...(await findings(page)).violations, ...(await unreached(page)))
    check(
      `${path}: fits, no word breaks, targets have 24 px, axe finds nothing, Tab leads everywhere`,
      wrong.length === 0,
      wrong
    )
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
  check("no page broke its policy", reports.length === 0, reports)
  check("nothing was logged as an error", tab.errors.length === 0, tab.errors)
} finally {
  await tab.close()
  stop()
  await server.destroy()
  await folder.remove()
}
console.log(failed === 0 ? `${name}: all of it holds` : `${name}: ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
