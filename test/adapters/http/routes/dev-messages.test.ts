import { Effect, Layer } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { LinkTrier, type LinkTry } from "../../../../src/ports/mail/link-trier.ts"
import { box } from "../../../support/files/mail-message.ts"
import { call } from "../harness.ts"
import { openOutbox } from "../pages/outbox-world.ts"

const HOSTILE = `<html lang="en" onload="alert(1)"><head><base href="https://evil.test/"><meta http-equiv="refresh" content="0;url=https://evil.test/">
<link rel="stylesheet" href="https://evil.test/a.css"><style>@import "https://evil.test/b.css"; p { background: url(https://evil.test/c.png) }</style></head>
<body><script>alert(1)</script><a href="java\tscript:alert(1)" onclick="alert(1)" ping="https://evil.test/ping">js</a>
<a href="https://shop.test/order" target="_top">See <b>your</b> order</a><a href="#there">there</a><a href="/relative">relative</a>
<img src="https://evil.test/pixel.png" srcset="//evil.test/2x.png 2x" alt="pixel"><img src="cid:logo@x" alt="logo"><img src="cid:none" alt="none">
<svg><script>alert(1)</script><a xlink:href="javascript:alert(1)"><text>svg</text></a><image href="x" /></svg>
<form action="https://evil.test/" method="post"><input name="a"><button>Send</button></form>
<iframe src="https://evil.test/"></iframe><object data="https://evil.test/"></object><embed src="https://evil.test/">
<noscript>for readers</noscript><p id="there">Words</p></body></html>`

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

type World = Awaited<ReturnType<typeof openOutbox>>
let world: World
let id: string
beforeAll(async () => {
  world = await openOutbox()
  id = await world.send({
    to: [box("ann@example.test", "Ann"), box("bob@example.test")],
    subject: "Your <order>",
    html: HOSTILE,
    text: "Words, and https://shop.test/text.",
    attachments: [
      {
        filename: "ré\"'port.html",
        content: btoa("<script>alert(1)</script>"),
        contentType: "text/html",
        contentId: undefined
      },
      { filename: "logo.png", content: PIXEL, contentType: "image/png", contentId: "logo@x" },
      {
        filename: "x.svg",
        content: btoa("<svg onload='alert(1)'/>"),
        contentType: "image/svg+xml",
        contentId: undefined
      }
    ]
  })
})
afterAll(() => world.stop())

const open = (path: string) => call(world.server, path)
const look = (view: string) => open(`/dev/messages/${id}?view=${view}`)

it("is taken apart for programs, as it was sent, and stays unread", async () => {
  const { json, status } = await open(`/dev/outbox/${id}/content`)
  expect(status).toBe(200)
  expect(json).toMatchObject({
    id,
    via: "provider_a",
    to: ["Ann <ann@example.test>", "bob@example.test"],
    subject: "Your <order>",
    category: "transactional",
    tags: {},
    text: "Words, and https://shop.test/text.\n"
  })
  expect(json.html.trim()).toBe(HOSTILE)
  expect(json.links).toContainEqual({ text: "See your order", href: "https://shop.test/order" })
  expect(json.headers).toContainEqual({ name: "Subject", value: "Your <order>" })
  const named = Object.fromEntries(
    json.attachments.map((file: { filename: string }) => [file.filename, file])
  )
  expect(named["logo.png"]).toEqual({
    filename: "logo.png",
    contentType: "image/png",
    inline: true,
    content: PIXEL
  })
  expect((await open("/dev")).text).toContain('<li class="new">')
  expect((await open("/dev/outbox/none/content")).json.code).toBe("NOT_FOUND")
})

