import { addressParser } from "postal-mime"

import type { IncomingMail, MailHeader } from "../../domain/inbound/incoming-mail.ts"

/** Longest From header that is parsed, characters: it names one sender. */
const MAX_FROM = 2_000

/** As the library decodes header lines: a byte order mark stays a character. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

/** Removes the white space allowed around a field's name and value, and no other space. */
const trimmed = (text: string): string => {
  let start = 0
  let end = text.length
  const isSpace = (at: number) => text[at] === " " || text[at] === "\t"
  while (start < end && isSpace(start)) start++
  while (end > start && isSpace(end - 1)) end--
  return text.slice(start, end)
}

/** The header section line by line, without the ends of lines. */
const linesOf = (head: Uint8Array): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (let at = 0; at < head.length;) {
    const found = head.indexOf(0x0a, at)
    const next = found === -1 ? head.length : found + 1
    let end = found === -1 ? head.length : found
    while (end > at && head[end - 1] === 0x0d) end--
    if (end === at) return lines
    lines.push(decoder.decode(head.subarray(at, end)))
    at = next
  }
  return lines
}

/** Header fields as the library finds them: unfolded, names in lower case. */
const headersOf = (head: Uint8Array): ReadonlyArray<MailHeader> => {
  const fields: Array<Array<string>> = []
  for (const line of linesOf(head)) {
    const last = fields.at(-1)
    if (last !== undefined && (line.startsWith(" ") || line.startsWith("\t"))) last.push(line)
    else fields.push([line])
  }
  return fields.map((parts) => {
    const line = parts.join("")
    const colon = line.indexOf(":")
    return {
      name: trimmed(colon === -1 ? line : line.slice(0, colon)).toLowerCase(),
      value: colon === -1 ? "" : trimmed(line.slice(colon + 1).replaceAll(/[\r\n]+/g, " "))
    }
  })
}

/** Bare addresses that the headers of a name hold. */
export const addresses = (
  headers: ReadonlyArray<MailHeader>,
  of: string,
  longest: number
): ReadonlyArray<string> =>
  headers
    .filter(({ name, value }) => name === of && value.length <= longest)
    .flatMap(({ value }) => addressParser(value, { flatten: true }))
    .flatMap(({ address }) => (address === undefined || address === "" ? [] : [address]))

/** The senders that a mail names. */
export const sendersOf = (headers: ReadonlyArray<MailHeader>): ReadonlyArray<string> =>
  addresses(headers, "from", MAX_FROM)

/** A header section by itself, without the body: its senders and its fields, as the whole mail has them. */
export const readHead = (head: Uint8Array): Pick<IncomingMail, "headers" | "from"> => {
  const headers = headersOf(head)
  return { headers, from: sendersOf(headers) }
}
