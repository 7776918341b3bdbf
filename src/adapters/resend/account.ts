import { Effect, Option, Redacted, Schema } from "effect"

import type { ProviderAFacts } from "../../domain/doctor/provider-a.ts"
import { append } from "../../domain/lists.ts"
import { failureText } from "../../domain/mail/failover.ts"
import { classifyResendError, whyNoAnswer } from "./classify.ts"
import { makeClient, type ResendOptions, VENDOR_URL } from "./resend-provider.ts"

const Domains = Schema.Struct({
  data: Schema.Array(Schema.Struct({ id: Schema.String, name: Schema.String, status: Schema.String })),
  has_more: Schema.optionalKey(Schema.Boolean)
})
type Page = typeof Domains.Type

const Domain = Schema.Struct({
  records: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      type: Schema.String,
      value: Schema.String,
      priority: Schema.optionalKey(Schema.Number)
    })
  )
})
const decodeDomain = Schema.decodeUnknownOption(Domain)
const decodeDomains = Schema.decodeUnknownOption(Domains)

/** The vendor's largest page. */
const PAGE = 100
/** More domains than this are not looked through. */
const MAX_PAGES = 10

/** Refused because the key is for sending only, which proves that it is valid (Resend's error reference, 401). */
const SEND_ONLY = /only send emails/i

const factsOf = (error: unknown, { address, secret }: Omit<Reader, "client">): ProviderAFacts => {
  const silence = whyNoAnswer(error)
  if (silence !== undefined) {
    return { _tag: "Unknown", why: failureText(`there is no answer from ${address}: ${silence}`, [secret]) }
  }
  const { kind, code, message } = classifyResendError(error)
  if (code === "restricted_api_key" && SEND_ONLY.test(message)) return { _tag: "SendOnly" }
  const why = failureText(code === undefined ? message : `${code}: ${message}`, [secret])
  const busy = code === "rate_limit_exceeded" || code === "service_unavailable"
  return kind === "unavailable" && !busy ? { _tag: "Refused", why } : { _tag: "Unknown", why }
}

/** A vendor's client, and what no message may repeat. */
interface Reader {
  readonly client: NonNullable<ReturnType<typeof makeClient>>
  readonly secret: string
  readonly address: string
}

const malformed: ProviderAFacts = {
  _tag: "Refused",
  why: "the key is malformed: it holds blanks or other characters"
}

const readerOf = ({ apiKey, baseUrl, userAgent }: ResendOptions): Effect.Effect<Reader, ProviderAFacts> => {
  const secret = Redacted.value(apiKey)
  const address = baseUrl ?? VENDOR_URL
  const client = makeClient(secret, address, undefined, userAgent)
  return client === undefined ? Effect.fail(malformed) : Effect.succeed({ client, secret, address })
}

/** One call, its answer decoded. */
const ask = <A>(
  reader: Reader,
  call: (signal: AbortSignal) => Promise<{ readonly data: unknown; readonly error: unknown }>,
  decode: (data: unknown) => Option.Option<A>,
  what: string
): Effect.Effect<A, ProviderAFacts> =>
  Effect.tryPromise({ try: call, catch: (cause) => factsOf(cause, reader) }).pipe(
    Effect.flatMap(({ data, error }) => {
      if (error !== null) return Effect.fail(factsOf(error, reader))
      const page = decode(data)
      return Option.isSome(page)
        ? Effect.succeed(page.value)
        : Effect.fail<ProviderAFacts>({ _tag: "Unknown", why: `the answer is no ${what}` })
    })
  )

const domainsOf = Effect.fnUntraced(function* (reader: Reader) {
  const domains: Array<Page["data"][number]> = []
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const after = domains.at(-1)?.id
    const { data, has_more: more = false } = yield* ask(
      reader,
      (signal) =>
        reader.client.domains.list({ limit: PAGE, ...(after === undefined ? {} : { after }) }, { signal }),
      decodeDomains,
      "list of domains"
    )
    append(domains, data)
    if (!more || data.length === 0) break
  }
  return domains
})

/** Asks for the account's domains: whether the key is valid and which domains are verified. Sends nothing. */
export const examineAccount = (options: ResendOptions): Effect.Effect<ProviderAFacts> =>
  Effect.flatMap(readerOf(options), domainsOf).pipe(
    Effect.map((domains) => ({ _tag: "Domains", domains }) satisfies ProviderAFacts),
    Effect.catch(Effect.succeed)
  )

/** The records that the vendor asks for under the sender domain; fails with why they are not known. */
export const readDomainRecords = Effect.fnUntraced(function* (options: ResendOptions, sender: string) {
  const reader = yield* readerOf(options)
  const found = (yield* domainsOf(reader)).find(({ name }) => name.toLowerCase() === sender)
  if (found === undefined) {
    return yield* Effect.fail<ProviderAFacts>({
      _tag: "Unknown",
      why: `${sender} is no domain of this account: add it at resend.com/domains`
    })
  }
  const { records } = yield* ask(
    reader,
    (signal) => reader.client.domains.get(found.id, { signal }),
    decodeDomain,
    "domain"
  )
  return records
})
