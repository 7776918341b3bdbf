import type { FieldIssue } from "../../field-issues.ts"
import { asciiDomain } from "../address.ts"
import type { Message } from "../message.ts"

/** The value of `List-Unsubscribe-Post` (RFC 8058, section 3.1). */
const ONE_CLICK = "List-Unsubscribe=One-Click"

/** Where the texts of a mail have its link. */
const PLACEHOLDER = /(?:\{\{|%7B%7B)\s*unsubscribe_url\s*(?:\}\}|%7D%7D)/gi

/** Whether its readers may leave (MAIL-67): mail of a list, and all marketing. */
export const isBulk = ({ category, list }: Pick<Message, "category" | "list">): boolean =>
  category === "marketing" || list !== undefined

const headerOf = ({ headers }: Pick<Message, "headers">, name: string): string | undefined =>
  Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]

/** The link of `List-Unsubscribe` that a mail service may POST to: RFC 8058 takes https alone. */
const postableOf = (message: Pick<Message, "headers">): string | undefined =>
  headerOf(message, "list-unsubscribe-post")?.trim().toLowerCase() === ONE_CLICK.toLowerCase()
    ? /<\s*(https:\/\/[^\s<>]+)\s*>/i.exec(headerOf(message, "list-unsubscribe") ?? "")?.[1]
    : undefined

const namesLink = ({ html = "", text = "" }: Message): boolean => `${html}\n${text}`.search(PLACEHOLDER) >= 0

/** How the link of a mail comes about. */
type Linking =
  /** One is made for the mail's one recipient. */
  | { readonly _tag: "Made" }
  /** The caller wrote headers; `url` is absent where a mail service would not take them. */
  | { readonly _tag: "Own"; readonly url: string | undefined }
  /** The mail goes out without a link, or is refused. */
  | { readonly _tag: "None"; readonly why: string }

/** How a bulk mail gets its link; `makes`: whether this process can make links. */
export const linkingOf = (message: Message, makes: boolean): Linking => {
  if (headerOf(message, "list-unsubscribe") !== undefined || headerOf(message, "list-unsubscribe-post"))
    return { _tag: "Own", url: postableOf(message) }
  if (!makes)
    return {
      _tag: "None",
      why: "no link can be made: that needs a database, and a BASE_URL that begins with https://"
    }
  return message.to.length === 1 && message.cc.length === 0 && message.bcc.length === 0
    ? { _tag: "Made" }
    : { _tag: "None", why: "its link is for one address: send a mail to each recipient" }
}

/**
 * Why a mail is refused: a list needs a way to leave it, and a text that names a link needs one. Other marketing goes out, and its answer
 * says that it had no link.
 */
export const linkIssues = (message: Message, linking: Linking): ReadonlyArray<FieldIssue> => {
  if (linking._tag === "Made") return []
  const lacks = linking._tag === "Own" ? linking.url === undefined : true
  if (!lacks) return []
  const why =
    linking._tag === "None"
      ? linking.why
      : `the headers are no pair for one click (RFC 8058): List-Unsubscribe with an https link, and List-Unsubscribe-Post: ${ONE_CLICK}`
  if (message.list !== undefined) return [{ path: linking._tag === "Own" ? "headers" : "list", message: why }]
  return namesLink(message) ? [{ path: message.html === undefined ? "text" : "html", message: why }] : []
}

const filled = (text: string | undefined, url: string): string | undefined =>
  text?.replaceAll(PLACEHOLDER, () => url)

/** The mail with its link in the headers and in the texts, and with the name of its list (RFC 2919). */
export const withLink = (message: Message, url: string, isOwn: boolean): Message => {
  const { from, headers, list } = message
  const listId =
    list === undefined || headerOf(message, "list-id") !== undefined
      ? {}
      : { "List-Id": `<${list}.${asciiDomain(from.domain) ?? from.domain}>` }
  const pair = isOwn ? {} : { "List-Unsubscribe": `<${url}>`, "List-Unsubscribe-Post": ONE_CLICK }
  return {
    ...message,
    html: filled(message.html, url),
    text: filled(message.text, url),
    headers: { ...headers, ...listId, ...pair }
  }
}
