import { Result } from "effect"

import { addressKey, parsePublicMailbox } from "../address.ts"
import { type BadRecord, type ExportRecord, recordReader } from "../export-records.ts"
import type { Suppression, SuppressionReason } from "./policy.ts"

/** Names of the field that holds the address, in the exports of Resend, Amazon SES, Postmark and SendGrid. */
const ADDRESS_FIELDS = ["email", "emailaddress", "recipient", "address"]

/** Names of the field that says why, the one that says most first. */
const REASON_FIELDS = ["suppressionreason", "reason", "origin", "type"]

/** Their words for the three reasons; an unsubscribed address gets nothing, which only `manual` means. */
const WORDS: ReadonlyMap<string, SuppressionReason> = new Map([
  ["bounce", "hard_bounce"],
  ["bounced", "hard_bounce"],
  ["hardbounce", "hard_bounce"],
  ["complaint", "complaint"],
  ["complained", "complaint"],
  ["spamcomplaint", "complaint"],
  ["spamreport", "complaint"],
  ["spam", "complaint"],
  ["manual", "manual"],
  ["manualsuppression", "manual"],
  ["unsubscribe", "manual"],
  ["unsubscribed", "manual"]
])

/** A status code. SendGrid's bounces have it in a separate field; their reason is the server's words. */
const STATUS_CODE = /^[45]\.\d{1,3}\.\d{1,3}$/

const first = (fields: ReadonlyMap<string, string>, names: ReadonlyArray<string>): string =>
  names.map((name) => fields.get(name) ?? "").find((text) => text !== "") ?? ""

const reasonOf = (fields: ReadonlyMap<string, string>): SuppressionReason | undefined => {
  for (const name of REASON_FIELDS) {
    const reason = WORDS.get((fields.get(name) ?? "").toLowerCase().replaceAll(/[^a-z]/g, ""))
    if (reason !== undefined) return reason
  }
  return STATUS_CODE.test(fields.get("status") ?? "") ? "hard_bounce" : undefined
}

/** What a record asks for; `otherwise` is the reason of one that names none. */
export const entryOf = (
  { fields, line }: ExportRecord,
  otherwise: SuppressionReason | undefined
): Suppression | BadRecord => {
  const text = first(fields, ADDRESS_FIELDS)
  if (text === "") return { line, problem: "has no address" }
  const parsed = parsePublicMailbox(text)
  if (Result.isFailure(parsed)) return { line, problem: parsed.failure }
  const reason = reasonOf(fields) ?? otherwise
  return reason === undefined
    ? { line, problem: "does not say why: name the reason of such lines with --reason" }
    : { email: addressKey(parsed.success), reason }
}

/** Reads an export of suppressions piece by piece, into entries and what cannot be read. */
export const suppressionReader = (otherwise: SuppressionReason | undefined) => {
  const reader = recordReader()
  const entries = (found: ReadonlyArray<ExportRecord | BadRecord>) =>
    found.map((one) => ("fields" in one ? entryOf(one, otherwise) : one))
  return {
    feed: (piece: string) => entries(reader.feed(piece)),
    end: () => entries(reader.end()),
    isPartial: reader.isPartial
  }
}
