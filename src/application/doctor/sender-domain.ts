import { Clock, Context, Effect, Layer, Semaphore } from "effect"

import type { Lookup } from "../../domain/doctor/dns-records.ts"
import { checkRecord, type Published, type SenderDomainReport } from "../../domain/doctor/sender-domain.ts"
import type { DnsRecord } from "../../domain/doctor/sender-records.ts"
import { Dns, type DnsFailure } from "../../ports/doctor/examinations.ts"
import { type AskedRecords, SenderRecords } from "../../ports/doctor/sender-records.ts"
import { withDeadline } from "../deadline.ts"
import { lookup, senderDnsVerdicts } from "./sender-dns.ts"

/** How long the providers are waited for, and how long the name servers are: a page waits for both. */
const ASK_WITHIN = "10 seconds"
const LOOK_WITHIN = "10 seconds"

/** How long a look is shown again, milliseconds: records change by hand. */
export const LOOK_KEPT_MS = 300_000

/** How long also to somebody who asks for a fresh one. */
export const LOOK_AGAIN_MS = 10_000

/** Look-ups at once. */
const AT_ONCE = 8

/** The sender domain's records, and whether they are published. */
export class SenderDomain extends Context.Service<
  SenderDomain,
  {
    /** The last look while it is kept. `fresh`: looks again, unless it has just been done. */
    readonly look: (options: { readonly fresh: boolean }) => Effect.Effect<SenderDomainReport>
  }
>()("postlane/application/SenderDomain") {}

const unanswered: AskedRecords = {
  records: [],
  notes: [`The providers did not say within ${ASK_WITHIN} which records they ask for.`],
  providerB: undefined
}

const NO_ANSWER: Lookup<never> = { _tag: "Unknown", why: `no answer within ${LOOK_WITHIN}` }

const within = <A>(found: Effect.Effect<Lookup<A>>): Effect.Effect<Lookup<A>> =>
  withDeadline(found, { duration: LOOK_WITHIN, onTimeout: () => Effect.succeed(NO_ANSWER) })

const publishedOf = Effect.fnUntraced(function* ({
  name,
  type
}: DnsRecord): Effect.fn.Return<Published, never, Dns> {
  const dns = yield* Dns
  const found = (records: Effect.Effect<ReadonlyArray<string>, DnsFailure>) => within(lookup(records))
  switch (type) {
    case "CNAME":
      return { type, found: yield* found(dns.cname(name)) }
    case "MX":
      return {
        type,
        found: yield* found(Effect.map(dns.mx(name), (records) => records.map(({ exchange }) => exchange)))
      }
    case "TXT":
      return { type, found: yield* found(dns.txt(name)) }
    default:
      return { type: "other" }
  }
})

const lookAt = Effect.fnUntraced(function* ({
  asked,
  domain,
  region
}: SenderRecords["Service"]): Effect.fn.Return<SenderDomainReport, never, Dns> {
  const { notes, providerB, records } = yield* withDeadline(asked, {
    duration: ASK_WITHIN,
    onTimeout: () => Effect.succeed(unanswered)
  })
  const checked = yield* Effect.forEach(
    records,
    (record) => Effect.map(publishedOf(record), (published) => checkRecord(record, published)),
    { concurrency: AT_ONCE }
  )
  const verdicts =
    providerB === undefined
      ? []
      : yield* withDeadline(senderDnsVerdicts({ sender: domain, region, identity: providerB.identity }), {
          duration: LOOK_WITHIN,
          onTimeout: () => Effect.succeed([])
        })
  return {
    domain,
    at: yield* Clock.currentTimeMillis,
    records: checked,
    advice: verdicts.filter((verdict) => verdict.status !== "ok"),
    notes
  }
})

/** One look at a time, which all that ask meanwhile share. */
export const layer: Layer.Layer<SenderDomain, never, Dns | SenderRecords> = Layer.effect(
  SenderDomain,
  Effect.gen(function* () {
    const records = yield* SenderRecords
    const dns = yield* Dns
    const turn = Semaphore.makeUnsafe(1)
    let last: SenderDomainReport | undefined
    return SenderDomain.of({
      look: ({ fresh }) =>
        turn.withPermits(1)(
          Effect.gen(function* () {
            const now = yield* Clock.currentTimeMillis
            const age = last === undefined ? Number.POSITIVE_INFINITY : now - last.at
            if (last !== undefined && age < (fresh ? LOOK_AGAIN_MS : LOOK_KEPT_MS)) return last
            last = yield* Effect.provideService(lookAt(records), Dns, dns)
            return last
          })
        )
    })
  })
)
