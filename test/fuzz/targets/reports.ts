import * as fc from "fast-check"

import { readReturn } from "../../../src/adapters/postal-mime/read-return.ts"
import { eventOfReport } from "../../../src/domain/delivery/returned/report-event.ts"
import { readReport } from "../../../src/domain/delivery/returned/report.ts"
import { KeyTag } from "../../../src/domain/ids.ts"
import { readReturnPath, returnPath, tagOfToken } from "../../../src/domain/mail/return-address.ts"
import { deliveryReport } from "../../support/files/delivery-reports.ts"
import { hold, rough, type Target } from "../target.ts"

const TAG = KeyTag.make("ab".repeat(32))
const ADDRESS = { local: "bounce", domain: "in.test" }
const MAIL = { messageId: "m@in.test", keyTag: TAG, address: "ann@x.test" }
const TOKEN = returnPath(ADDRESS, TAG).slice("bounce+".length, -"@in.test".length)

const SAMPLES = [
  deliveryReport({ recipients: [{ recipient: "ann@x.test", at: "Sun, 29 Nov 2026 10:00:00 +0000 (UTC)" }] }),
  deliveryReport({
    envelopeId: TOKEN,
    returned: `Message-ID: <m@in.test>\r\nX-Postlane-Return: ${TOKEN}\r\n`,
    recipients: [
      { recipient: "ann@x.test", original: "a+2Bn@x.test", action: "delayed", status: "4.4.1" },
      { recipient: "bob@x.test", action: "relayed", status: "2.0.0" }
    ]
  }),
  "Subject: Out of office\r\n\r\nI am away.\r\n"
]

/** A token anywhere in the input is the tag's one form or no token. */
const checkTokens = (text: string): void => {
  for (const [word] of text.matchAll(/[\w+@.]{1,200}/g)) {
    const tag = tagOfToken(word) ?? readReturnPath(ADDRESS, word)?.tag
    if (tag === undefined) continue
    hold(
      word.toLowerCase().includes(returnPath(ADDRESS, tag).slice(7, 59)),
      "RETURN-2: two tokens have one tag"
    )
  }
}

const answer = async (input: Buffer): Promise<string> => {
  checkTokens(input.toString("latin1"))
  const read = await readReturn(input)
  if (read.kind === "unreadable") return "unreadable"
  const { returned, status } = read.mail
  if (status === undefined) return "no report"
  const report = readReport(status)
  if (typeof report === "string") return report
  hold(report.recipients.length <= 100, "RETURN-3: too many recipients")
  const events = report.recipients.map((recipient) => {
    hold(
      recipient.addresses.every((one) => one === one.toLowerCase() && one.length <= 500),
      "EVENT-12: an address is not bare and lower-case"
    )
    const event = eventOfReport(recipient, MAIL)
    hold((event?.reason ?? "").length <= 2_000, "EVENT-12: the reason is not bounded")
    hold(
      event?.suppress === undefined || recipient.status.startsWith("5."),
      "RETURN-4: suppressed without a 5.x.x"
    )
    return event?.event ?? "nothing"
  })
  return `${[...new Set(events)].sort().join(" ")}, header of ${rough(returned.length)}`
}

export const reports: Target = {
  name: "reports",
  about: "mails to the bounce address, read by the reader of delivery reports",
  limitMs: 10_000,
  memoryMb: 1_024,
  guided: true,
  seeds: () => SAMPLES.map((sample) => Buffer.from(sample)),
  made: fc
    .array(
      fc.record({
        recipient: fc.constantFrom("ann@x.test", "<a@x.test>", "", "a".repeat(2_000), "\u0000@x"),
        action: fc.constantFrom(
          "failed",
          "Delayed (later)",
          "relayed",
          "expanded",
          "delivered",
          "exploded",
          ""
        ),
        status: fc.constantFrom("5.1.1", "4.4.7", "2.0.0", "5.7.1 (policy)", "5.999.999", "5.1", ""),
        original: fc.constantFrom("ann@x.test", "a+2Bn@x.test", "+00+FF", ";"),
        diagnostic: fc.constantFrom("smtp; 550 5.1.1 no", "x", "", "smtp; \u0007\u202e"),
        at: fc.constantFrom("Sun, 29 Nov 2026 10:00:00 +0000", "29 Nov 99999 10:00:00 +0000", "now")
      }),
      { maxLength: 5 }
    )
    .map((recipients) => Buffer.from(deliveryReport({ recipients, envelopeId: TOKEN }))),
  words: [
    "\r\n\r\n",
    "--b1\r\n",
    "--b1--",
    "Content-Type: message/delivery-status\r\n\r\n",
    "Content-Transfer-Encoding: base64\r\n",
    "Final-Recipient: rfc822; a@x.test\r\n",
    "Action: failed\r\n",
    "Status: 5.1.1\r\n",
    TOKEN,
    "\t",
    "\0"
  ],
  open: () => Promise.resolve({ answer, close: () => Promise.resolve() })
}
