import { encodedWords, isPrintableAscii } from "../../domain/mail/encoded-words.ts"
import type { OutgoingReply } from "../../ports/inbound/mails.ts"

/** The parts of a message other than the reply. */
interface MessageFrame {
  /** `Name <address>`; the name may hold any letters. */
  readonly from: { readonly name: string | undefined; readonly address: string }
  readonly replyTo: string
  /** With its brackets. */
  readonly messageId: string
  readonly date: Date
}

/** RFC 5322: lines are best kept below 78 characters. */
const LINE = 76

const encoder = new TextEncoder()

const base64 = (bytes: Uint8Array): string => {
  const parts: Array<string> = []
  for (let at = 0; at < bytes.length; at += 0x6000) {
    parts.push(btoa(String.fromCharCode(...bytes.subarray(at, at + 0x6000))))
  }
  return parts.join("")
}

const isPlain = (text: string): boolean => isPrintableAscii(text) && !text.includes("=?")

/** Text as encoded words, one a line. */
const encoded = (text: string): string => encodedWords(text).join("\r\n ")

/** Folds at spaces, so that no line is longer than it should be where a space allows. */
const folded = (header: string): string => {
  const lines: Array<string> = []
  let line = ""
  for (const word of header.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > LINE) {
      lines.push(line)
      line = ` ${word}`
    } else {
      line = line === "" ? word : `${line} ${word}`
    }
  }
  return [...lines, line].join("\r\n")
}

/** Unstructured text of a header: no control characters, encoded where it has to be (RFC 2047). */
const unstructured = (name: string, value: string): string => {
  const text = value.toWellFormed().replaceAll(/\p{Cc}+/gu, " ")
  return isPlain(text) ? folded(`${name}: ${text}`) : `${name}: ${encoded(text)}`
}

const structured = (name: string, value: string): string =>
  folded(`${name}: ${value.replaceAll(/[\r\n\0]+/g, " ")}`)

const mailbox = ({ address, name }: MessageFrame["from"]): string => {
  if (name === undefined || name === "") return address
  const phrase = isPlain(name) ? `"${name.replaceAll(/["\\]/g, "\\$&")}"` : encoded(name)
  return `${phrase} <${address}>`
}

/** A non-ASCII parameter (RFC 2231), in pieces that fit into lines, with an ASCII fallback for readers without RFC 2231. */
const fileParameter = (parameter: "name" | "filename", value: string): ReadonlyArray<string> => {
  const text = value.toWellFormed().replaceAll(/[\p{Cc}"\\]/gu, "_")
  if (isPlain(text) && text.length <= 60) return [`${parameter}="${text}"`]
  const plain = text
    .normalize("NFKD")
    .replaceAll(/[^\x20-\x7e]/g, "_")
    .slice(-60)
  const octets = [...encoder.encode(text)].map((byte) => {
    const char = String.fromCharCode(byte)
    return /[A-Za-z0-9._-]/.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`
  })
  const pieces: Array<string> = []
  let piece = "UTF-8''"
  for (const octet of octets) {
    if (piece.length + octet.length > 55) {
      pieces.push(piece)
      piece = ""
    }
    piece += octet
  }
  pieces.push(piece)
  const extended =
    pieces.length === 1
      ? [`${parameter}*=${pieces[0]}`]
      : pieces.map((one, index) => `${parameter}*${index}*=${one}`)
  return parameter === "name" ? [`name="${plain}"`] : [`filename="${plain}"`, ...extended]
}

const withParameters = (name: string, value: string, parameters: ReadonlyArray<string>): string =>
  [`${name}: ${value}`, ...parameters].join(";\r\n ")

/** Base64 in lines of 76 characters, as an array, so that a large result is joined once. */
const base64Lines = (bytes: Uint8Array): string => {
  const lines: Array<string> = []
  // 57 bytes make a line.
  for (let at = 0; at < bytes.length; at += 57) lines.push(base64(bytes.subarray(at, at + 57)))
  return lines.join("\r\n")
}

const textPart = (type: "plain" | "html", text: string): string =>
  [
    `Content-Type: text/${type}; charset=utf-8`,
    "Content-Transfer-Encoding: base64",
    "",
    base64Lines(encoder.encode(text.toWellFormed()))
  ].join("\r\n")

const multipart = (kind: string, boundary: string, parts: ReadonlyArray<string>): string =>
  [
    `Content-Type: multipart/${kind};\r\n boundary="${boundary}"`,
    "",
    ...parts.map((one) => `--${boundary}\r\n${one}`),
    `--${boundary}--`,
    ""
  ].join("\r\n")

/** RFC 5322: `Sat, 21 Nov 2026 10:00:00 +0000`. */
const dateOf = (date: Date): string => date.toUTCString().replace("GMT", "+0000")

/**
 * The reply as an RFC 5322 message. Bodies are base64, so that no line is too long and none contains the boundary; the same
 * reply and frame give the same bytes.
 */
export const composeReply = (reply: OutgoingReply, frame: MessageFrame): string => {
  const mark = frame.messageId.replaceAll(/[^A-Za-z0-9]/g, "").slice(0, 40)
  const text = textPart("plain", reply.text)
  const body =
    reply.html === undefined
      ? text
      : multipart("alternative", `alt-${mark}`, [text, textPart("html", reply.html)])
  const { attachment } = reply
  const whole =
    attachment === undefined
      ? body
      : multipart("mixed", `mix-${mark}`, [
          body,
          [
            withParameters(
              "Content-Type",
              attachment.contentType,
              fileParameter("name", attachment.filename)
            ),
            withParameters(
              "Content-Disposition",
              "attachment",
              fileParameter("filename", attachment.filename)
            ),
            "Content-Transfer-Encoding: base64",
            "",
            base64Lines(attachment.content)
          ].join("\r\n")
        ])
  return [
    `From: ${mailbox(frame.from)}`,
    structured("To", reply.to),
    structured("Reply-To", frame.replyTo),
    unstructured("Subject", reply.subject),
    `Date: ${dateOf(frame.date)}`,
    `Message-ID: ${frame.messageId}`,
    ...(reply.inReplyTo === undefined ? [] : [structured("In-Reply-To", reply.inReplyTo)]),
    ...(reply.references === undefined ? [] : [structured("References", reply.references)]),
    ...(reply.automatic ? ["Auto-Submitted: auto-replied"] : []),
    "MIME-Version: 1.0",
    whole
  ].join("\r\n")
}
