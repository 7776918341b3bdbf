import { tnefOf } from "../support/files/tnef-files.ts"

/** Mails made to be dear to read; the sender is a customer's. */
const HEAD = "From: ann@reader.test\r\nTo: convert@legacy.test\r\nSubject: s\r\n"
const MULTIPART = 'Content-Type: multipart/mixed; boundary="b"\r\n'

const emptyAttributes = () =>
  Buffer.concat([tnefOf(), Buffer.alloc(11 * 2_500_000)])
    .toString("base64")
    .replaceAll(/.{76}/g, "$&\r\n")

/** By what makes each dear. */
export const hostileMails = (): ReadonlyArray<readonly [name: string, raw: Buffer]> =>
  (
    [
      ["a body of 1 MB of empty lines", `${HEAD}\r\n${"\n".repeat(1_000_000)}`],
      ["a body of 6 MB of empty lines", `${HEAD}\r\n${"\n".repeat(6_000_000)}`],
      ["1 MB of lines that begin parts", `${HEAD}${MULTIPART}\r\n${"--b\n".repeat(250_000)}`],
      ["parts within parts", `${HEAD}${MULTIPART}\r\n${`--b\r\n${MULTIPART}\r\n`.repeat(30_000)}`],
      ["2,000 messages within one another", `${HEAD}${"Content-Type: message/rfc822\r\n\r\n".repeat(2_000)}`],
      ["a From of 200 KB of brackets", `From: ${"<".repeat(200_000)}\r\n\r\nx`],
      ["a From of 60 KB of groups", `From: ${"a:".repeat(30_000)}\r\n\r\nx`],
      ["a From of 60 KB of comments", `From: ${"(".repeat(60_000)}\r\n\r\nx`],
      ["a From of 1,900 comments", `From: ${"(".repeat(1_900)}ann@reader.test\r\n\r\nx`],
      ["a From of 1,900 quotes", `From: ${'"a'.repeat(900)} <ann@reader.test>\r\n\r\nx`],
      ["a From of 1,900 words and an address", `From: ${"a ".repeat(900)}<ann@reader.test>\r\n\r\nx`],
      [
        "a winmail.dat of 3 million attributes",
        `${HEAD}Content-Type: application/ms-tnef\r\nContent-Transfer-Encoding: base64\r\n\r\n${emptyAttributes()}`
      ],
      [
        "120 Authentication-Results of 8 KB of letters",
        `${`Authentication-Results: mx.hop.test; dmarc=pass ${"a".repeat(7_900)}\r\n`.repeat(30)}${HEAD}\r\nx`
      ],
      [
        "Authentication-Results of 7 KB of properties",
        `${`Authentication-Results: mx.hop.test; dmarc=pass ${"a.b=c ".repeat(1_200)}\r\n`.repeat(30)}${HEAD}\r\nx`
      ],
      [
        "120 Authentication-Results beyond the header's bound",
        `${`Authentication-Results: mx.hop.test; dmarc=pass ${"a".repeat(7_900)}\r\n`.repeat(120)}${HEAD}\r\nx`
      ],
      ["200,000 header fields", `${"X-A: b\r\n".repeat(200_000)}${HEAD}\r\nx`],
      ["one header field of 30 MB", `${HEAD}X-A: ${"b".repeat(30_000_000)}\r\n\r\nx`],
      ["a header folded 100,000 times", `${HEAD}X-A: b\r\n${" c\r\n".repeat(100_000)}\r\nx`],
      ["a References of 60 KB", `References: ${"<a".repeat(30_000)}\r\n${HEAD}\r\nx`],
      ["a Subject of 60 KB of re:", `Subject: ${"re : ".repeat(12_000)}\r\n${HEAD}\r\nx`],
      [
        "a file with a name of 60 KB",
        `${HEAD}Content-Type: application/pdf; name="${".a".repeat(30_000)}"\r\n\r\n%PDF-1.4`
      ],
      ["10 MB of short lines of text", `${HEAD}\r\n${`${"x".repeat(45)}\r\n`.repeat(213_000)}`],
      ["nothing but a NUL, 5 MB of them", "\0".repeat(5_000_000)]
    ] as const
  ).map(([name, text]) => [name, Buffer.from(text)] as const)

/** The largest PDF that is taken, in a mail of 34 MB. */
export const largestMail = (pdf: Uint8Array, headers: string): Buffer => {
  const content = Buffer.concat([pdf, Buffer.alloc(25 * 1024 * 1024 - pdf.length, "x")])
  const lines = content.toString("base64").replaceAll(/.{76}/g, "$&\r\n")
  return Buffer.from(
    `${headers}${HEAD}${MULTIPART}\r\n--b\r\nContent-Type: application/pdf; name="a.pdf"\r\n` +
      `Content-Transfer-Encoding: base64\r\n\r\n${lines}\r\n--b--\r\n`
  )
}
