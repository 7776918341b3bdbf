import { Context, Data, Duration, Effect, Layer } from "effect"
import { Digest, sha256 } from "effect/crypto/Digest"

import type { FieldIssue } from "../../domain/field-issues.ts"
import { type SenderToken, senderIssues } from "../../domain/mail/sender-token.ts"
import type { Category } from "../../domain/mail/suppression/policy.ts"
import { SenderTokens } from "../../ports/mail/sender-tokens.ts"
import { Allowances } from "../../ports/shared-allowances.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { MailerConfig } from "../mail/sending.ts"
import { uptime } from "../uptime.ts"

/** The text is no token that is in force. */
class UnknownSender extends Data.TaggedError("UnknownSender") {}

/** More mails than the token's rate, or more wrong tokens from one place than are looked up. */
export class SenderTooFast extends Data.TaggedError("SenderTooFast")<{
  readonly message: string
  /** At least 1. */
  readonly retryAfterSeconds: number
}> {}

/** The token does not allow this mail. */
export class SenderNotAllowed extends Data.TaggedError("SenderNotAllowed")<{
  readonly issues: ReadonlyArray<FieldIssue>
}> {}

/** Wrong tokens of one network that are looked up at once; refilled evenly over the window. */
const GUESSES = { limit: 20, window: "10 minutes" } as const

/** Limit on networks that wait, and on tokens that are remembered. Beyond it the oldest is dropped. */
const MAX_KEPT = 10_000

/** What is asked of a mail before it is queued or sent. */
interface Sent {
  readonly category: Category
  readonly from?: string | undefined
}

/** Programs that send with a token (FRONT-1): who they are, and what they may. */
export class SenderAccess extends Context.Service<
  SenderAccess,
  {
    /**
     * Returns what a token allows, by its text. Too many wrong tokens from one `network` make it wait. Tokens that worked in this
     * process before are exempt, so that one program with an old token does not stop its neighbours.
     */
    readonly identify: (
      text: string,
      network: string
    ) => Effect.Effect<SenderToken, UnknownSender | SenderTooFast | StoreUnavailable>
    /** Whether the token allows these mails. */
    readonly allow: (token: SenderToken, mails: ReadonlyArray<Sent>) => Effect.Effect<void, SenderNotAllowed>
    /** Takes so many mails of the token's rate. */
    readonly take: (
      token: SenderToken,
      mails: number
    ) => Effect.Effect<void, SenderTooFast | SenderNotAllowed>
  }
>()("postlane/application/SenderAccess") {}

const encoder = new TextEncoder()

const secondsOf = (wait: Duration.Duration): number => Math.max(1, Math.ceil(Duration.toSeconds(wait)))

/** Adds an entry as the newest. */
const keep = <A>(kept: Map<string, A>, key: string, value: A): void => {
  const [oldest] = kept.keys()
  if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest)
  kept.delete(key)
  kept.set(key, value)
}

/** Networks with too many wrong tokens: nothing is looked up for them before their time. */
const makeWaitingRoom = () => {
  const until = new Map<string, number>()
  return {
    /** How long it still waits, milliseconds; 0: not at all. */
    left: (network: string, now: number): number => {
      const left = (until.get(network) ?? now) - now
      if (left <= 0) until.delete(network)
      return Math.max(0, left)
    },
    put: (network: string, at: number): void => keep(until, network, at)
  }
}

const tooManyGuesses = (retryAfterSeconds: number) =>
  new SenderTooFast({
    message: `Too many wrong tokens from this address. Retry in ${retryAfterSeconds} s`,
    retryAfterSeconds
  })

/** The place of a mail among others, before the path of its field. */
const placed = (at: number, count: number, { message, path }: FieldIssue): FieldIssue => ({
  path: count === 1 ? path : `emails.${at}.${path}`,
  message
})

export const layer: Layer.Layer<SenderAccess, never, SenderTokens | Allowances | MailerConfig | Digest> =
  Layer.effect(
    SenderAccess,
    Effect.gen(function* () {
      const tokens = yield* SenderTokens
      const allowances = yield* Allowances
      const { defaults } = yield* MailerConfig
      const digest = yield* Digest
      const waiting = makeWaitingRoom()
      /** Hashes of tokens that worked. */
      const worked = new Map<string, true>()
      return SenderAccess.of({
        identify: Effect.fnUntraced(function* (text, network) {
          const left = waiting.left(network, yield* uptime)
          const hash = yield* digest.digestHex(sha256, encoder.encode(text))
          if (left > 0 && !worked.has(hash)) return yield* tooManyGuesses(secondsOf(Duration.millis(left)))
          const token = yield* tokens.use(text)
          if (token !== undefined) {
            keep(worked, hash, true)
            return token
          }
          const wait = yield* allowances.take({ key: `wrong sender tokens from ${network}`, ...GUESSES })
          if (wait === undefined) return yield* new UnknownSender()
          waiting.put(network, (yield* uptime) + Duration.toMillis(wait))
          return yield* tooManyGuesses(secondsOf(wait))
        }),
        allow: Effect.fnUntraced(function* (token, mails) {
          const issues = mails.flatMap(({ category, from }, at) =>
            senderIssues(token, { category, from }, defaults).map((issue) => placed(at, mails.length, issue))
          )
          if (issues.length > 0) return yield* new SenderNotAllowed({ issues })
        }),
        take: Effect.fnUntraced(function* ({ id, ratePerMinute }, mails) {
          if (ratePerMinute === undefined) return
          if (mails > ratePerMinute) {
            const message = `the token may send ${ratePerMinute} mails a minute, and a batch no more than these`
            return yield* new SenderNotAllowed({ issues: [{ path: "emails", message }] })
          }
          const wait = yield* allowances.take({
            key: `mails of sender token ${id}`,
            limit: ratePerMinute,
            window: "1 minute",
            amount: mails
          })
          if (wait === undefined) return
          const retryAfterSeconds = secondsOf(wait)
          return yield* new SenderTooFast({
            message: `The token may send ${ratePerMinute} mails a minute. Retry in ${retryAfterSeconds} s`,
            retryAfterSeconds
          })
        })
      })
    })
  )