describe("a message's HTML, for its frame", () => {
  it("has neither what runs nor what loads nor what leads away", async () => {
    const { headers, status, text } = await open(`/dev/messages/${id}/html`)
    expect(status).toBe(200)
    expect(text).not.toMatch(
      /<(?:script|base|link|iframe|object|embed|meta)|\son\w+=|javascript|ping=|pixel\.png|2x\.png/i
    )
    expect(text).toContain(
      '<a href="https://shop.test/order" target="_blank" rel="noopener noreferrer">See <b>your</b> order</a>'
    )
    expect(text).toContain('<a href="#there">there</a><a>relative</a>')
    expect(text).toContain(`<img src="data:image/png;base64,${PIXEL}" alt="logo"><img alt="none">`)
    expect(text).toContain("for readers")
    expect(headers["content-security-policy"]).toBe(
      "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; " +
        "base-uri 'none'; frame-ancestors 'self'; img-src data:"
    )
    expect([headers["x-frame-options"], headers["x-dns-prefetch-control"]]).toEqual(["SAMEORIGIN", "off"])
  })

  it("loads pictures where they are wanted, and nothing else", async () => {
    const { headers, text } = await open(`/dev/messages/${id}/html?images=show`)
    expect(text).toContain(
      '<img src="https://evil.test/pixel.png" srcset="//evil.test/2x.png 2x" alt="pixel">'
    )
    expect(headers["content-security-policy"]).toMatch(/; img-src data: http: https:$/)
    expect(headers["content-security-policy"]).toContain("default-src 'none'")
  })

  it("is checked where one script runs, which no other can name", async () => {
    const first = await open(`/dev/messages/${id}/accessibility`)
    const second = await open(`/dev/messages/${id}/accessibility`)
    const nonce = (answer: typeof first) =>
      /script-src 'nonce-([^']+)'$/.exec(String(answer.headers["content-security-policy"]))![1]!
    expect(nonce(first)).not.toBe(nonce(second))
    expect(first.headers["content-security-policy"]).toMatch(/^sandbox allow-scripts; default-src 'none'/)
    expect(first.text.startsWith(`<!doctype html><script nonce="${nonce(first)}">`)).toBe(true)
    expect(first.text.slice(20).match(/<script/g)).toHaveLength(
      first.text.slice(20).split("<script").length - 1
    )
    expect(first.text.endsWith((await open(`/dev/messages/${id}/html`)).text)).toBe(true)
  })
})

