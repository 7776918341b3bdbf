import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { Readable } from "node:stream"
import { fileURLToPath } from "node:url"

import { createTransport, type SendMailOptions } from "nodemailer"
import PostalMime, { decodeWords, type Email } from "postal-mime"
import { SMTPServer } from "smtp-server"
import { afterAll, assert, beforeAll, beforeEach, describe, expect, it } from "vitest"

import { composeMessage } from "../../../src/adapters/mime/compose-message.ts"
import { parseMailbox } from "../../../src/domain/mail/address.ts"
import { close } from "../../../src/runtime/entries/library.ts"
import { postlaneTransport } from "../../../src/runtime/entries/nodemailer.ts"
import { membersDeclared } from "../../support/declared-members.ts"
import { fakeResend, type ResendPayload } from "../../support/vendors/fake-resend.ts"

const vendor = fakeResend({ sendOnly: true })
const received: Array<Buffer> = []
const smtp = new SMTPServer({
  authOptional: true,
  disabledCommands: ["STARTTLS"],
  onData: (stream, _session, done) => {
    const chunks: Array<Buffer> = []
    stream.on("data", (chunk: Buffer) => chunks.push(chunk))
    stream.on("end", () => {
      received.push(Buffer.concat(chunks))
      done()
    })
  }
})
/** Serves what a message fetches by its address, to those who say who they are. */
const files = createServer((request, response) => {
  const isKnown = request.headers["x-token"] === "17"
  response.writeHead(isKnown ? 200 : 403).end(isKnown ? "fetched" : "no")
})
const folder = mkdtempSync(join(tmpdir(), "nodemailer-"))
const file = join(folder, "terms.txt")

const env = () => ({ PROVIDERA_API_KEY: "re_key", PROVIDERA_BASE_URL: vendor.url })
const ours = () => createTransport(postlaneTransport({ env: env() }))
const theirs = () => {
  const { port } = smtp.server.address() as AddressInfo
  return createTransport({ host: "127.0.0.1", port, ignoreTLS: true })
}
const fetched = () => `http://127.0.0.1:${(files.address() as AddressInfo).port}/terms.txt`

beforeAll(async () => {
  writeFileSync(file, "from a file")
  smtp.listen(0, "127.0.0.1")
  files.listen(0, "127.0.0.1")
  await Promise.all([vendor.listen(), once(smtp.server, "listening"), once(files, "listening")])
})
afterAll(async () => {
  await close()
  await vendor.close()
  await new Promise<void>((resolve) => smtp.close(resolve))
  files.close()
  rmSync(folder, { recursive: true })
})
beforeEach(() => {
  received.length = 0
  vendor.accepted.length = 0
})

const mail = {
  from: "Shop <shop@x.test>",
  to: "Ann <a@x.test>",
  subject: "Hello",
  text: "Plain"
} satisfies SendMailOptions

const boxes = (list: string | ReadonlyArray<string> = []) =>
  [list].flat().map((text) => {
    const box = parseMailbox(text)
    assert(box._tag === "Success")
    return { name: box.success.name ?? null, address: `${box.success.local}@${box.success.domain}` }
  })

/** The mail that the vendor makes of a request. */
const composed = (payload: ResendPayload) =>
  composeMessage(
    {
      from: boxes(payload.from)[0]!,
      to: boxes(payload.to),
      cc: boxes(payload.cc),
      bcc: boxes(payload.bcc),
      replyTo: boxes(payload.reply_to),
      subject: payload.subject ?? "",
      html: payload.html ?? null,
      text: payload.text ?? null,
      configurationSet: null,
      tags: {},
      headers: payload.headers ?? {},
      attachments: (payload.attachments ?? []).map((part) => ({
        filename: part.filename ?? "",
        content: part.content ?? "",
        contentType: part.content_type ?? null,
        contentId: part.content_id ?? null
      }))
    },
    { messageId: "<1@x.test>", date: new Date() }
  )

/** Headers that are of the way, or that other members of the parsed mail hold. */
const OF_THE_WAY = /^(?:message-id|date|mime-version|content-.*|from|to|cc|reply-to|subject|received)$/
/** A content id that nodemailer made up. */
const MADE_UP = /[\da-f]{20}@localhost/g

/** What a reader sees of a mail. */
const seen = ({ attachments, cc, from, headers, html, replyTo, subject, text, to }: Email) =>
  JSON.parse(
    JSON.stringify({
      from,
      to,
      cc: cc ?? [],
      replyTo: replyTo ?? [],
      subject,
      text: text?.trim() ?? "",
      html: html?.trim() ?? "",
      headers: headers
        .filter(({ key }) => !OF_THE_WAY.test(key))
        .map(({ key, value }) => `${key}: ${decodeWords(value)}`)
        .sort(),
      attachments: attachments.map(({ content, contentId, disposition, filename, mimeType }) => ({
        content: Buffer.from(content as ArrayBuffer)
          .toString("utf8")
          .trimEnd(),
        contentId: contentId ?? null,
        disposition,
        filename,
        mimeType
      }))
    }).replaceAll(MADE_UP, "made-up")
  ) as object

