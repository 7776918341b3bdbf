import { type Attachment, type Email } from "postal-mime"

import type { ReturnedMail } from "../../domain/delivery/returned/report.ts"
import { readHead } from "./read-head.ts"
import { type MailAnswer, readWithinLimits } from "./within-limits.ts"

/** What a hostile mail may cost. The mail that a report returns stays an attachment. */
const LIMITS = { maxNestingDepth: 10, maxHeadersSize: 256 * 1024, forceRfc822Attachments: true } as const

/** What is answered. `unreadable`: why the mail cannot be read. */
export type ReturnAnswer = MailAnswer<ReturnedMail>

/** Lines that are read, each of which costs the parser a turn. Those of the returned mail's body mean nothing. */
const MAX_LINES = 2_500

const beginningOf = (raw: Uint8Array): Uint8Array => {
  let at = 0
  for (let lines = 0; lines < MAX_LINES; lines += 1) {
    const end = raw.indexOf(0x0a, at)
    if (end === -1) return raw
    at = end + 1
  }
  return raw.subarray(0, at)
}

const STATUS = /^message\/(?:global-)?delivery-status$/
const RETURNED = /^(?:message\/(?:global|rfc822|global-headers)|text\/rfc822-headers)$/

const bytesOf = ({ content }: Attachment): Uint8Array =>
  typeof content === "string" ? new TextEncoder().encode(content) : new Uint8Array(content)

/** The form of a delivery report (RFC 3462): any other mail, a reply out of office as well, is none. */
const isReport = ({ headers }: Email): boolean => {
  const type = headers.find(({ key }) => key === "content-type")?.value ?? ""
  return /^\s*multipart\/report\b/i.test(type) && /;\s*report-type\s*=\s*"?delivery-status\b/i.test(type)
}

const mailOf = (email: Email): ReturnedMail => {
  if (!isReport(email)) return { status: undefined, returned: [] }
  const part = (types: RegExp) => email.attachments.find(({ mimeType }) => types.test(mimeType.toLowerCase()))
  const [status, returned] = [part(STATUS), part(RETURNED)]
  return {
    status: status && new TextDecoder().decode(bytesOf(status)),
    returned: returned === undefined ? [] : readHead(bytesOf(returned)).headers
  }
}

/** Reads a mail to the bounce address. Total. */
export const readReturn = (whole: Uint8Array): Promise<ReturnAnswer> =>
  readWithinLimits(beginningOf(whole), LIMITS, mailOf)
