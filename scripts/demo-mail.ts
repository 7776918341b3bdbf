/** `npm run demo:mail -- FILE.pdf`: mails a file to the SMTP intake on this machine and shows the answers of the outbox. */
import { statSync } from "node:fs"
import { basename } from "node:path"
import { parseArgs } from "node:util"

import { createTransport } from "nodemailer"

const USAGE = `usage: npm run demo:mail -- FILE.pdf [--from you@x.test] [--to convert@…] [--host 127.0.0.1] [--port 2525]
                                     [--url http://127.0.0.1:8787] [--wait SECONDS]

Mails a file to the SMTP port of a running npm start, and names the answers in its outbox.`

const refuse = (reason: string): never => {
  console.error(`${reason}\n\n${USAGE}`)
  process.exit(2)
}

const given = () => {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        from: { type: "string", default: "owner@postlane.test" },
        to: { type: "string", default: "convert@legacy.postlane.test" },
        host: { type: "string", default: "127.0.0.1" },
        port: { type: "string", default: process.env["SMTP_PORT"] ?? "2525" },
        url: { type: "string", default: `http://127.0.0.1:${process.env["PORT"] ?? "8787"}` },
        wait: { type: "string", default: "60" },
        help: { type: "boolean", short: "h", default: false }
      }
    })
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error))
  }
}

const { positionals, values } = given()
if (values.help) {
  console.log(USAGE)
  process.exit(0)
}

interface OutboxEntry {
  readonly id: string
  readonly to: ReadonlyArray<string>
  readonly subject: string
}

/** The newest messages of the outbox; none where there is no outbox (production). */
const outbox = async (): Promise<ReadonlyArray<OutboxEntry>> => {
  const response = await fetch(`${values.url}/dev/outbox`).catch(() => undefined)
  if (response?.ok !== true) return []
  const body = (await response.json()) as { readonly messages: ReadonlyArray<OutboxEntry> }
  return body.messages
}

const [file, ...more] = positionals
if (file === undefined || more.length > 0) {
  console.error(USAGE)
  process.exit(2)
}
if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) refuse(`There is no file ${file}.`)
if (![values.port, values.wait].every((number) => /^\d{1,5}$/.test(number)))
  refuse("--port and --wait are whole numbers.")

const seen = new Set((await outbox()).map(({ id }) => id))
const transport = createTransport({
  host: values.host,
  port: Number(values.port),
  secure: false,
  ignoreTLS: true
})
const mail = {
  from: values.from,
  to: values.to,
  subject: `Please convert ${basename(file)}`,
  text: "Here is a file.",
  attachments: [{ path: file }]
}
const sent = await transport.sendMail(mail).catch((error: unknown) => {
  const why = error instanceof Error ? error.message : String(error)
  console.error(
    `The mail was not taken at ${values.host}:${values.port}: ${why}\nIs npm start running? Its banner says where mail comes in: --host, --port`
  )
  process.exit(1)
})
transport.close()
console.log(`sent ${file} from ${values.from} to ${values.to}: ${sent.response}`)

/** What an acknowledgement says; any other answer without the file is the last. */
const RESULT_FOLLOWS = /is being converted/

const until = Date.now() + Number(values.wait) * 1000
let replies = 0
while (Date.now() < until) {
  for (const message of (await outbox()).toReversed()) {
    if (seen.has(message.id) || !message.to.includes(values.from)) continue
    seen.add(message.id)
    replies += 1
    const source = await (await fetch(`${values.url}/dev/outbox/${message.id}`)).text()
    const isResult = /^content-disposition: attachment|It is too big to attach/im.test(source)
    console.log(
      `${isResult ? "result" : "reply"}: ${message.subject}\n  ${values.url}/dev/messages/${message.id}`
    )
    if (isResult) process.exit(0)
    if (!RESULT_FOLLOWS.test(source)) {
      console.error("That was the last answer: nothing was converted. Open it to see why.")
      process.exit(1)
    }
  }
  await new Promise((resolve) => setTimeout(resolve, 500))
}
console.error(
  replies === 0
    ? `no reply within ${values.wait} s: look into the server's log, and at ${values.url}/dev`
    : `no result within ${values.wait} s: it is still being converted; look at ${values.url}/dev, or wait longer with --wait`
)
process.exitCode = 1