type Part = Readonly<Record<string, unknown>>

/** Each is carried. Functions, since what streams is read once, and addresses are known late. */
const CARRIED: ReadonlyArray<readonly [string, () => Part]> = [
  [
    "addresses",
    () => ({ from: ["Shop <shop@x.test>"], to: ["a@x.test", { name: "Bö", address: "b@x.test" }] })
  ],
  ["copies", () => ({ cc: "c@x.test", bcc: ["d@x.test"], replyTo: "Ann (Sales) <r@x.test>" })],
  ["a thread", () => ({ inReplyTo: "1@x.test", references: ["1@x.test", "<2@x.test>"] })],
  ["both texts", () => ({ text: Buffer.from("Grüße"), html: "<p>Hi</p>" })],
  ["an empty text", () => ({ text: "", html: "<p>Hi</p>" })],
  ["texts by object", () => ({ text: { content: "w7Zs", encoding: "base64" }, html: { path: file } })],
  ["a text that streams", () => ({ text: Readable.from(["streamed"]) })],
  [
    "headers of every kind",
    () => ({
      headers: {
        "X-Text": "a",
        "X-Number": 17,
        "X-Yes": true,
        "X-No": false,
        "X-None": null,
        "X-List": ["one"],
        "X-Lines": "a\r\nb",
        "X-Prepared": { prepared: true, value: "b" }
      }
    })
  ],
  ["a pair", () => ({ headers: { key: "X-Order", value: "17" } })],
  ["pairs", () => ({ headers: [{ key: "X-Order", value: true }] })],
  [
    "a header in place of another",
    () => ({ priority: "high", headers: { "x-priority": "3" }, xMailer: "Shop 2" })
  ],
  ["no X-Mailer", () => ({ xMailer: false, priority: "low" })],
  [
    "a list",
    () => ({ list: { unsubscribe: "https://x.test/u", id: { url: "news.x.test", comment: "News" } } })
  ],
  ["a passcode", () => ({ otp: { code: "4711", origin: "https://x.test/sign-in" } })],
  [
    "nothing else",
    () => ({ alternatives: [], attachments: [], icalEvent: undefined, envelope: null, raw: "" })
  ],
  ["limits", () => ({ maxRecipients: 5, disableFileAccess: true, disableUrlAccess: true })],
  ["a signal", () => ({ signal: new AbortController().signal })],
  [
    "attachments",
    () => ({
      attachments: [
        { filename: "a.txt", content: "öl" },
        { content: Buffer.from("b"), contentType: "text/csv", contentDisposition: "attachment" },
        {
          filename: "c.txt",
          content: "aGk=",
          encoding: "base64",
          contentTransferEncoding: false,
          headers: {}
        },
        { filename: "d.txt", content: Readable.from(["d"]) },
        { path: file },
        { path: "data:text/plain;base64,aGk=", filename: "e.txt" },
        { href: fetched(), httpHeaders: { "x-token": "17" }, tls: {} }
      ]
    })
  ],
  [
    "a picture in its place",
    () => ({
      html: "<img src='cid:logo'>",
      attachments: [{ filename: "l.png", content: "png", cid: "logo", contentDisposition: "inline" }]
    })
  ],
  ["a picture in the text", () => ({ html: '<img src="data:image/png;base64,aGk=">', attachDataUrls: true })]
]

describe("the same message to both", () => {
  it.each(CARRIED)("leaves the same mail: %s", async (_, part) => {
    await theirs().sendMail({ ...mail, ...part() })
    await ours().sendMail({ ...mail, ...part() })
    expect([received.length, vendor.accepted.length]).toEqual([1, 1])
    const made = await composed(vendor.accepted[0]?.payload as ResendPayload)
    const [a, b] = await Promise.all([PostalMime.parse(received[0]!), PostalMime.parse(made)])
    expect(seen(b)).toEqual(seen(a))
  })
})

it("writes a date as a header, which nodemailer leaves out", async () => {
  await ours().sendMail({ ...mail, headers: { "X-When": new Date(0) } })
  expect(vendor.accepted[0]?.payload).toMatchObject({
    headers: { "X-When": "Thu, 01 Jan 1970 00:00:00 +0000" }
  })
})

const attached = (part: object) => ({ attachments: [{ filename: "a.txt", content: "a" }, part] })

