import { numbered } from "./pdf-samples.ts"
import { tnefOf } from "./tnef-files.ts"
import { zipOf } from "./zip-files.ts"

/** A mail as some program writes it, and how it ends; `refused`: it is not taken. */
export interface StrangeMail {
  readonly about: string
  readonly outcome: string
  /** Lines; LF becomes CRLF on the way. */
  readonly raw: string
}

const base64 = (bytes: Buffer): string => bytes.toString("base64").replaceAll(/.{76}/g, "$&\n")

const pdf = numbered(1).toString("base64")
const folded = base64(numbered(1))

const head = (from: string, extra = "") =>
  `From: ${from}\nTo: convert@legacy.test\nSubject: strange\nMIME-Version: 1.0\n${extra}`

const part = (headers: string, body: string) => `--b\n${headers}\n\n${body}\n`
const mixed = (from: string, ...parts: ReadonlyArray<string>) =>
  `${head(from, 'Content-Type: multipart/mixed; boundary="b"\n')}\n${parts.join("")}--b--\n`
const pdfPart = (type: string, disposition: string, body = folded) =>
  part(`Content-Type: ${type}\nContent-Disposition: ${disposition}\nContent-Transfer-Encoding: base64`, body)
const text = part("Content-Type: text/plain", "hello")
/** With a boundary of its own: it ends within the mail that contains it. */
const inner = mixed(
  "Friend <friend@x.test>",
  text,
  pdfPart("application/pdf", 'attachment; filename="inner.pdf"')
)
  .replace('boundary="b"', 'boundary="inner"')
  .replaceAll(/^--b/gm, "--inner")

