/** `npm run demo:mail -- FILE.pdf`: mails a file to the SMTP intake on this machine and shows the answers of the outbox. */
import { basename } from "node:path"
import { parseArgs } from "node:util"

import { createTransport } from "nodemailer"

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    from: { type: "string", default: "owner@postlane.test" },
    to: { type: "string", default: "convert@legacy.postlane.test" },
    host: { type: "string", default: "127.0.0.1" },
    port: { type: "string", default: process.env["SMTP_PORT"] ?? "2525" },
    url: { type: "string", default: `http://127.0.0.1:${process.env["PORT"] ?? "8787"}` },
    wait: { type: "string", default: "60" }
  }
})

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

const [file] = positionals
if (file === undefined) {
  console.error("usage: npm run demo:mail -- FILE.pdf [--from you@x.test] [--to convert@…] [--port 2525]")
  process.exit(2)
}

const seen = new Set((await outbox()).map(({ id }) => id))
const transport = createTransport({
  host: values.host,
  port: Number(values.port),
  secure: false,
  ignoreTLS: true
})
const sent = await transport.sendMail({
  from: values.from,
  to: values.to,
  subject: `Please convert ${basename(file)}`,
  text: "Here is a file.",
  attachments: [{ path: file }]
})
transport.close()
console.log(`sent ${file} from ${values.from} to ${values.to}: ${sent.response}`)

const until = Date.now() + Number(values.wait) * 1000
let replies = 0
while (Date.now() < until) {
  for (const message of (await outbox()).toReversed()) {
    if (seen.has(message.id) || !message.to.includes(values.from)) continue
    seen.add(message.id)
    replies += 1
    const source = await (await fetch(`${values.url}/dev/outbox/${message.id}`)).text()
    const isResult = /^content-disposition: attachment/im.test(source)
    console.log(
      `${isResult ? "result" : "reply"}: ${message.subject}\n  ${values.url}/dev/outbox/${message.id}`
    )
    if (isResult) process.exit(0)
  }
  await new Promise((resolve) => setTimeout(resolve, 500))
}
console.log(replies === 0 ? "no reply yet; look into the server's log" : "no result among the replies")
process.exitCode = 1