/** Each is refused, by its name. */
const REFUSED: ReadonlyArray<readonly [string, Part]> = [
  ["raw", { raw: "From: a@x.test\r\n\r\nb" }],
  ["alternatives", { alternatives: [{ content: "x" }] }],
  ["icalEvent", { icalEvent: "BEGIN:VCALENDAR" }],
  ["icalEvent", { icalEvent: { method: "REQUEST", content: "BEGIN:VCALENDAR" } }],
  ["amp", { amp: "<html amp4email></html>" }],
  ["watchHtml", { watchHtml: "<p>Hi</p>" }],
  ["sender", { sender: "s@x.test" }],
  ["envelope", { envelope: { from: "x@x.test", to: "y@x.test" } }],
  ["messageId", { messageId: "<1@x.test>" }],
  ["date", { date: new Date(0) }],
  ["dkim", { dkim: { domainName: "x.test", keySelector: "k", privateKey: "" } }],
  ["_dkim", { _dkim: { skipFields: "date" } }],
  ["dsn", { dsn: { id: "1", return: "headers" } }],
  ["encoding", { encoding: "base64" }],
  ["textEncoding", { textEncoding: "base64" }],
  ["newline", { newline: "linux" }],
  ["boundaryPrefix", { boundaryPrefix: "b" }],
  ["baseBoundary", { baseBoundary: "b" }],
  ["normalizeHeaderKey", { normalizeHeaderKey: (key: string) => key.toUpperCase() }],
  ["requireTLSExtensionEnabled", { requireTLSExtensionEnabled: true }],
  ["auth", { auth: { user: "u", pass: "p" } }],
  ["ses", { ses: { ConfigurationSetName: "s" } }],
  ["from", { from: "Shop <shop@x.test>, b@x.test" }],
  ["from", { from: ["shop@x.test", "b@x.test"] }],
  ["to", { to: "Team: a@x.test, b@x.test;" }],
  ["raw of attachments", attached({ raw: "Content-Type: text/plain\r\n\r\nb" })],
  ["headers of attachments", attached({ filename: "a", content: "a", headers: { "X-A": "1" } })],
  ["contentTransferEncoding of attachments", attached({ content: "a", contentTransferEncoding: "7bit" })],
  ["contentDisposition of attachments", attached({ content: "a", contentDisposition: "inline" })],
  [
    "contentDisposition of attachments",
    attached({ content: "a", cid: "a", contentDisposition: "attachment" })
  ],
  ["filename of attachments", attached({ content: "a", filename: false })],
  ["content and path of attachments", attached({ content: "a", path: "/nowhere" })],
  ["path and href of attachments", attached({ path: "/nowhere", href: "http://127.0.0.1:9/" })],
  ["content and path of html", { html: { content: "a", path: "/nowhere" } }],
  ["headers of text", { text: { content: "a", headers: { "X-A": "1" } } }],
  ["filename of text", { text: { content: "a", filename: "a.txt" } }],
  ["X-Tag", { headers: { "X-Tag": ["a", "b"] } }],
  ["x-tag", { headers: { "X-Tag": "a", "x-tag": "b" } }],
  ["list-help", { headers: { "List-Help": "a" }, list: { help: "h@x.test" } }],
  ["X-Tag", { headers: { "X-Tag": { name: "Ann" } } }],
  ["Message-ID", { headers: { "Message-ID": "<1@x.test>" } }],
  ["idempotencyKey", { idempotency_key: "order-17" }]
]

describe("what would be left out", () => {
  it.each(REFUSED)("is refused by its name: %s", async (name, part) => {
    const refused = await ours()
      .sendMail({ ...mail, ...part })
      .then(
        () => undefined,
        (error: unknown) => error
      )
    expect(refused).toMatchObject({ code: "EMESSAGE", message: expect.stringContaining(name) })
    expect(vendor.accepted).toEqual([])
  })

  it("is refused of the transport, too", () => {
    expect(() => postlaneTransport({ pool: true } as object)).toThrow(
      "pool is not known here; known are category, source, env, retry, send"
    )
  })
})

const own = dirname(fileURLToPath(import.meta.resolve("nodemailer")))
const types = fileURLToPath(new URL("../../../node_modules/@types/nodemailer", import.meta.url))

/** Every name that a value names, parts of parts included. */
const namesIn = (value: unknown): ReadonlyArray<string> =>
  Object.keys(Object(value) as object).concat(
    ...[Object(value) as Part].flatMap(({ attachments, html, text }) =>
      [attachments, html, text]
        .flat()
        .filter((one) => typeof one === "object" && one !== null && !(one instanceof Uint8Array))
        .map((one) => Object.keys(one as object))
    )
  )

describe("each option of nodemailer's types", () => {
  it.each([
    [join(own, "mailer/mail-message.d.ts"), "SendMailOptions", 8],
    [join(own, "mail-composer/index.d.ts"), "MailComposerOptions", 34],
    [join(own, "mail-composer/index.d.ts"), "MailComposerAttachment", 2],
    [join(own, "mail-composer/index.d.ts"), "MailComposerAlternative", 11],
    [join(types, "lib/mailer/index.d.ts"), "Options", 30],
    [join(types, "lib/mailer/index.d.ts"), "Attachment", 8],
    [join(types, "lib/mailer/index.d.ts"), "AttachmentLike", 3]
  ])("is carried or refused above: %s, %s", (path, name, least) => {
    const names = membersDeclared(path, name)
    expect(names.length).toBeGreaterThanOrEqual(least)
    const tried = new Set([
      ...namesIn(mail),
      ...CARRIED.flatMap(([, part]) => namesIn(part())),
      ...REFUSED.flatMap(([, part]) => namesIn(part))
    ])
    expect(names.filter((one) => !tried.has(one))).toEqual([])
  })
})