/** Clients' habits and their mistakes, one each; `from` is a customer. */
export const strangeMails = (from: string): ReadonlyArray<StrangeMail> => [
  {
    about: "a PDF shown inline",
    outcome: "success",
    raw: mixed(from, text, pdfPart("application/pdf", "inline"))
  },
  {
    about: "a PDF that claims to be bytes",
    outcome: "success",
    raw: mixed(from, text, pdfPart("application/octet-stream", "attachment; filename=x.bin"))
  },
  {
    about: "a PDF without a disposition",
    outcome: "success",
    raw: mixed(from, text, part("Content-Type: application/pdf\nContent-Transfer-Encoding: base64", folded))
  },
  {
    about: "a PDF that claims to be a picture in the text",
    outcome: "success",
    raw: mixed(from, pdfPart("image/png", "inline"))
  },
  {
    about: "a mail that is nothing but a PDF",
    outcome: "success",
    raw: `${head(from, "Content-Type: application/pdf\nContent-Transfer-Encoding: base64\n")}\n${folded}\n`
  },
  {
    about: "multiparts in multiparts",
    outcome: "success",
    raw: `${head(from, 'Content-Type: multipart/mixed; boundary="o"\n')}\n--o\nContent-Type: multipart/related; boundary="r"\n\n--r\nContent-Type: multipart/alternative; boundary="b"\n\n${text}--b--\n--r--\n--o\nContent-Type: application/pdf; name=a.pdf\nContent-Transfer-Encoding: base64\n\n${folded}\n--o--\n`
  },
  {
    about: "a name in RFC 2231 pieces",
    outcome: "success",
    raw: mixed(
      from,
      pdfPart("application/pdf", "attachment;\n filename*0*=UTF-8''%C3%84n;\n filename*1*=nchen.pdf")
    )
  },
  {
    about: "8-bit headers",
    outcome: "success",
    raw: `Subject: Gr\u00fc\u00dfe\n${mixed(from, pdfPart("application/pdf", 'attachment; filename="\u00c4nnchen.pdf"'))}`
  },
  {
    about: "a boundary that never ends",
    outcome: "success",
    raw: mixed(from, text, pdfPart("application/pdf", "attachment")).replace("--b--\n", "")
  },
  {
    about: "base64 with junk in it",
    outcome: "success",
    raw: mixed(from, pdfPart("application/pdf", "attachment", `!!! ${folded.replaceAll("\n", " \n\t")}`))
  },
  {
    about: "base64 in one endless line",
    outcome: "success",
    raw: mixed(from, pdfPart("application/pdf", "attachment", pdf))
  },
  {
    about: "a message forwarded within",
    outcome: "success",
    raw: mixed(from, text, part("Content-Type: message/rfc822", inner))
  },
  {
    about: "a message forwarded as an attachment",
    outcome: "success",
    raw: mixed(
      from,
      text,
      part(
        'Content-Type: message/rfc822; name=m.eml\nContent-Disposition: attachment; filename="m.eml"',
        inner
      )
    )
  },
  {
    about: "a signature beside the PDF",
    outcome: "success",
    raw: mixed(
      from,
      part("Content-Type: application/pgp-signature; name=s.asc\nContent-Disposition: attachment", "x"),
      pdfPart("application/pdf", "attachment")
    )
  },
  { about: "no attachment", outcome: "no_attachment", raw: `${head(from)}\nhello\n` },
  {
    about: "a logo in the signature and no attachment",
    outcome: "no_attachment",
    raw: mixed(
      from,
      text,
      part(
        "Content-Type: image/png\nContent-Disposition: inline\nContent-ID: <l>\nContent-Transfer-Encoding: base64",
        "iVBORw0KGgo="
      )
    )
  },
  {
    about: "an invitation and no attachment",
    outcome: "no_attachment",
    raw: mixed(from, text, part("Content-Type: text/calendar; method=REQUEST", "BEGIN:VCALENDAR"))
  },
  {
    about: "winmail.dat",
    outcome: "unsupported",
    raw: mixed(
      from,
      part(
        "Content-Type: application/ms-tnef; name=winmail.dat\nContent-Disposition: attachment; filename=winmail.dat\nContent-Transfer-Encoding: base64",
        "eJ8+IgE="
      )
    )
  },
  {
    about: "winmail.dat with a PDF in it",
    outcome: "success",
    raw: mixed(
      from,
      part(
        "Content-Type: application/ms-tnef; name=winmail.dat\nContent-Disposition: attachment; filename=winmail.dat\nContent-Transfer-Encoding: base64",
        base64(tnefOf(["a.pdf", numbered(1)]))
      )
    )
  },
  {
    about: "winmail.dat with two PDFs in it",
    outcome: "success",
    raw: mixed(
      from,
      part(
        "Content-Type: application/ms-tnef; name=winmail.dat\nContent-Disposition: attachment; filename=winmail.dat\nContent-Transfer-Encoding: base64",
        base64(tnefOf(["a.pdf", numbered(1)], ["b.pdf", numbered(2)]))
      )
    )
  },
  {
    about: "an archive that does not compress its PDF",
    outcome: "unsupported",
    raw: mixed(
      from,
      pdfPart(
        "application/zip",
        "attachment; filename=a.zip",
        base64(zipOf([{ name: "a.pdf", data: numbered(1), stored: true }]))
      )
    )
  },
  {
    about: "a file of no bytes",
    outcome: "unsupported",
    raw: mixed(from, pdfPart("application/pdf", "attachment; filename=a.pdf", ""))
  },
  {
    about: "a text that is called PDF",
    outcome: "unsupported",
    raw: mixed(
      from,
      part("Content-Type: application/pdf; name=a.pdf\nContent-Disposition: attachment", "no pdf")
    )
  },
  { about: "two senders", outcome: "no_sender", raw: head(`${from}, other@x.test`, "\nx\n") },
  { about: "two From headers", outcome: "no_sender", raw: head(from, `From: other@x.test\n\nx\n`) },
  { about: "a group for a sender", outcome: "no_sender", raw: head("nobody:;", "\nx\n") },
  { about: "no From", outcome: "no_sender", raw: "Subject: x\n\nx\n" },
  { about: "no header at all", outcome: "no_sender", raw: "\n\n" },
  {
    about: "multiparts nested without end",
    outcome: "error",
    raw: head(
      from,
      Array.from(
        { length: 300 },
        (_, n) => `Content-Type: multipart/mixed; boundary="n${n}"\n\n--n${n}\n`
      ).join("")
    )
  },
  {
    about: "headers without end",
    outcome: "refused",
    raw: `${`X-Long: ${"y".repeat(900)}\n`.repeat(1500)}From: ${from}\n\nx\n`
  }
]
