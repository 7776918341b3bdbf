import { afterAll, beforeAll, expect, it } from "vitest"

import { type Attacked, startAttacked } from "../hostile/server.ts"
import { until } from "../support/until.ts"

let server: Attacked
beforeAll(async () => {
  server = await startAttacked({ PROXY_SHARED_SECRET: "shop-proxy", BASE_URL: "https://localhost" })
})
afterAll(() => server.stop())

const send = async (
  change: object
): Promise<{ readonly status: number; readonly json: { readonly [key: string]: unknown } }> => {
  const answer = await fetch(`${server.url}/internal/send-email`, {
    method: "POST",
    headers: { "x-proxy-secret": "shop-proxy", "content-type": "application/json" },
    body: JSON.stringify({
      to: "ann@x.test",
      subject: "s",
      text: "Bye: {{unsubscribe_url}}",
      source: "api:news",
      category: "marketing",
      ...change
    })
  })
  return { status: answer.status, json: JSON.parse(await answer.text()) }
}

/** The newest mail of the outbox with this subject, as text. */
const inOutbox = (subject: string): Promise<string> =>
  until(`${subject} is in the outbox`, async () => {
    const listed = JSON.parse(await (await fetch(`${server.url}/dev/outbox`)).text())
    const found = listed.messages.find((one: { readonly subject: string }) => one.subject === subject)
    return found === undefined ? undefined : (await fetch(`${server.url}/dev/outbox/${found.id}`)).text()
  })

const LINK = /https:\/\/localhost(\/unsubscribe\/[\w.-]+)/

it("a reader leaves a list by its mail's link, sent at once or queued, and gets the rest still (MAIL-67)", async () => {
  expect(await send({ subject: "direct", list: "weekly" })).toMatchObject({
    status: 200,
    json: { status: "sent", oneClick: true }
  })
  const [, path] = LINK.exec(await inOutbox("direct")) ?? []
  expect(path).toBeDefined()
  expect((await send({ subject: "queued", list: "weekly", queue: true })).status).toBe(202)
  const queued = await inOutbox("queued")
  expect(LINK.exec(queued)?.[1]).toBe(path)
  expect(queued).toContain("One-Click")

  const page = await fetch(`${server.url}${path}`, { headers: { accept: "text/html" } })
  expect(await page.text()).toContain("ann@x.test gets mail of the list weekly")
  expect((await send({ list: "weekly" })).status).toBe(200)
  expect(
    (await fetch(`${server.url}${path}`, { method: "POST", body: "List-Unsubscribe=One-Click" })).status
  ).toBe(200)
  expect(await send({ list: "weekly" })).toMatchObject({ json: { code: "EMAIL_SUPPRESSED" } })
  expect((await send({ list: "offers" })).status).toBe(200)
  expect((await send({ category: "transactional", text: "t" })).status).toBe(200)
})
