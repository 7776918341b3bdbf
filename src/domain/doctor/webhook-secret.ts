import { type Verdict, verdictsOf } from "./verdict.ts"

/** `malformed`: no signature can ever be valid. `short`: it works, but is shorter than the scheme demands. */
type WebhookSecretForm = "good" | "short" | "malformed"

const PREFIX = /^whsec_/
const BASE64 = /^([A-Za-z0-9+/]+)={0,2}$/

/** Fewest bytes of a signing key (Standard Webhooks specification, "Signature scheme": 24 to 64 bytes). */
const LEAST_BYTES = 24

/** Whether a text can be a signing secret of the Standard Webhooks scheme: base64, with or without `whsec_` before it. */
export const webhookSecretForm = (secret: string): WebhookSecretForm => {
  const text = secret.replace(PREFIX, "")
  const digits = BASE64.exec(text)?.[1]
  if (digits === undefined || text.length < 4 || digits.length % 4 === 1) return "malformed"
  return Math.floor((digits.length * 3) / 4) < LEAST_BYTES ? "short" : "good"
}

const { fail, ok, warn } = verdictsOf("webhooks")

const COPY = "copy the signing secret (whsec_…) of the endpoint from Resend's webhooks page"

/** The verdicts on `PROVIDERA_WEBHOOK_SECRET`, one a secret, and on `PROVIDERB_WEBHOOK_SECRET`. */
export const webhookVerdicts = (facts: {
  readonly providerA: ReadonlyArray<WebhookSecretForm>
  readonly providerBIsSet: boolean
  /** Which providers are in use: without their events, bounces and complaints are not seen. */
  readonly uses: { readonly providerA: boolean; readonly providerB: boolean }
}): ReadonlyArray<Verdict> => {
  const own = facts.providerA.map((form, index) => {
    const name = `PROVIDERA_WEBHOOK_SECRET${facts.providerA.length > 1 ? ` (number ${index + 1})` : ""}`
    switch (form) {
      case "good":
        return ok(`${name} is well-formed`)
      case "short":
        return warn({
          what: `${name} is short`,
          why: `it holds fewer than ${LEAST_BYTES} bytes, which can be guessed`,
          do: COPY
        })
      case "malformed":
        return fail({
          what: `${name} is malformed`,
          why: "it is not base64, so that no signature holds and every event is refused",
          do: COPY
        })
    }
  })
  const missing = (name: string, how: string) =>
    warn({
      what: `${name} is unset`,
      why: "every event is refused: bounces and complaints are neither logged nor suppressed",
      do: how
    })
  const providerA =
    own.length === 0 && facts.uses.providerA
      ? [missing("PROVIDERA_WEBHOOK_SECRET", `add the webhook, then ${COPY}`)]
      : own
  if (facts.providerBIsSet) return [...providerA, ok("PROVIDERB_WEBHOOK_SECRET is set")]
  if (!facts.uses.providerB) return providerA
  const how =
    "set it to a long random text, and the API destination's connection to send it as X-Webhook-Secret"
  return [...providerA, missing("PROVIDERB_WEBHOOK_SECRET", how)]
}