describe("a message's page", () => {
  it("shows the HTML in a frame without rights, and says what is blocked", async () => {
    const { headers, text } = await open(`/dev/messages/${id}`)
    expect(text).toContain("<h1>Your &lt;order&gt;</h1>")
    expect(text).toContain(
      `sandbox="allow-popups allow-popups-to-escape-sandbox" referrerpolicy="no-referrer" src="/dev/messages/${id}/html"`
    )
    expect(text).toContain("3 pictures or styles are on the web and blocked")
    expect(headers["content-security-policy"]).toMatch(/frame-src 'self'$/)
    expect(headers["x-frame-options"]).toBe("DENY")
    expect(text).not.toContain("evil.test")
    const shown = await open(`/dev/messages/${id}?images=show&width=phone`)
    expect(shown.text).toContain(`<iframe class="phone"`)
    expect(shown.text).toContain(`/html?images=show"`)
  })

  it("shows text, headers, source, attachments and links as text", async () => {
    expect((await look("text")).text).toContain("Words, and https://shop.test/text.\n</pre>")
    expect((await look("headers")).text).toMatch(
      /<th [^>]*>Subject<\/th><td [^>]*><div>Your &lt;order&gt;<\/div>/
    )
    expect((await look("source")).text).toContain("Content-Type: multipart/")
    expect((await look("source")).text).toContain(`href="/dev/outbox/${id}?download=yes"`)
    const files = (await look("files")).text
    expect(files).toContain("ré&quot;&#39;port.html")
    expect(files).toContain("Attachments (3)")
    const links = (await look("links")).text
    expect(links).toMatch(
      /<th [^>]*>See your order<\/th><td [^>]*><div><a href="https:\/\/shop.test\/order" target="_blank" rel="noopener noreferrer">/
    )
    expect(links).not.toMatch(/href="java/)
    for (const view of ["text", "headers", "source", "files", "links"]) {
      expect(
        (await look(view)).text.replaceAll(/<script type="module" src="[^"]+"><\/script>/g, "")
      ).not.toContain("<script")
    }
  })

  it("says what clients do not support, and that Gmail would clip it", async () => {
    const checks = await look("checks")
    expect(checks.text).toContain("caniemail.com</a> of 20")
    expect(checks.text).toMatch(/&lt;form&gt; element<\/a><\/th><td [^>]*><div>[^<]*Outlook \([^<]*Windows/)
    expect(checks.text).toContain(`data-frame="/dev/messages/${id}/accessibility"`)
    const long = await world.send({ html: `<p>${"long ".repeat(25_000)}</p>`, text: undefined })
    const clipped = await open(`/dev/messages/${long}?view=checks`)
    expect(clipped.text).toContain("Gmail hides what comes after the first 102 KB")
    expect(clipped.text).toContain("It has no plain text")
  })

  it("is unread until it was opened, and leads to the ones before and after it", async () => {
    const first = await world.send({ subject: "First of two" })
    const second = await world.send({ subject: "Second of two" })
    const row = async (one: string) =>
      (await open("/dev")).text.split(/<li[ >]/).find((li) => li.includes(`/dev/messages/${one}`))!
    expect(await row(second)).toContain("Unread")
    const { text } = await open(`/dev/messages/${second}`)
    expect(text).toMatch(/href="\/dev\/messages\/[^"]+">Older mail/)
    expect(text).not.toContain("Newer mail")
    expect(await row(second)).not.toContain("Unread")
    expect(await row(first)).toContain("Unread")
    expect((await open(`/dev/messages/${first}`)).text).toContain(`href="/dev/messages/${second}">Newer mail`)
  })

  it("400 for a way or an id that there is none of, 404 for a message that is gone", async () => {
    for (const path of [
      `/dev/messages/${id}?view=exe`,
      `/dev/messages/${id}/files/-1`,
      "/dev/messages/..%2fx"
    ]) {
      expect([400, 404]).toContain((await open(path)).status)
    }
    for (const rest of ["", "/html", "/accessibility", "/files/0"]) {
      expect((await open(`/dev/messages/none${rest}`)).status).toBe(404)
    }
    expect((await open(`/dev/messages/${id}/files/9`)).status).toBe(404)
  })
})

describe("an attachment", () => {
  it("opens as a picture or as text, never as a page of this origin", async () => {
    const html = await open(`/dev/messages/${id}/files/1`)
    expect(html.text).toBe("<script>alert(1)</script>")
    expect([html.headers["content-type"], html.headers["content-disposition"]]).toEqual([
      "text/plain; charset=utf-8",
      "inline; filename*=UTF-8''r%C3%A9%22%27port.html"
    ])
    const png = await open(`/dev/messages/${id}/files/0`)
    expect(png.headers["content-type"]).toBe("image/png")
    const svg = await open(`/dev/messages/${id}/files/2`)
    expect([svg.headers["content-type"], svg.headers["content-disposition"]]).toEqual([
      "application/octet-stream",
      "attachment; filename*=UTF-8''x.svg"
    ])
    for (const { headers } of [html, png, svg]) {
      expect(headers["content-security-policy"]).toMatch(/^sandbox; default-src 'none'/)
      expect(headers["x-content-type-options"]).toBe("nosniff")
    }
    const download = await open(`/dev/messages/${id}/files/0?download=yes`)
    expect([download.headers["content-type"], download.headers["content-disposition"]]).toEqual([
      "application/octet-stream",
      "attachment; filename*=UTF-8''logo.png"
    ])
  })
})

describe("hostile mails", () => {
  const part = (body: string, type = "text/html; charset=utf-8") =>
    `From: a@x.test\r\nSubject: s\r\nContent-Type: ${type}\r\n\r\n${body}`
  const cases: ReadonlyArray<readonly [name: string, raw: () => string | Uint8Array]> = [
    ["no message at all", () => ""],
    ["bytes", () => Uint8Array.from({ length: 5_000 }, (_, at) => (at * 37) % 256)],
    ["50,000 nested elements", () => part("<div>".repeat(50_000))],
    [
      "open elements that differ",
      () => part(Array.from({ length: 20_000 }, (_, at) => `<b a${at}>`).join("") + "<p>".repeat(20_000))
    ],
    ["HTML above 2 MB", () => part(`<p>${"x".repeat(2_200_000)}`)],
    ["thousands of parts", () => part("--b\r\n\r\nx\r\n".repeat(3_000), "multipart/mixed; boundary=b")],
    [
      "deep multiparts",
      () =>
        part(
          Array.from(
            { length: 500 },
            (_, at) => `--b${at}\r\nContent-Type: multipart/mixed; boundary=b${at + 1}\r\n\r\n`
          ).join(""),
          "multipart/mixed; boundary=b0"
        )
    ],
    ["style without end", () => part(`<style>${"@media(".repeat(100_000)}`)],
    ["a picture named 50,000 times", () => part("<img src=cid:a>".repeat(50_000))],
    ["a surrogate in a name", () => part("x", 'text/plain; name="\ud800"')]
  ]

  it.each(cases)("%s: the page answers, the source is there, others are served meanwhile", async (_, raw) => {
    const hostile = await world.put(raw())
    const pages = ["", "?view=checks", "?view=files", "/html", "?view=source"].map((rest) =>
      open(`/dev/messages/${hostile}${rest}`)
    )
    expect((await call(world.server, "/health")).status).toBe(200)
    for (const { status } of await Promise.all(pages)) expect([200, 404]).toContain(status)
    expect((await pages[4]!).text).toMatch(/aria-label="Source"/)
  })
})

it("an event goes the way of its provider's own, and is marked", async () => {
  const bounced = await world.send({
    to: [box("gone@example.test"), box("ann@example.test")],
    tags: { campaign: "c" }
  })
  world.events.length = 0
  const answer = await call(world.server, `/dev/outbox/${bounced}/events`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"type":"bounced","recipients":["gone@example.test"]}'
  })
  expect(answer.status).toBe(200)
  expect(world.events).toMatchObject([
    {
      provider: "provider_a",
      type: "bounced",
      recipients: ["gone@example.test"],
      allRecipients: ["gone@example.test", "ann@example.test"],
      tags: { campaign: "c" },
      from: "news@postlane.test"
    }
  ])
  expect((await open(`/dev/messages/${bounced}`)).text).toContain('<span class="mark bad">Bounced</span>')
  const [entry] = await Effect.runPromise(world.outbox.list({ limit: 1 }))
  expect(entry!.marks).toEqual(["bounced"])
})

