import { addressKey, type Mailbox } from "../mail/address.ts"
import { headerValues, type IncomingMail } from "./incoming-mail.ts"

/** Mailboxes that only programs use. */
const ROBOTS =
  /^(?:mailer-daemon|postmaster|(?:no|do-?not|never)[-_.]?reply|bounces?|auto-?reply|listserv|majordomo)(?:[+-].*)?$/i

/** Headers that only programs set. */
const MARKS = new Set(["x-autoreply", "x-autorespond", "x-autoresponder", "x-failed-recipients", "x-loop"])

/** Shops and newsletters set these, but so do the mail programs of people: they are no sign of a list (RFC 2369). */
const NO_LIST = /^list-unsubscribe(?:-post)?$/

const words = (value: string | undefined): ReadonlyArray<string> =>
  (value ?? "")
    .toLowerCase()
    .split(/[\s,;]+/)
    .filter((word) => word !== "")

/** The first words of the `Auto-Submitted` headers. */
const autoSubmitted = (mail: Pick<IncomingMail, "headers">): ReadonlyArray<string> =>
  headerValues(mail, "auto-submitted").flatMap((value) => words(value)[0] ?? [])

/**
 * Whether a responder answered one of our mails, which are all replies. With a file in each of its answers it would order
 * conversions for ever.
 */
const isResponse = (mail: Pick<IncomingMail, "headers">): boolean =>
  autoSubmitted(mail).includes("auto-replied") &&
  (headerValues(mail, "in-reply-to").length > 0 || headerValues(mail, "references").length > 0)

/**
 * Why a mail was written by a program or came through a list (RFC 3834, section 2; RFC 2076 for `Precedence`; RFC 2919): without a
 * file to convert it is not answered. With one it is, since scanners are programs. Undefined: a person may have written it.
 */
export const automaticReason = (
  mail: Pick<IncomingMail, "headers">,
  envelopeFrom: string,
  sender: Mailbox
): string | undefined => {
  const first = (name: string) => headerValues(mail, name)[0]
  if (envelopeFrom.replaceAll(/[<>\s]/g, "") === "") return "null return path"
  if (headerValues(mail, "return-path").some((path) => path.replaceAll(/[<>\s]/g, "") === "")) {
    return "null return path"
  }
  if (autoSubmitted(mail).some((word) => word !== "no")) return "Auto-Submitted"
  if (
    headerValues(mail, "precedence")
      .flatMap(words)
      .some((word) => /^(?:bulk|junk|list|auto[-_]reply)$/.test(word))
  ) {
    return "Precedence"
  }
  const list = mail.headers.find(({ name }) => name.startsWith("list-") && !NO_LIST.test(name))
  if (list !== undefined) return `mailing list (${list.name})`
  const mark = mail.headers.find(({ name }) => MARKS.has(name))
  if (mark !== undefined) return mark.name
  if (/^\s*multipart\/report\b/i.test(first("content-type") ?? "")) return "delivery report"
  return ROBOTS.test(sender.local) ? "written from an unattended mailbox" : undefined
}

/** Why a mail is not answered at all; undefined: it is. `isOrder`: it has a file to convert. */
export const silenceReason = (
  mail: Pick<IncomingMail, "headers">,
  envelopeFrom: string,
  sender: Mailbox,
  { isOrder, ownAddresses }: { readonly isOrder: boolean; readonly ownAddresses: ReadonlySet<string> }
): string | undefined => {
  if (ownAddresses.has(addressKey(sender))) return "our own mail"
  if (isResponse(mail)) return "a program's answer to a mail of ours"
  return isOrder ? undefined : automaticReason(mail, envelopeFrom, sender)
}
