import { Clock, Context, Data, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto/SecureRandom"

import { digestContent, MAX_DIGEST_EVENTS } from "../../domain/delivery/audit-digest-content.ts"
import {
  type DigestCadence,
  type DigestPeriod,
  duePeriod
} from "../../domain/delivery/audit-digest-period.ts"
import type { DigestActivity } from "../../domain/delivery/digest-activity.ts"
import type { SendRequest } from "../../domain/mail/message.ts"
import {
  AuditDigestStore,
  type DigestEnd,
  type DigestSubscription,
  SendRelay
} from "../../ports/delivery/audit-digest-store.ts"
import { MailTemplates } from "../../ports/mail/mail-provider.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"

/** `source` of digests. */
const DIGEST_SOURCE = "api:audit-digest"

/** `INTERNAL_SEND_EMAIL_URL` is unset. */
export class RelayUnconfigured extends Data.TaggedError("RelayUnconfigured")<{}> {}

/** The settings that digests depend on. */
export class AuditDigestConfig extends Context.Service<
  AuditDigestConfig,
  {
    /** Where the pages are, without a slash at its end. */
    readonly baseUrl: string
  }
>()("postlane/application/AuditDigestConfig") {}

/** The result of one run; digests that went out before, or that another run works on, are not counted. */
export interface DigestReport {
  /** Nothing failed. */
  readonly ok: boolean
  readonly sent: number
  readonly suppressed: number
  readonly failed: number
}

/** The scheduled digest (EVENT-50). */
export class AuditDigest extends Context.Service<
  AuditDigest,
  {
    /**
     * Sends the digest of the last finished period to every subscription that has not got it. Running it again sends
     * nothing twice and retries the failed ones. `patient`, for a periodic caller: failed ones are not retried at once, and
     * only those who had subscribed before the period ended get it.
     */
    readonly run: (options: {
      readonly cadence: DigestCadence
      readonly patient?: boolean
    }) => Effect.Effect<DigestReport, StoreUnavailable | RelayUnconfigured>
  }
>()("postlane/application/AuditDigest") {}

/** Subscriptions read in one query. */
const PAGE = 200

/** Mails under way at once. */
const AT_ONCE = 4

/** How long a claim is held before its run counts as dead, milliseconds: longer than the relay client's time-out. */
const DIGEST_LEASE_MS = 180_000

/** The idempotency key of one digest: the relay sends it once, however many runs ask. */
const keyOf = ({ id }: DigestSubscription, { cadence, from }: DigestPeriod): string =>
  `audit-digest/${id}/${cadence}/${new Date(from).toISOString()}`

/** What every run works with. */
const makeParts = Effect.gen(function* () {
  return {
    config: yield* AuditDigestConfig,
    store: yield* AuditDigestStore,
    relay: yield* SendRelay,
    templates: yield* MailTemplates,
    random: yield* SecureRandom
  }
})
type Parts = Effect.Success<typeof makeParts>

const requestOf = Effect.fnUntraced(function* (
  { config, templates }: Parts,
  subscription: DigestSubscription,
  period: DigestPeriod,
  activity: DigestActivity
): Effect.fn.Return<SendRequest> {
  const forAdmins = subscription.customerId === null
  const { baseUrl } = config
  const rendered = yield* templates.render(digestContent({ period, activity, baseUrl, forAdmins }))
  return {
    to: subscription.email,
    ...rendered,
    category: "notification",
    source: DIGEST_SOURCE,
    idempotencyKey: keyOf(subscription, period)
  }
})

const post = ({ relay }: Parts, request: SendRequest): Effect.Effect<DigestEnd> =>
  relay.send(request).pipe(
    Effect.map((state): DigestEnd => ({ state })),
    Effect.catch(({ certain, message }) =>
      Effect.succeed<DigestEnd>({ state: "failed", certain, error: message })
    )
  )

/** Sends one subscription's digest; its failure stops no other. */
const deliver = Effect.fnUntraced(
  function* (
    parts: Parts,
    subscription: DigestSubscription,
    period: DigestPeriod,
    activity: Effect.Effect<DigestActivity, StoreUnavailable>,
    patient: boolean
  ) {
    const { random, store } = parts
    const request = yield* requestOf(parts, subscription, period, yield* activity)
    const owner = yield* random.uuidV7()
    const key = { subscriptionId: subscription.id, period }
    const claim = yield* store.claim({ ...key, owner, leaseMs: DIGEST_LEASE_MS, patient, request })
    if (claim._tag === "Unknown") {
      yield* Effect.logError("it is unknown whether a digest went out, and it is too old to be sent again")
      return "failed" as const
    }
    if (claim._tag !== "Claimed") return "none" as const
    const end = yield* post(parts, claim.request)
    if (end.state === "failed") {
      yield* Effect.logError("a digest did not go out: the next run tries again", {
        error: end.error,
        certain: end.certain
      })
    }
    yield* store
      .settle({ ...key, owner, end })
      .pipe(
        Effect.catch((error) =>
          Effect.logError("the outcome of a digest is not recorded; its next run asks again", error.cause)
        )
      )
    return end.state
  },
  (effect, _parts, subscription) =>
    effect.pipe(
      Effect.catch((error) =>
        Effect.as(
          Effect.logError("a digest could not be prepared: the next run tries again", error.cause),
          "failed" as const
        )
      ),
      Effect.annotateLogs({ subscription: subscription.id })
    )
)

/** Sends what is due, a page of subscriptions after the other. */
const run = Effect.fnUntraced(function* (
  parts: Parts,
  { cadence, patient = false }: { readonly cadence: DigestCadence; readonly patient?: boolean }
) {
  const { relay, store } = parts
  if (!relay.configured) return yield* new RelayUnconfigured()
  const period = duePeriod(cadence, yield* Clock.currentTimeMillis)
  const counts = { none: 0, sent: 0, suppressed: 0, failed: 0 }
  const limit = MAX_DIGEST_EVENTS
  // The service's activity is the same for every admin: read it once.
  const whole = yield* Effect.cached(store.activity({ period, customer: undefined, limit }))
  const activityOf = ({ customerId, email }: DigestSubscription) =>
    customerId === null ? whole : store.activity({ period, customer: { id: customerId, email }, limit })
  // A scheduled run skips subscribers who joined after the period ended.
  const createdBefore = patient ? period.to : undefined
  let after: string | undefined
  do {
    const page = yield* store.pending({ period, after, limit: PAGE, createdBefore })
    const ends = yield* Effect.forEach(
      page,
      (subscription) => deliver(parts, subscription, period, activityOf(subscription), patient),
      { concurrency: AT_ONCE }
    )
    for (const end of ends) counts[end] += 1
    after = page.length < PAGE ? undefined : page.at(-1)?.id
  } while (after !== undefined)
  const { failed, sent, suppressed } = counts
  return { ok: failed === 0, sent, suppressed, failed }
})

export const layer: Layer.Layer<
  AuditDigest,
  never,
  AuditDigestConfig | AuditDigestStore | SendRelay | MailTemplates | SecureRandom
> = Layer.effect(
  AuditDigest,
  Effect.map(makeParts, (parts) => AuditDigest.of({ run: (options) => run(parts, options) }))
)
