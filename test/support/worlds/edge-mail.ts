import { createTransport, type SendMailOptions } from "nodemailer"

import type { EdgeWorker } from "../processes/edge-worker.ts"

export const INBOUND = "convert@in.test"

/** What the routing service writes on top of each mail. */
export const verdict = (dmarc: string, domain = "reader.test") =>
  `Authentication-Results: mx.cloudflare.net;\r\n\tdkim=pass header.d=${domain};\r\n\tdmarc=${dmarc} header.from=${domain} policy.dmarc=none;\r\n\tspf=pass smtp.mailfrom=${domain}\r\n`

/** A mail as it is on the wire, the routing service's verdict on top of it. */
export const rawMail = async (mail: SendMailOptions, above = verdict("pass")): Promise<Buffer> => {
  const composer = createTransport({ streamTransport: true, buffer: true, newline: "windows" })
  const { message } = await composer.sendMail({ to: "convert@legacy.test", ...mail })
  return Buffer.concat([Buffer.from(above), message as Buffer])
}

/** How the worker's handler ended. */
export interface Outcome {
  readonly outcome: "ok" | "exception"
  readonly rejectReason?: string | null
}

/** Hands a mail over as the platform does. */
export const trigger = async (
  worker: EdgeWorker,
  mail: Buffer,
  envelope: { readonly from: string; readonly to?: string }
): Promise<Outcome> => {
  const parameters = new URLSearchParams({ from: envelope.from, to: envelope.to ?? INBOUND, format: "json" })
  const { status, text } = await worker.request(`/cdn-cgi/handler/email?${parameters}`, {
    method: "POST",
    body: mail
  })
  if (status !== 200 && status !== 500) throw new Error(`the simulator takes no such mail: ${status} ${text}`)
  return status === 500 && !text.startsWith("{") ? { outcome: "exception" } : JSON.parse(text)
}

/** Has the schedule come. */
export const tick = async (worker: EdgeWorker): Promise<string> =>
  (await worker.request("/cdn-cgi/handler/scheduled?cron=*+*+*+*+*", { method: "GET" })).text
