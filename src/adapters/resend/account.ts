import { Effect, Redacted, Schema } from "effect"

import type { ProviderAFacts } from "../../domain/doctor/provider-a.ts"
import { append } from "../../domain/lists.ts"
import { failureText } from "../../domain/mail/failover.ts"
import { classifyResendError } from "./classify.ts"
import { makeClient, type ResendOptions, VENDOR_URL } from "./resend-provider.ts"

const Domains = Schema.Struct({
  data: Schema.Array(Schema.Struct({ id: Schema.String, name: Schema.String, status: Schema.String })),
  has_more: Schema.optionalKey(Schema.Boolean)
})
type Page = typeof Domains.Type
const decodeDomains = Schema.decodeUnknownOption(Domains)

/** The vendor's largest page. */
const PAGE = 100
/** More domains than this are not looked through. */
const MAX_PAGES = 10

/** Refused because the key is for sending only, which proves that it is valid (Resend's error reference, 401). */
const SEND_ONLY = /only send emails/i

const factsOf = (error: unknown, secret: string): ProviderAFacts => {
  const { kind, code, message } = classifyResendError(error)
  if (code === "restricted_api_key" && SEND_ONLY.test(message)) return { _tag: "SendOnly" }
  const why = failureText(code === undefined ? message : `${code}: ${message}`, [secret])
  const busy = code === "rate_limit_exceeded" || code === "service_unavailable"
  return kind === "unavailable" && !busy ? { _tag: "Refused", why } : { _tag: "Unknown", why }
}

/** Asks for the account's domains: whether the key is valid and which domains are verified. Sends nothing. */
export const examineAccount = (options: ResendOptions): Effect.Effect<ProviderAFacts> => {
  const apiKey = Redacted.value(options.apiKey)
  const client = makeClient(apiKey, options.baseUrl ?? VENDOR_URL)
  if (client === undefined) {
    return Effect.succeed({
      _tag: "Refused",
      why: "the key is malformed: it holds blanks or other characters"
    })
  }
  const list = (after: string | undefined) =>
    Effect.tryPromise({
      try: (signal) =>
        client.domains.list({ limit: PAGE, ...(after === undefined ? {} : { after }) }, { signal }),
      catch: (cause): ProviderAFacts => factsOf(cause, apiKey)
    }).pipe(
      Effect.flatMap(({ data, error }) => {
        if (error !== null) return Effect.fail(factsOf(error, apiKey))
        const page = decodeDomains(data)
        return page._tag === "Some"
          ? Effect.succeed(page.value)
          : Effect.fail<ProviderAFacts>({ _tag: "Unknown", why: "the answer is no list of domains" })
      })
    )
  return Effect.gen(function* () {
    const domains: Array<Page["data"][number]> = []
    for (let pages = 0; pages < MAX_PAGES; pages += 1) {
      const { data, has_more: more = false } = yield* list(domains.at(-1)?.id)
      append(domains, data)
      if (!more || data.length === 0) break
    }
    return { _tag: "Domains", domains } satisfies ProviderAFacts
  }).pipe(Effect.catch(Effect.succeed))
}
