import { join } from "node:path"

import { createTransport } from "nodemailer"
import { Resend } from "resend"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

import { type Child, makeFolder, runChild } from "../../support/processes/child.ts"
import { until } from "../../support/until.ts"

describe("npm start, for programs in front", () => {
  let folder: Awaited<ReturnType<typeof makeFolder>>
  let server: Child
  let url = ""
  let token = ""
  let port = ""
  beforeAll(async () => {
    folder = await makeFolder()
    const env = { POSTLANE_DATA_DIR: join(folder.path, ".postlane") }
    server = runChild("src/runtime/entries/start.ts", [], {
      PORT: "0",
      SMTP_PORT: "0",
      SUBMISSION_PORT: "0",
      ...env
    })
    url = await server.line((line) => / API +(http:\S+)/.exec(line)?.[1])
    port = await server.line((line) => /SMTP submission listens on \S+:(\d+)/.exec(line)?.[1])
    const cli = runChild("src/runtime/entries/cli.ts", ["token", "create", "--right", "send"], env)
    token = await cli.line((line) => /^[\w-]{43}$/.exec(line)?.[0])
    await cli.ended
  })
  afterAll(async () => {
    server.signal("SIGTERM")
    await server.ended
    await folder.remove()
  })

  const inOutbox = (subject: string) =>
    until(`${subject} is in the outbox`, async () => {
      const { messages } = (await (await fetch(`${url}/dev/outbox`)).json()) as {
        readonly messages: ReadonlyArray<{ readonly subject: string }>
      }
      return messages.some((one) => one.subject === subject)
    })

  it("sends what comes by SMTP and by Resend's SDK with a token of the command line (FRONT-3, FRONT-8)", async () => {
    const transport = createTransport({
      host: "127.0.0.1",
      port: Number(port),
      auth: { user: "any", pass: token }
    })
    const { response } = await transport.sendMail({
      from: "shop@postlane.test",
      to: "ann@example.com",
      subject: "By SMTP",
      text: "t"
    })
    assert.match(response, /^250 2\.0\.0 queued as /)
    transport.close()
    const resend = new Resend(token, { baseUrl: `${url}/resend` })
    const { error } = await resend.emails.send({
      from: "shop@postlane.test",
      to: "ann@example.com",
      subject: "By Resend's SDK",
      text: "t"
    })
    assert.isNull(error)
    await inOutbox("By SMTP")
    await inOutbox("By Resend's SDK")
  })
})
