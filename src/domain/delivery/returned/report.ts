import type { MailHeader } from "../../inbound/incoming-mail.ts"
import { bareAddressOf } from "../untrusted.ts"

/** What a mail to the bounce address holds, before it is known whether it is a report. */
export interface ReturnedMail {
  /** Text of its `message/delivery-status` part; undefined where it is no delivery report. */
  readonly status: string | undefined
  /** Header of the mail that it returns, as far as it returns one. */
  readonly returned: ReadonlyArray<MailHeader>
}

/** One recipient of a report (RFC 3464, section 2.3). */
export interface ReportedRecipient {
  /** What may be its address in the mail: as the sender wrote it, then as the reporting server delivered it. Bare and lower-case. */
  readonly addresses: ReadonlyArray<string>
  readonly action: "delivered" | "relayed" | "expanded" | "delayed" | "failed"
  /** Enhanced status code (RFC 3463). */
  readonly status: string
  /** What the other server said. */
  readonly diagnostic: string | undefined
  /** Milliseconds since the epoch. */
  readonly occurredAt: number | undefined
}

/** A delivery report. */
export interface DeliveryReport {
  /** `ENVID` as it was given with the mail (RFC 3461). */
  readonly envelopeId: string | undefined
  readonly recipients: ReadonlyArray<ReportedRecipient>
}

/** Limits on a report. Beyond them it is not read: no mail has more recipients, and no server writes longer fields. */
const MAX_RECIPIENTS = 100
const MAX_TEXT = 128 * 1024
const MAX_FIELD = 4_000

type Fields = ReadonlyMap<string, string>

/** The field groups, unfolded; the first value of each name, in lower case. */
const groupsOf = (text: string): ReadonlyArray<Fields> => {
  const groups: Array<Map<string, string>> = []
  let group: Map<string, string> | undefined
  /** The field that a folded line goes on with; none has an empty name. */
  let last = ""
  for (const line of text.split(/\r\n|\r|\n/)) {
    if (line.trim() === "") {
      group = undefined
      last = ""
    } else if (/^[ \t]/.test(line)) {
      const value = group?.get(last)
      if (value !== undefined && value.length < MAX_FIELD)
        group?.set(last, `${value} ${line.trim()}`.slice(0, MAX_FIELD))
    } else {
      const colon = line.indexOf(":")
      const name = line.slice(0, Math.max(colon, 0)).trim().toLowerCase()
      last = ""
      if (name === "") continue
      if (group === undefined) groups.push((group = new Map<string, string>()))
      if (group.has(name)) continue
      group.set(name, line.slice(colon + 1, colon + 1 + MAX_FIELD).trim())
      last = name
    }
  }
  return groups
}

/** The value of a field `type; value`: of an address, without the type. */
const typed = (value: string | undefined): string | undefined => /^[^;]*;\s*(\S.*)$/s.exec(value ?? "")?.[1]

/** Decodes xtext (RFC 3461). Some servers report the original recipient as they got it, and some decode it. */
const decodedXtext = (text: string | undefined): string | undefined =>
  text?.replaceAll(/\+([\dA-F]{2})/g, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)))

const addressesIn = (fields: Fields): ReadonlyArray<string> => {
  const original = typed(fields.get("original-recipient"))
  const named = [original, decodedXtext(original), typed(fields.get("final-recipient"))]
  return [...new Set(named.flatMap((one) => bareAddressOf(one) ?? []))]
}

/** Date of a mail (RFC 5322), milliseconds since the epoch. */
const DATE = /^(?:[A-Za-z]{3}, *)?\d{1,2} [A-Za-z]{3} \d{4} \d{2}:\d{2}(?::\d{2})? [+-]\d{4}\b/

const timeIn = (value: string | undefined): number | undefined => {
  const time = Date.parse(DATE.exec(value ?? "")?.[0] ?? "")
  return Number.isNaN(time) || time < 0 ? undefined : time
}

const ACTIONS: ReadonlySet<string> = new Set(["delivered", "relayed", "expanded", "delayed", "failed"])
const isAction = (text: string): text is ReportedRecipient["action"] => ACTIONS.has(text)

/** Comments may follow action and status: `failed (no such user)`. */
const firstWord = (value: string | undefined): string =>
  (/^[^\s(]*/.exec(value ?? "")?.[0] ?? "").toLowerCase()

const recipientOf = (fields: Fields): ReportedRecipient | undefined => {
  const addresses = addressesIn(fields)
  const action = firstWord(fields.get("action"))
  const status = firstWord(fields.get("status"))
  if (addresses.length === 0 || !isAction(action) || !/^[245]\.\d{1,3}\.\d{1,3}$/.test(status))
    return undefined
  return {
    addresses,
    action,
    status,
    diagnostic: typed(fields.get("diagnostic-code")) ?? fields.get("diagnostic-code"),
    occurredAt: timeIn(fields.get("last-attempt-date"))
  }
}

/** Reads the text of a `message/delivery-status` part; returns the reason as a text where it cannot. Total. */
export const readReport = (text: string): DeliveryReport | string => {
  if (text.length > MAX_TEXT) return "its delivery status is too long"
  const [mail, ...groups] = groupsOf(text)
  if (mail === undefined || groups.length === 0) return "its delivery status names no recipient"
  if (groups.length > MAX_RECIPIENTS) return "its delivery status names too many recipients"
  const recipients: Array<ReportedRecipient> = []
  for (const group of groups) {
    const recipient = recipientOf(group)
    if (recipient === undefined)
      return "its delivery status has a recipient without address, action or status"
    recipients.push(recipient)
  }
  return { envelopeId: mail.get("original-envelope-id"), recipients }
}
