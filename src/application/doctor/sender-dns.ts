import { Effect } from "effect"

import { dmarcNames, isDmarc } from "../../domain/doctor/dmarc.ts"
import {
  dkimVerdict,
  dmarcVerdict,
  type Lookup,
  mxVerdict,
  spfVerdict
} from "../../domain/doctor/dns-records.ts"
import type { IdentityFacts } from "../../domain/doctor/provider-b.ts"
import { type Verdict, verdictsOf } from "../../domain/doctor/verdict.ts"
import { Dns, type DnsFailure } from "../../ports/doctor/examinations.ts"

const { fail, warn } = verdictsOf("dns")

/** A look-up as a fact: also that it failed. */
export const lookup = <A>(records: Effect.Effect<ReadonlyArray<A>, DnsFailure>): Effect.Effect<Lookup<A>> =>
  Effect.match(records, {
    onFailure: ({ message }): Lookup<A> => ({ _tag: "Unknown", why: message }),
    onSuccess: (found): Lookup<A> => ({ _tag: "Found", records: found })
  })

/** The DMARC record nearest to the domain, walking up. */
const findDmarc = Effect.fnUntraced(function* (domain: string) {
  const dns = yield* Dns
  for (const name of dmarcNames(domain)) {
    const txt = yield* lookup(dns.txt(name))
    if (txt._tag === "Unknown") return { found: undefined, unknown: txt.why }
    if (txt.records.some(isDmarc)) return { found: { name, txt: txt.records }, unknown: undefined }
  }
  return { found: undefined, unknown: undefined }
})

const dkimVerdicts = Effect.fnUntraced(function* (sender: string, identity: IdentityFacts | undefined) {
  const dns = yield* Dns
  if (identity === undefined) {
    return [
      warn({
        what: "the three DKIM records cannot be checked",
        why: "their names are known to Amazon SES alone, which did not answer",
        do: "mend what the checks of provider_b say, and run doctor again"
      })
    ]
  }
  const { easy, host, tokens } = identity.dkim
  if (!easy) return []
  if (tokens.length === 0) {
    return [
      fail({
        what: "there are no DKIM records to publish",
        why: "Easy DKIM was never set up for the identity",
        do: "switch Easy DKIM (RSA 2048) on for it"
      })
    ]
  }
  return yield* Effect.forEach(
    tokens,
    (token) =>
      Effect.map(lookup(dns.cname(`${token}._domainkey.${sender}`)), (cname) =>
        dkimVerdict({ token, sender, host, cname })
      ),
    { concurrency: "unbounded" }
  )
})

/** The verdicts on the sender domain's DNS. */
export const senderDnsVerdicts = Effect.fn("doctor.dns")(function* (options: {
  /** Lower-case. */
  readonly sender: string
  readonly region: string
  /** `undefined` where SES does not answer. */
  readonly identity: IdentityFacts | undefined
}): Effect.fn.Return<ReadonlyArray<Verdict>, never, Dns> {
  const { identity, region, sender } = options
  const dns = yield* Dns
  const mailFrom = identity === undefined ? `bounce.${sender}` : identity.mailFrom?.domain.toLowerCase()
  const envelope =
    mailFrom === undefined
      ? []
      : [
          Effect.map(lookup(dns.mx(mailFrom)), (mx) => [mxVerdict({ mailFrom, region, mx })]),
          Effect.map(lookup(dns.txt(mailFrom)), (txt) => [spfVerdict({ mailFrom, txt })])
        ]
  // Where SES does not answer, the record is judged by the recommended set-up.
  const signsAs = identity === undefined || identity.dkim.signing ? sender : undefined
  const dmarc = Effect.map(findDmarc(sender), (record) => [
    dmarcVerdict({ sender, ...record, signsAs, mailFrom })
  ])
  const found = yield* Effect.all([dkimVerdicts(sender, identity), ...envelope, dmarc], {
    concurrency: "unbounded"
  })
  return found.flat()
})
