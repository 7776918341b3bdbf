import { addressKey, type Mailbox } from "../mail/address.ts"
import { headerValues, type IncomingMail } from "./incoming-mail.ts"

/** Mailboxes that programs send from and nobody reads. */
const ROBOTS =
  /^(?:mailer-daemon|postmaster|(?:no|do-?not|never)[-_.]?reply|bounces?|auto-?reply|listserv|majordomo)(?:[+-].*)?$/i

/** Headers that only programs set. */
const MARKS = new Set(["x-autoreply", "x-autorespond", "x-autoresponder", "x-failed-recipients", "x-loop"])

const words = (value: string | undefined): ReadonlyArray<string> =>
  (value ?? "")
    .toLowerCase()
    .split(/[\s,;]+/)
    .filter((word) => word !== "")

/**
 * Whether a mail answers another one, by its thread or by its subject (our replies begin with "Re:" where that mail had one).
 * Without a file it asks for nothing, and may come from a vacation responder that does not say so.
 */
export const isAnswer = (mail: Pick<IncomingMail, "headers" | "subject">): boolean =>
  headerValues(mail, "in-reply-to").length > 0 ||
  headerValues(mail, "references").length > 0 ||
  /(?:^|[^a-z])re:/i.test(mail.subject ?? "")

/**
 * Why a mail is never answered: a program made it, it came through a list, or it is our own (RFC 3834, section 2; RFC 2076 for
 * `Precedence`; MS-OXCMAIL for `X-Auto-Response-Suppress`). Undefined: a person may have written it.
 */
export const automaticReason = (
  mail: Pick<IncomingMail, "headers">,
  envelopeFrom: string,
  sender: Mailbox | undefined,
  ownAddresses: ReadonlySet<string>
): string | undefined => {
  const first = (name: string) => headerValues(mail, name)[0]
  if (envelopeFrom.replaceAll(/[<>\s]/g, "") === "") return "null return path"
  if (headerValues(mail, "return-path").some((path) => path.replaceAll(/[<>\s]/g, "") === "")) {
    return "null return path"
  }
  const auto = headerValues(mail, "auto-submitted").flatMap((value) => words(value)[0] ?? [])
  if (auto.some((word) => word !== "no")) return "Auto-Submitted"
  if (
    headerValues(mail, "precedence")
      .flatMap(words)
      .some((word) => /^(?:bulk|junk|list|auto[-_]reply)$/.test(word))
  ) {
    return "Precedence"
  }
  const list = mail.headers.find(({ name }) => name.startsWith("list-"))
  if (list !== undefined) return `mailing list (${list.name})`
  if (
    headerValues(mail, "x-auto-response-suppress")
      .flatMap(words)
      .some((word) => /^(?:all|oof|autoreply)$/.test(word))
  ) {
    return "X-Auto-Response-Suppress"
  }
  const mark = mail.headers.find(({ name }) => MARKS.has(name))
  if (mark !== undefined) return mark.name
  if (/^\s*multipart\/report\b/i.test(first("content-type") ?? "")) return "delivery report"
  if (sender !== undefined && ROBOTS.test(sender.local)) return "written from a mailbox that nobody reads"
  if (sender !== undefined && ownAddresses.has(addressKey(sender))) return "our own mail"
  return undefined
}
