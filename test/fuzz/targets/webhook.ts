import { createHmac } from "node:crypto"
import { readFileSync } from "node:fs"

import * as fc from "fast-check"

import { decodeWebhookEvent } from "../../../src/adapters/resend/webhook-event.ts"
import { JSON_WORDS, jsonSeeds, strangeJson } from "../json.ts"
import { openServer, post, SIGNING_SECRET } from "../server.ts"
import type { Target } from "../target.ts"

const SAMPLES = JSON.parse(
  readFileSync(new URL("../../support/vendors/resend-events.json", import.meta.url), "utf8")
) as ReadonlyArray<unknown>

/** The first line says how the body is signed. */
const SIGNED = ["svix", "webhook", "none", "forged"] as const

const withLine = (line: string, body: Buffer): Buffer => Buffer.concat([Buffer.from(`${line}\n`), body])

const signature = (family: string, body: Buffer): Readonly<Record<string, string>> => {
  const timestamp = String(Math.floor(Date.now() / 1000))
  const key = Buffer.from(SIGNING_SECRET.slice("whsec_".length), "base64")
  const mac = createHmac("sha256", key).update(`msg_1.${timestamp}.`).update(body).digest("base64")
  return {
    [`${family}-id`]: "msg_1",
    [`${family}-timestamp`]: timestamp,
    [`${family}-signature`]: `v1,${mac}`
  }
}

/** Any other first line is the signature, as it stands. */
const headersOf = (line: string, body: Buffer): Readonly<Record<string, string>> => {
  if (line === "none") return {}
  if (line === "svix" || line === "webhook") return signature(line, body)
  const text = line.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, 4_000)
  return { ...signature("svix", body), "svix-signature": line === "forged" ? "v1,AAAA" : text }
}

/** The decoder never throws. */
const decoded = (body: Buffer): string => {
  try {
    return decodeWebhookEvent(JSON.parse(body.toString("utf8")))._tag
  } catch (cause) {
    if (cause instanceof SyntaxError) return "no JSON"
    throw cause
  }
}

export const webhook: Target = {
  name: "webhook",
  about: "webhook bodies, signed, unsigned and forged, posted to a running server",
  limitMs: 20_000,
  memoryMb: 1_024,
  guided: true,
  seeds: () => jsonSeeds(SAMPLES).flatMap((body) => SIGNED.map((line) => withLine(line, body))),
  made: fc
    .tuple(fc.constantFrom(...SIGNED, "svix", "svix", "svix", "v1,,, v1 v2,="), strangeJson(SAMPLES))
    .map(([line, body]) => withLine(line, body)),
  words: [
    ...JSON_WORDS,
    "svix\n",
    '"type":"email.bounced"',
    '"email_id":"m"',
    '"tags":',
    '"to":["a@x.test"]'
  ],
  open: (serve) =>
    openServer(serve, async (server, input) => {
      const at = input.indexOf(10)
      const [line, body] = [input.subarray(0, Math.max(0, at)).toString("latin1"), input.subarray(at + 1)]
      const read = decoded(body)
      const answered = await post(server, "/functions/v1/provider-a-webhook", {
        body,
        headers: { "content-type": "application/json", ...headersOf(line, body) }
      })
      return `${answered}, ${read}`
    })
}
