import { equal } from "node:assert/strict"
import { after, test } from "node:test"

import { startPostlane } from "postlane/testing"

import { sendNewsletter, sendReset } from "./mails.ts"

// Links of lists need a server's public address, with https.
const postlane = await startPostlane({ env: { BASE_URL: "https://localhost" } })
const { sender } = postlane.clients
after(() => postlane.close())

test("a password can be reset", async () => {
  await sendReset(sender, "cy@shop.test", "https://shop.example.com/reset/4711")
  await postlane.outbox.expectOne({ to: "cy@shop.test", subject: "Set a new password" })
})

test("the newsletter reaches each reader once, and nobody who has left it", async () => {
  const readers = Array.from({ length: 2_000 }, (_, n) => `reader${n}@shop.test`)
  await sendNewsletter(sender, "12", readers)
  await sendNewsletter(sender, "12", readers)
  const sent = await postlane.outbox.expectCount(2_000, { subject: "News 12" }, { withinMs: 300_000 })
  equal(new Set(sent.map(({ to }) => to[0])).size, 2_000)
  const { headers } = await postlane.outbox.expectOne({ to: "reader7@shop.test" })
  const [, link = ""] =
    /^<https:\/\/localhost(\/unsubscribe\/[^>]+)>$/.exec(headers["list-unsubscribe"] ?? "") ?? []
  const left = await fetch(postlane.url + link, {
    method: "POST",
    body: new URLSearchParams("List-Unsubscribe=One-Click")
  })
  equal(left.status, 200)
  await sendNewsletter(sender, "13", readers.slice(6, 9))
  const next = await postlane.outbox.expectCount(2, { subject: "News 13" })
  equal(
    next.some(({ to }) => to[0] === "reader7@shop.test"),
    false
  )
})