it("each web address of a mail is tried once, up to a hundred, with this server's own origins", async () => {
  const asked: Array<readonly [ReadonlyArray<string>, ReadonlySet<string>]> = []
  const other = await openOutbox({
    links: Layer.succeed(LinkTrier, {
      tryAll: (links, own) =>
        Effect.sync(() => {
          asked.push([links, own])
          return links.map((): LinkTry => ({ outcome: "silent", why: "<why>" }))
        })
    })
  })
  try {
    const links = Array.from({ length: 120 }, (_, at) => `<a href="https://shop.test/${at}">${at}</a>`)
    const html = `<a href="mailto:a@x.test">a</a><a href="javascript:alert(1)">b</a><a href="/c">c</a>${links.join("")}${links[0]}`
    const path = `/dev/outbox/${await other.send({ html })}/link-tries`
    const { json, status } = await call(other.server, path, { method: "POST" })
    expect([status, json.tries.length, json.left]).toEqual([200, 100, 20])
    expect(json.tries[99]).toEqual({
      href: "https://shop.test/99",
      outcome: "silent",
      status: null,
      leadsTo: null,
      why: "<why>"
    })
    const [[tried, own]] = asked as [(typeof asked)[number]]
    expect(tried).toHaveLength(100)
    expect([...own].toSorted()).toEqual(
      [
        "http://127.0.0.1:8787",
        ...["127.0.0.1", "localhost", "[::1]"].map((host) => `http://${host}:${other.server.port}`)
      ].toSorted()
    )
    expect((await call(other.server, "/dev/outbox/none/link-tries", { method: "POST" })).status).toBe(404)
    const site = { origin: "https://evil.test" }
    expect((await call(other.server, path, { method: "POST", headers: site })).status).toBe(403)
    expect(asked).toHaveLength(1)
  } finally {
    await other.stop()
  }
})
