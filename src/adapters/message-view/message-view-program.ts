import PostalMime, { type Attachment, type Email } from "postal-mime"

import { beyondLimits } from "../../application/inbound/mail-limits.ts"
import { MAX_MAIL_BYTES } from "../../domain/inbound/incoming-mail.ts"
import {
  MAX_LISTED_LINKS,
  type MessageContent,
  type MessageFile,
  type MessageLink,
  type MessageView
} from "../../ports/mail/message-views.ts"
import { clientSupport } from "./client-support.ts"
import { type Picture, showHtml } from "./show-html.ts"

/** What is asked about a message. */
export type Task =
  | { readonly kind: "view"; readonly raw: Uint8Array; readonly images: boolean }
  | { readonly kind: "content"; readonly raw: Uint8Array }
  | { readonly kind: "file"; readonly raw: Uint8Array; readonly index: number }
  | { readonly kind: "clients"; readonly raw: Uint8Array }

/** `unreadable`: why, for people. */
export type Answer<A> =
  | { readonly kind: "read"; readonly value: A }
  | { readonly kind: "unreadable"; readonly message: string }

/** What a hostile mail may cost: real ones nest a few levels deep, and show no messages within them. */
const LIMITS = { maxNestingDepth: 50, maxHeadersSize: 1024 * 1024, maxRfc822NestingDepth: 0 }

/** Largest HTML that is shown, characters: no real mail comes near it. */
const MAX_HTML = 2 * 1024 * 1024

/** Longest text that is shown, characters. */
const MAX_TEXT = 1024 * 1024

/** Longest name of a file, characters. */
const MAX_NAME = 300

/** The web addresses in a plain text; what ends a sentence is no part of them. */
const linksInText = (text: string): ReadonlyArray<MessageLink> =>
  (text.match(/https?:\/\/[^\s<>"]{1,2000}/gi) ?? [])
    .slice(0, MAX_LISTED_LINKS)
    .map((href) => ({ text: "", href: href.replace(/[.,;:!?)\]]{1,5}$/, "") }))

const bytesOf = ({ content }: Attachment): Uint8Array => {
  if (typeof content === "string") return new TextEncoder().encode(content)
  return content instanceof Uint8Array ? content : new Uint8Array(content)
}

const fileOf = (attachment: Attachment): MessageFile => ({
  filename: attachment.filename?.slice(0, MAX_NAME) || undefined,
  mediaType: attachment.mimeType.slice(0, MAX_NAME).toLowerCase(),
  bytes: bytesOf(attachment).length,
  inline: attachment.disposition === "inline" || attachment.related === true
})

/** Pictures that the HTML shows by their Content-ID. */
const picturesOf = ({ attachments }: Email): ReadonlyMap<string, Picture> =>
  new Map(
    attachments.flatMap((attachment) =>
      attachment.contentId === undefined
        ? []
        : [
            [
              attachment.contentId.replace(/^<|>$/g, ""),
              { mediaType: attachment.mimeType, content: bytesOf(attachment) }
            ] as const
          ]
    )
  )

const htmlOf = (email: Email, images: boolean) => {
  const { html } = email
  const htmlBytes = new TextEncoder().encode(html ?? "").length
  const nothing = { html: undefined, htmlBytes, htmlProblem: undefined, remote: 0, links: [] }
  if (html === undefined) return nothing
  if (html.length > MAX_HTML) return { ...nothing, htmlProblem: "Its HTML is larger than 2 MB." }
  try {
    return { ...nothing, ...showHtml(html, { images, pictures: picturesOf(email) }) }
  } catch {
    return { ...nothing, htmlProblem: "Its HTML nests too deep." }
  }
}

const viewOf = (email: Email, images: boolean): MessageView => {
  const shown = htmlOf(email, images)
  return {
    ...shown,
    links: email.html === undefined ? linksInText(email.text ?? "") : shown.links,
    headers: email.headers.map(({ originalKey, value }) => ({ name: originalKey, value })),
    text: email.text?.slice(0, MAX_TEXT),
    files: email.attachments.map(fileOf)
  }
}

const contentOf = (email: Email): MessageContent => {
  const { headers, links } = viewOf(email, false)
  return {
    headers,
    links,
    text: email.text,
    html: email.html,
    files: email.attachments.map((attachment) => ({
      ...fileOf(attachment),
      base64: Buffer.from(bytesOf(attachment)).toString("base64")
    }))
  }
}

const answer = async (task: Task): Promise<unknown> => {
  const email = await PostalMime.parse(task.raw, LIMITS)
  switch (task.kind) {
    case "view":
      return viewOf(email, task.images)
    case "content":
      return contentOf(email)
    case "file": {
      const attachment = email.attachments[task.index]
      return attachment && { ...fileOf(attachment), content: bytesOf(attachment) }
    }
    case "clients":
      return clientSupport((email.html ?? "").slice(0, MAX_HTML))
  }
}

/** Reads messages in a separate process, see `ReaderProcess`. */
export default async (task: Task): Promise<Answer<unknown>> => {
  if (task.raw.length > MAX_MAIL_BYTES) return { kind: "unreadable", message: "It is larger than 40 MB." }
  const beyond = beyondLimits(task.raw)
  if (beyond !== undefined) return { kind: "unreadable", message: `It is not taken apart: ${beyond}.` }
  try {
    return { kind: "read", value: await answer(task) }
  } catch {
    return { kind: "unreadable", message: "It is damaged, or nests too deep." }
  }
}
