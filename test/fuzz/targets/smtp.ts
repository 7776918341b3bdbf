import * as fc from "fast-check"

import type { Attacked } from "../../hostile/server.ts"
import { numbered } from "../../support/files/pdf-samples.ts"
import { talk } from "../../support/processes/smtp-talk.ts"
import { nextAddress, openServer } from "../server.ts"
import { hold, type Target } from "../target.ts"

const TO = "convert@legacy.postlane.test"
const LINES = [
  "EHLO a.test",
  "HELO a",
  "MAIL FROM:<a@x.test>",
  "MAIL FROM:<>",
  "MAIL FROM:<a@x.test> SIZE=99999999999",
  `RCPT TO:<${TO}>`,
  "RCPT TO:<other@x.test>",
  "DATA",
  "From: owner@postlane.test",
  `To: ${TO}`,
  "",
  "hello",
  ".",
  "..",
  "RSET",
  "NOOP",
  "VRFY a",
  "HELP",
  "AUTH PLAIN AAAA",
  "STARTTLS",
  "BDAT 5 LAST",
  "XCLIENT ADDR=1.1.1.1",
  "PROXY TCP4 1.1.1.1 2.2.2.2 1 2",
  "QUIT"
]

const dialogue = (lines: ReadonlyArray<string>): Buffer => Buffer.from(lines.join("\n"))
const ENVELOPE = ["EHLO a.test", "MAIL FROM:<owner@postlane.test>", `RCPT TO:<${TO}>`, "DATA"]

const withPdf = (): Buffer =>
  dialogue([
    ...ENVELOPE,
    "From: owner@postlane.test",
    `To: ${TO}`,
    "Content-Type: application/pdf",
    "Content-Transfer-Encoding: base64",
    "",
    numbered(1).toString("base64").replaceAll(/.{76}/g, "$&\n"),
    ".",
    "QUIT"
  ])

/** Says line by line, and waits for each answer but within a mail. What the server answers with, by its first digit. */
const converse = async (server: Attacked, input: Buffer): Promise<string> => {
  const { answer, closed, socket } = talk(server.smtpPort, nextAddress())
  const heard = [await answer()]
  let inMail = false
  for (const line of input.toString("latin1").split(/\r?\n/)) {
    if (socket.destroyed || heard.at(-1) === "") break
    socket.write(Buffer.from(`${line}\r\n`, "latin1"))
    if (inMail && line !== ".") continue
    heard.push(await answer())
    inMail = heard.at(-1)?.startsWith("354") === true
  }
  // A mail without its end: the client goes away in the middle.
  if (inMail) socket.destroy()
  else socket.end("QUIT\r\n")
  await closed
  const codes = heard.map((said) => said.slice(0, 3))
  for (const said of heard)
    hold(said === "" || /^[2345]\d\d[ -]/.test(said), `no reply of SMTP: ${said.slice(0, 200)}`)
  hold(
    !codes.includes("451"),
    `INBOUND-1: a mail was not stored: ${heard.find((said) => said.startsWith("451")) ?? ""}`
  )
  return [...new Set(codes)].sort().join(" ")
}

export const smtp: Target = {
  name: "smtp",
  about:
    "dialogues with the SMTP server of a running server, which reads, converts and answers what it takes",
  limitMs: 20_000,
  memoryMb: 1_280,
  guided: false,
  seeds: () => [dialogue(LINES), withPdf(), dialogue([...ENVELOPE, "From: a@x.test", "", "x", ".", "QUIT"])],
  made: fc
    .tuple(fc.boolean(), fc.array(fc.constantFrom(...LINES), { maxLength: 15 }))
    .map(([begun, lines]) => dialogue([...(begun ? ENVELOPE : []), ...lines])),
  words: [
    ...LINES.map((line) => `\n${line}\n`),
    "<",
    ">",
    ":",
    "@",
    " ",
    "SIZE=",
    "BODY=8BITMIME",
    "SMTPUTF8",
    "\0",
    "\xff",
    "\r",
    "=?utf-8?q?",
    "--b",
    "Content-Type: multipart/mixed; boundary=b\n"
  ],
  open: (serve) => openServer(serve, converse)
}
