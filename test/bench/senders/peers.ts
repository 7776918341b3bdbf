import { SendEmailCommand, SESv2Client } from "@aws-sdk/client-sesv2"
import { createMessage, type Receipt, type Transport } from "@upyo/core"
import { PoolTransport } from "@upyo/pool"
import { createTransport } from "nodemailer"
import { Resend } from "resend"

import { FROM, HTML, next, type OpenSender, recipient, SUBJECT } from "./sender.ts"

const KEY_TAG = "postlane_key"

/** The vendor's client of Resend, called as our adapter calls it. */
export const rawResend: OpenSender = ({ providerUrl }) => {
  const client = new Resend("re_bench", { baseUrl: providerUrl })
  return Promise.resolve({
    send: async () => {
      const n = next()
      const { data, error } = await client.emails.send(
        {
          from: FROM,
          to: [recipient(n)],
          subject: SUBJECT,
          html: HTML,
          tags: [{ name: KEY_TAG, value: String(n).padStart(64, "0") }]
        },
        { idempotencyKey: `raw-${process.pid}-${n}` }
      )
      if (data === null) throw new Error(error.message)
    },
    close: () => Promise.resolve()
  })
}

/** The vendor's client of Amazon SES, with its retries off as in our adapter. */
export const rawSes: OpenSender = ({ providerUrl }) => {
  const client = new SESv2Client({
    region: "us-east-1",
    endpoint: providerUrl,
    credentials: { accessKeyId: "AKIABENCH", secretAccessKey: "bench" },
    maxAttempts: 1
  })
  return Promise.resolve({
    send: async () => {
      const n = next()
      const { MessageId } = await client.send(
        new SendEmailCommand({
          FromEmailAddress: FROM,
          Destination: { ToAddresses: [recipient(n)] },
          Content: {
            Simple: {
              Subject: { Data: SUBJECT, Charset: "UTF-8" },
              Body: { Html: { Data: HTML, Charset: "UTF-8" } }
            }
          },
          EmailTags: [{ Name: KEY_TAG, Value: String(n).padStart(64, "0") }]
        })
      )
      if (MessageId === undefined) throw new Error("no message id")
    },
    close: () => {
      client.destroy()
      return Promise.resolve()
    }
  })
}

/** nodemailer's SMTP pool, one connection a caller. */
export const smtpPool: OpenSender = ({ smtpPort }, concurrency) => {
  const transport = createTransport({
    pool: true,
    host: "127.0.0.1",
    port: smtpPort,
    ignoreTLS: true,
    maxConnections: concurrency,
    maxMessages: Number.POSITIVE_INFINITY
  })
  return Promise.resolve({
    send: () => transport.sendMail({ from: FROM, to: recipient(next()), subject: SUBJECT, html: HTML }),
    close: () => {
      transport.close()
      return Promise.resolve()
    }
  })
}

/** `@upyo/pool` with a primary and a fallback, over the thinnest transport that `fetch` allows. */
export const upyoPool: OpenSender = ({ providerUrl }) => {
  const thin: Transport = {
    id: "thin",
    send: async (message): Promise<Receipt> => {
      const response = await fetch(`${providerUrl}/emails`, {
        method: "POST",
        headers: { authorization: "Bearer re_bench", "content-type": "application/json" },
        body: JSON.stringify({
          from: `${message.sender.name} <${message.sender.address}>`,
          to: message.recipients.map(({ address }) => address),
          subject: message.subject,
          html: "html" in message.content ? message.content.html : ""
        })
      })
      const { id } = (await response.json()) as { readonly id: string }
      return { successful: true, messageId: id }
    },
    sendMany: () => {
      throw new Error("not used here")
    }
  }
  const pool = new PoolTransport({
    strategy: "priority",
    transports: [
      { transport: thin, priority: 2 },
      { transport: thin, priority: 1 }
    ]
  })
  return Promise.resolve({
    send: async () => {
      const receipt = await pool.send(
        createMessage({ from: FROM, to: recipient(next()), subject: SUBJECT, content: { html: HTML } })
      )
      if (!receipt.successful) throw new Error(receipt.errorMessages.join("; "))
    },
    close: () => Promise.resolve()
  })
}
