import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Context, Effect, Layer, Redacted } from "effect"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, expect, it } from "vitest"

import * as MailTemplates from "../../../../src/adapters/mail-templates/mail-templates.ts"
import * as MemoryAccess from "../../../../src/adapters/memory/accounts/access.ts"
import * as MemoryCustomers from "../../../../src/adapters/memory/accounts/customers.ts"
import * as MemoryDatabase from "../../../../src/adapters/memory/documents/state.ts"
import * as MemorySenderTokens from "../../../../src/adapters/memory/mail/sender-tokens.ts"
import * as AdminInvitations from "../../../../src/application/accounts/admin-invitations.ts"
import * as SignIn from "../../../../src/application/accounts/sign-in.ts"
import { Mailer } from "../../../../src/application/mail/mailer.ts"
import type { SendRequest } from "../../../../src/domain/mail/message.ts"
import { Access, Admins, MagicLinks } from "../../../../src/ports/accounts/access.ts"
import { Deferrals } from "../../../../src/ports/mail/deferrals.ts"
import { closePages, workersBrowser } from "../../../support/processes/browser.ts"
import { ADMIN_TOKEN, sent, startServer, type TestServer } from "../harness.ts"
import { expectAccessible, expectFocus, hears, listen, openPage, tabTo } from "./browse.ts"

const mails: Array<SendRequest> = []
const audit: Array<readonly [action: string, target: string, actor: string]> = []
let server: TestServer
let browser: Browser
let page: Page
let complaints: ReadonlyArray<string>

/** The server's own address is known once it listens; links in mails lead to the path alone. */
const BASE = "http://own.test"

beforeAll(async () => {
  const access = await Effect.runPromise(
    Effect.scoped(
      Layer.build(
        MemoryAccess.layer({ embedded: true, promos: ["welcome"] }).pipe(Layer.provide(NodeCrypto.layer))
      )
    )
  )
  await Effect.runPromise(
    Context.get(access, Access).keepDevToken({
      name: "ops",
      token: Redacted.make(ADMIN_TOKEN),
      rights: ["admin"]
    })
  )
  const parts = Layer.mergeAll(
    Layer.succeedContext(access),
    MailTemplates.layer,
    Layer.succeed(Deferrals, Deferrals.of({ openKey: (key) => Effect.succeed({ key, state: "new" }) })),
    Layer.succeed(
      Mailer,
      Mailer.of({
        send: (mail) =>
          Effect.sync(() => {
            mails.push(mail)
            return sent
          })
      })
    )
  )
  server = await startServer({
    access: Layer.merge(
      Layer.succeed(Access, Context.get(access, Access)),
      Layer.succeed(MagicLinks, Context.get(access, MagicLinks))
    ),
    admins: Layer.merge(
      Layer.succeed(Admins, Context.get(access, Admins)),
      Layer.provide(AdminInvitations.layer({ baseUrl: BASE }), parts)
    ),
    signIn: Layer.provide(SignIn.layer({ baseUrl: BASE }), parts),
    customers: Layer.provide(MemoryCustomers.layer, MemoryDatabase.layer),
    senders: Layer.provide(
      MemorySenderTokens.layer((...row) => void audit.push(row)),
      NodeCrypto.layer
    )
  })
  browser = await workersBrowser()
  ;({ complaints, page } = await openPage(browser, server.url))
})
afterAll(async () => {
  await closePages(browser)
  await server.stop()
})

it("a wrong token ends on the forms; the right one leads to the page that was asked for", async () => {
  await page.goto(`${server.url}/admin/customers`)
  await page.waitForURL("**/sign-in?reason=admin&next=%2Fadmin%2Fcustomers")
  await expectAccessible(page, "the sign-in")
  await page.getByLabel("Token").fill("wrong")
  await page.keyboard.press("Enter")
  await page.getByText("There is no such token").waitFor()
  await expectAccessible(page, "a wrong token")
  await page.goBack()
  await page.getByLabel("Token").fill(ADMIN_TOKEN)
  await page.keyboard.press("Enter")
  await page.waitForURL("**/admin/customers")
  await page.getByText("No customers yet.").waitFor()
  expect(complaints).toEqual([])
})

it("customers are added, searched, and given credits by keyboard, once for each reference", async () => {
  await listen(page)
  await page.locator("#add-email").fill("ann@x.test")
  await page.locator("#add-name").fill("<b>Ann</b>")
  await page.keyboard.press("Enter")
  await hears(page, "ann@x.test is a customer now.")
  await page.getByText("10 free pages").first().waitFor()
  await expectFocus(page, "#add-email")
  await expectAccessible(page, "customers")
  const give = async () => {
    await tabTo(page, "Give credits to ann@x.test")
    await page.keyboard.press("Enter")
    await page.getByRole("dialog", { name: "Give credits to ann@x.test" }).waitFor()
    await page.getByLabel("Credits", { exact: true }).fill("100")
    await page.getByLabel("Reference").fill("invoice-17")
  }
  await give()
  await expectAccessible(page, "giving credits")
  await page.keyboard.press("Enter")
  await hears(page, "ann@x.test has 100 credits more.")
  await page.getByRole("cell", { name: "100 credits", exact: true }).waitFor()
  await page.getByLabel("Part of the address or name").focus()
  await give()
  await page.keyboard.press("Enter")
  await hears(page, "Nothing was changed.")
  expect(await page.textContent("#added")).toContain("was given these credits before")
  await give()
  await page.getByLabel("Credits", { exact: true }).fill("7")
  await page.keyboard.press("Enter")
  await page
    .locator("#credits-problem", { hasText: "another number of credits under “invoice-17” before" })
    .waitFor()
  await page.getByRole("button", { name: "Cancel" }).press("Enter")
  await page.goto(`${server.url}/admin/customers?search=nobody`)
  await page.getByText("No customer matches.").waitFor()
  expect(complaints).toEqual([])
})

