import { Context, Data, Duration, Effect, Exit, Layer } from "effect"
import { SecureRandom } from "effect/crypto/SecureRandom"

import { LeaseId } from "../../domain/ids.ts"
import { type HeldKey, type KeyedRequest, RequestKeys } from "../../ports/accounts/request-keys.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"

/** How long an attempt counts as alive without a sign of life, and how often it gives one. */
const ALIVE_FOR = Duration.seconds(30)
const SIGN_EVERY = Duration.seconds(10)

/** How long a repeated call waits for the answer of the attempt that is under way, and how often it looks. */
const WAIT_FOR = Duration.seconds(2)
const LOOK_EVERY = Duration.millis(100)

/** The key is in use for another request. The call changed nothing. */
export class OtherRequest extends Data.TaggedError("OtherRequest")<{}> {}

/** Another attempt at the same call is under way. */
export class CallUnderWay extends Data.TaggedError("CallUnderWay")<{}> {}

type NotBegun = OtherRequest | CallUnderWay | StoreUnavailable

/** A call, as what answers it sees it. */
export interface Call {
  /** A UUID of version 7, the same for every attempt at the call. Whatever it makes has ids that follow from it. */
  readonly id: string
  /** Whether there may be other attempts: the caller named a key. */
  readonly repeatable: boolean
  /** Refuses content other than that of an earlier attempt; to be asked before anything is made of the content. */
  readonly sameContent: (contentHash: string) => Effect.Effect<void, OtherRequest | StoreUnavailable>
}

/** How a call is answered. */
interface Answering<A, E, R, E2, R2> {
  /** The answer is JSON. */
  readonly run: (call: Call) => Effect.Effect<A, E, R>
  /** Whether nothing was changed where it failed like this. */
  readonly changedNothing: (error: E) => boolean
  /** Hash of the uploaded content. Absent for a call without an upload. */
  readonly contentHash?: Effect.Effect<string, E2, R2> | undefined
}

/**
 * Answers a call once, however often its caller repeats it under a key: later ones get the first answer (HTTP-16). An attempt that
 * leaves no answer – its process died, the store did not answer – is followed by one with the same ids, which finds what it had made.
 */
export class RepeatableCalls extends Context.Service<
  RepeatableCalls,
  {
    readonly once: <A, E, R, E2 = never, R2 = never>(
      request: KeyedRequest | undefined,
      answering: Answering<A, E, R, E2, R2>
    ) => Effect.Effect<A, E | E2 | NotBegun, R | R2>
  }
>()("postlane/application/RepeatableCalls") {}

type Keys = RequestKeys["Service"]

/** Holds the key, or finds its answer; waits a moment for an attempt that is under way. */
const begun = Effect.fnUntraced(function* (keys: Keys, attempt: Parameters<Keys["hold"]>[0]) {
  for (let waits = Duration.toMillis(WAIT_FOR) / Duration.toMillis(LOOK_EVERY); ; waits -= 1) {
    const found = yield* keys.hold(attempt)
    if (found.state === "other_request") return yield* new OtherRequest()
    if (found.state === "held" || found.state === "answered") return found
    if (waits <= 0) return yield* new CallUnderWay()
    yield* Effect.sleep(LOOK_EVERY)
  }
})

/** Renews the lease until the attempt ends. */
const alive = (keys: Keys, held: HeldKey) =>
  Effect.forever(
    Effect.andThen(Effect.sleep(SIGN_EVERY), Effect.ignore(keys.renew(held, ALIVE_FOR), { log: true }))
  )

/** An attempt that holds the key. */
const attempted = <A, E, R>(
  keys: Keys,
  held: HeldKey,
  { changedNothing, run }: Pick<Answering<A, E, R, never, never>, "changedNothing" | "run">
) => {
  let unchanged = false
  const call: Call = {
    id: held.callId,
    repeatable: true,
    sameContent: (contentHash) =>
      Effect.flatMap(keys.noteContent(held, contentHash), (same) =>
        same ? Effect.void : Effect.fail(new OtherRequest())
      )
  }
  const answer = run(call).pipe(
    Effect.tapError((error) =>
      Effect.sync(() => {
        unchanged = changedNothing(error)
      })
    )
  )
  return Effect.raceFirst(answer, alive(keys, held)).pipe(
    Effect.onExit((exit) =>
      Exit.isSuccess(exit) ? Effect.void : Effect.ignore(keys.giveBack(held, unchanged), { log: true })
    ),
    Effect.flatMap((value) =>
      keys.answer(held, value).pipe(
        Effect.catch((error) =>
          Effect.logWarning("an answer was not kept: a repeated call finds what was made", error)
        ),
        // The answer of an attempt that overtook this one, if any. It was kept as JSON, which it is.
        Effect.map((kept) => (kept ?? value) as A)
      )
    )
  )
}

/** The service, on the keys in context. */
export const layer: Layer.Layer<RepeatableCalls, never, RequestKeys | SecureRandom> = Layer.effect(
  RepeatableCalls,
  Effect.gen(function* () {
    const keys = yield* RequestKeys
    const random = yield* SecureRandom

    return RepeatableCalls.of({
      once: Effect.fnUntraced(function* <A, E, R, E2, R2>(
        request: KeyedRequest | undefined,
        answering: Answering<A, E, R, E2, R2>
      ) {
        const callId = yield* random.uuidV7()
        if (request === undefined)
          return yield* answering.run({ id: callId, repeatable: false, sameContent: () => Effect.void })
        const lease = LeaseId.make(yield* random.uuidV7())
        const found = yield* begun(keys, { ...request, callId, lease, window: ALIVE_FOR })
        if (found.state === "held")
          return yield* attempted(keys, { ...request, callId: found.callId, lease }, answering)
        const { contentHash: first, answer } = found
        if (first !== null && answering.contentHash !== undefined && (yield* answering.contentHash) !== first)
          return yield* new OtherRequest()
        return answer as A
      })
    })
  })
)
