import { mkdtemp, rm } from "node:fs/promises"
import { join } from "node:path"

import { Effect, Layer, ManagedRuntime, Result, Stream } from "effect"
import * as fc from "fast-check"

import { makeDiskObjects } from "../../../src/adapters/disk/object-store.ts"
import { layerInProcess } from "../../../src/adapters/postal-mime/process-mail-reader.ts"
import * as ReaderProcess from "../../../src/adapters/reader-process/reader-process.ts"
import { chooseAttachment } from "../../../src/domain/inbound/attachment-choice.ts"
import { automaticReason } from "../../../src/domain/inbound/automatic-mail.ts"
import type { IncomingMail } from "../../../src/domain/inbound/incoming-mail.ts"
import {
  isWrittenTo,
  malformation,
  messageIdOf,
  referencesOf,
  replySubject,
  signatureTexts
} from "../../../src/domain/inbound/mail-headers.ts"
import { authenticityOf, senderOf } from "../../../src/domain/inbound/sender-authenticity.ts"
import { MailReader } from "../../../src/ports/inbound/mails.ts"
import { MailObjects } from "../../../src/ports/object-store.ts"
import { strangeMails } from "../../support/files/strange-mails.ts"
import { TEMPORARY } from "../../support/temporary.ts"
import { realFiles } from "../files.ts"
import { Broken, hold, rough, type Target } from "../target.ts"

const OWN = new Set(["convert@legacy.test"])
const HOP = "mx.hop.test"
const RULES = { trustedHops: [HOP], trustsLoopback: false }

const oneLine = (rule: string, text: string | undefined) =>
  hold(text === undefined || !/[\r\n\0]/.test(text), `${rule}: ${JSON.stringify(text)}`)

/** Everything that is decided about a mail from its bytes alone: the class names each decision. */
const decisions = (mail: IncomingMail): string => {
  const sender = senderOf(mail)
  const verified =
    sender === undefined
      ? undefined
      : authenticityOf(mail, sender, { envelopeFrom: "a@x.test", peerTrusted: true }, RULES)
  const choice = chooseAttachment(mail.parts)
  const filename = "filename" in choice ? choice.filename : undefined
  hold(
    filename === undefined || !/[/\\\0\r\n]/.test(filename),
    `INBOUND-8: a file is called ${JSON.stringify(filename)}`
  )
  oneLine("a reply's subject", replySubject(mail.subject))
  oneLine("a reply's references", referencesOf(mail.headers))
  oneLine("a Message-ID", messageIdOf(mail.headers))
  const signatures = sender === undefined ? [] : signatureTexts(mail.headers, sender.domain)
  return [
    sender === undefined ? "no sender" : "a sender",
    verified === undefined
      ? ""
      : verified.verified
        ? "genuine"
        : verified.reason.replaceAll(/\S*\.\S*/g, "…"),
    sender === undefined || automaticReason(mail, "a@x.test", sender) === undefined
      ? "a person's"
      : "a program's",
    malformation(mail) === undefined ? "" : "malformed",
    sender !== undefined && isWrittenTo(mail, sender, OWN) ? "to us" : "",
    choice._tag,
    `${rough(mail.parts.length)} parts`,
    `${rough(signatures.length)} signatures`
  ].join(", ")
}

const PARTS = [
  "From: ann@reader.test",
  "From: a@x.test, b@x.test",
  "To: convert@legacy.test",
  "Cc: convert@legacy.test",
  "Subject: =?utf-8?b?4pyT?=",
  "Message-ID: <a@x.test>",
  "References: <a@x> <b@x>",
  "MIME-Version: 1.0",
  'Content-Type: multipart/mixed; boundary="b"',
  "Content-Type: message/rfc822",
  "Content-Type: application/ms-tnef",
  "Content-Type: text/plain; charset=utf-7",
  "Content-Type: application/pdf; name*0*=utf-8''%C3; name*1*=a.pdf",
  "Content-Transfer-Encoding: base64",
  "Content-Transfer-Encoding: quoted-printable",
  'Content-Disposition: attachment; filename="../a.pdf"',
  "Auto-Submitted: auto-replied",
  `Authentication-Results: ${HOP}; dmarc=pass header.from=reader.test`,
  "DKIM-Signature: v=1; d=reader.test; h=from:to; b=AAAA",
  "",
  "--b",
  "--b--",
  "JVBERi0xLjQK",
  "=00=0D=0A",
  "\tfolded"
]

export const mail: Target = {
  name: "mail",
  about: "mails, read by the mail reader and judged by the rules of convert-by-email",
  // Two readers, one after the other, at 30 s each.
  limitMs: 70_000,
  memoryMb: 1_024,
  guided: true,
  seeds: () => [
    ...strangeMails("ann@reader.test").map(({ raw }) => Buffer.from(raw.replaceAll("\n", "\r\n"))),
    ...realFiles("mail/mikel", "mail/mime4j")
  ],
  made: fc
    .array(fc.constantFrom(...PARTS), { maxLength: 30 })
    .map((lines) => Buffer.from(lines.join("\r\n"), "latin1")),
  words: [
    ...PARTS.map((part) => `\r\n${part}\r\n`),
    "=?",
    "?=",
    "\r\n\r\n",
    "\n",
    "\r",
    "\0",
    "<",
    "(",
    '"',
    ";",
    ":",
    "boundary="
  ],
  open: async () => {
    const folder = await mkdtemp(join(TEMPORARY, "postlane-fuzz-mail-"))
    const runtime = ManagedRuntime.make(
      Layer.merge(
        Layer.provide(layerInProcess(), ReaderProcess.layer),
        Layer.succeed(MailObjects, makeDiskObjects(folder))
      )
    )
    const KEY = "mail"
    const reading = (input: Uint8Array) =>
      Effect.gen(function* () {
        const objects = yield* MailObjects
        const reader = yield* MailReader
        yield* objects.put(KEY, Stream.make(input), { contentType: "message/rfc822" })
        return yield* reader.read(KEY, input.length)
      }).pipe(Effect.scoped, Effect.result)
    return {
      answer: async (input) => {
        const read = await runtime.runPromise(reading(Uint8Array.from(input)))
        if (Result.isSuccess(read)) return decisions(read.success.mail)
        if (read.failure._tag !== "UnreadableMail" || read.failure.deadly)
          throw new Broken(`H1: ${read.failure.message}`)
        return `unreadable: ${read.failure.message.replaceAll(/\d+/g, "#").slice(0, 80)}`
      },
      close: async () => {
        await runtime.dispose()
        await rm(folder, { recursive: true, force: true })
      }
    }
  }
}
