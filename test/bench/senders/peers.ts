import { SendEmailCommand, SESv2Client } from "@aws-sdk/client-sesv2"
import { createMessage, type Receipt, type Transport } from "@upyo/core"
import { PoolTransport } from "@upyo/pool"
import { createTransport } from "nodemailer"
import { Resend } from "resend"

import { FROM, HTML, next, type OpenSender, recipient, SUBJECT } from "./sender.ts"

const KEY_TAG = "postlane_key"

/** A vendor's SDK, called as our adapter calls it. */
export interface VendorClient {
  /** Gives the message's id. */
  readonly send: (mail: VendorMail, key: string) => Promise<string>
  readonly close: () => void
}

interface VendorMail {
  readonly n: number
  readonly to: string
  readonly subject: string
  readonly html: string
}

export const resendClient = (providerUrl: string): VendorClient => {
  const client = new Resend("re_bench", { baseUrl: providerUrl })
  return {
    send: async ({ html, n, subject, to }, idempotencyKey) => {
      const { data, error } = await client.emails.send(
        {
          from: FROM,
          to: [to],
          subject,
          html,
          tags: [{ name: KEY_TAG, value: String(n).padStart(64, "0") }]
        },
        { idempotencyKey }
      )
      if (data === null) throw new Error(error.message)
      return data.id
    },
    close: () => undefined
  }
}

/** With its retries off as in our adapter. */
export const sesClient = (providerUrl: string): VendorClient => {
  const client = new SESv2Client({
    region: "us-east-1",
    endpoint: providerUrl,
    credentials: { accessKeyId: "AKIABENCH", secretAccessKey: "bench" },
    maxAttempts: 1
  })
  return {
    send: async ({ html, n, subject, to }) => {
      const { MessageId } = await client.send(
        new SendEmailCommand({
          FromEmailAddress: FROM,
          Destination: { ToAddresses: [to] },
          Content: {
            Simple: {
              Subject: { Data: subject, Charset: "UTF-8" },
              Body: { Html: { Data: html, Charset: "UTF-8" } }
            }
          },
          EmailTags: [{ Name: KEY_TAG, Value: String(n).padStart(64, "0") }]
        })
      )
      if (MessageId === undefined) throw new Error("no message id")
      return MessageId
    },
    close: () => client.destroy()
  }
}

/** A vendor's SDK and nothing else. */
const raw =
  (open: (providerUrl: string) => VendorClient): OpenSender =>
  ({ providerUrl }) => {
    const client = open(providerUrl)
    return Promise.resolve({
      send: () => {
        const n = next()
        return client.send({ n, to: recipient(n), subject: SUBJECT, html: HTML }, `raw-${process.pid}-${n}`)
      },
      close: () => Promise.resolve(client.close())
    })
  }
export const rawResend = raw(resendClient)
export const rawSes = raw(sesClient)

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