it("an admin is invited, signs in by the mailed link in the browser that asked, and is removed", async () => {
  await page.goto(`${server.url}/admin/admins`)
  await listen(page)
  await page.locator("#add-email").fill("root@x.test")
  await page.getByLabel("Role").selectOption("Reader")
  await page.getByRole("button", { name: "Invite" }).click()
  await hears(page, "root@x.test may sign in, and has been mailed.")
  await expectAccessible(page, "admins")
  expect(mails.at(-1)?.text).toContain(`${BASE}/sign-in?reason=admin`)

  const [asking, other] = [await openPage(browser, server.url), await openPage(browser, server.url)]
  await asking.page.goto(`${server.url}/sign-in?reason=admin`)
  await asking.page.getByLabel("Email address").fill("root@x.test")
  await asking.page.keyboard.press("Enter")
  await asking.page.getByRole("heading", { name: "Look into your mail" }).waitFor()
  await expectAccessible(asking.page, "a link is on its way")
  await expect.poll(() => mails.at(-1)?.source).toBe("api:sign-in")
  const path = /\/auth\/magic\S+/.exec(mails.at(-1)?.text ?? "")![0]
  for (const { page: here } of [other, asking]) {
    await here.goto(`${server.url}${path}`)
    await here.getByRole("button", { name: "Sign in" }).click()
  }
  await other.page.getByText("only in the browser that asked for it").waitFor()
  await expectAccessible(other.page, "another browser")
  await asking.page.waitForURL("**/admin**")
  await asking.page.goto(`${server.url}/admin/admins`)
  await asking.page.getByRole("cell", { name: "Reader" }).waitFor()
  expect(await asking.page.getByRole("button", { name: "Invite" }).isHidden()).toBe(true)

  await page.getByRole("button", { name: "Remove root@x.test" }).click()
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click()
  await hears(page, "root@x.test is no admin any more.")
  await asking.page.reload()
  await asking.page.waitForURL("**/sign-in?reason=ended**")
  for (const opened of [asking, other]) await opened.page.context().close()
  expect(complaints).toEqual([])
})

it("tokens are made, shown once, listed with their last use and revoked: of programs that send, and of admins", async () => {
  await page.goto(`${server.url}/admin/tokens`)
  await page.getByRole("rowheader", { name: "ops", exact: true }).waitFor()
  await listen(page)
  await expectAccessible(page, "tokens")
  await page.getByLabel("Name of the program").fill("<b>shop</b>")
  await page.getByLabel("Category").selectOption("marketing")
  await page.getByLabel("From").fill("shop@x.test, @y.test")
  await page.getByLabel("Mails a minute").fill("60")
  await page.keyboard.press("Enter")
  await hears(page, "The token of <b>shop</b> is made. Copy it now.")
  const text = (await page.textContent("#made-token"))!
  expect(text).toMatch(/^[\w-]{30,}$/)
  expect(await page.evaluate("document.activeElement.id")).toBe("made-token")
  const row = page.getByRole("row").filter({ hasText: "<b>shop</b>" })
  expect(await row.innerText()).toMatch(/marketing[\s\S]*shop@x\.test, @y\.test[\s\S]*60[\s\S]*never/)
  await expectAccessible(page, "a token that was made")

  await page.getByLabel("Whose it is").fill("nightly")
  await page.getByLabel("Role").selectOption("owner")
  expect(await page.getByLabel("Customer’s id").isVisible()).toBe(true)
  await page.getByLabel("Role").selectOption("admin:read")
  await page.getByLabel("Days").fill("30")
  await page.getByRole("button", { name: "Make a token" }).press("Enter")
  await hears(page, "The token of nightly is made.")
  const made = (await page.textContent("#made-token"))!
  const asNightly = () =>
    fetch(`${server.url}/api/admin/tokens`, { headers: { authorization: `Bearer ${made}` } })
  expect((await asNightly()).status).toBe(200)

  await page.reload()
  await page.getByRole("rowheader", { name: "nightly" }).waitFor()
  expect(await page.content()).not.toContain(made)
  await listen(page)
  for (const name of ["<b>shop</b>", "nightly"]) {
    await page.getByRole("button", { name: `Revoke the token of ${name}` }).press("Enter")
    await page
      .getByRole("dialog", { name: `Revoke the token of ${name}?` })
      .getByRole("button", { name: "Revoke" })
      .click()
    await hears(page, `The token of ${name} is revoked.`)
  }
  expect((await asNightly()).status).toBe(401)
  expect(audit).toEqual([
    ["sender_token_added", "<b>shop</b>", "ops"],
    ["sender_token_revoked", "<b>shop</b>", "ops"]
  ])
  expect(complaints).toEqual([])
})
