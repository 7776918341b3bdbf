import { Duration, Effect, Semaphore, Stream } from "effect"
import { SecureRandom } from "effect/crypto/SecureRandom"

import type { ProbeFound } from "../domain/doctor/objects.ts"
import { ObjectStoreError, type ObjectStoreService } from "../ports/object-store.ts"
import { uptime } from "./uptime.ts"

/** Keys of probes begin with it; one that is left behind means nothing. */
const PREFIX = "store-probe/"

const CONTENT = new TextEncoder().encode("postlane")

/** The vendor's words. */
const wordsOf = ({ cause, reason }: ObjectStoreError): string =>
  cause instanceof Error ? `${cause.name}: ${cause.message}` : typeof cause === "string" ? cause : reason

const fails = (step: "written" | "read" | "removed") => (error: ObjectStoreError) =>
  ({ _tag: "Fails", step, why: wordsOf(error) }) as const

/**
 * Writes one object, writes it again where there may be none, reads it and removes it: a bucket that answers whether it is there may
 * refuse all of these.
 */
export const probeStore = (objects: ObjectStoreService): Effect.Effect<ProbeFound, never, SecureRandom> =>
  Effect.gen(function* () {
    const random = yield* SecureRandom
    const key = `${PREFIX}${yield* random.uuidV7()}`
    const options = { contentType: "text/plain" }
    const removed = Effect.mapError(objects.remove([key]), fails("removed"))
    const isExclusive = yield* Effect.gen(function* () {
      // In a stream, as files are written: its headers are others than those of one request.
      yield* Effect.mapError(objects.put(key, Stream.make(CONTENT), options), fails("written"))
      const second = yield* Effect.mapError(objects.create(key, CONTENT, options), fails("written"))
      const read = yield* Effect.mapError(Stream.mkString(Stream.decodeText(objects.get(key))), fails("read"))
      if (read !== "postlane")
        return yield* Effect.fail({ _tag: "Fails", step: "read", why: "other bytes came back" } as const)
      return !second
    }).pipe(Effect.tapError(() => Effect.ignore(removed)))
    yield* removed
    return { _tag: "Works", isExclusive } as const
  }).pipe(Effect.catch(Effect.succeed))

/** How long a store that works is not tried again, and one that does not. */
const WORKS_FOR = Duration.toMillis(Duration.minutes(15))
const FAILS_FOR = Duration.toMillis(Duration.minutes(1))

const log = (name: string, found: ProbeFound, before: ProbeFound | undefined) => {
  if (found._tag === "Fails")
    return Effect.logError(`an object of ${name} cannot be ${found.step}: ${found.why}`)
  if (before?._tag === "Fails") return Effect.logInfo(`objects of ${name} can be written again`)
  return before === undefined && !found.isExclusive
    ? Effect.logWarning(
        `${name} does not keep the condition of a write (If-None-Match): of two that write an object at once, both are answered that they were first`
      )
    : Effect.void
}

/** A store with a check that also writes and reads an object: at first, then at intervals. Changes of what it finds are logged. */
export const probed = (
  objects: ObjectStoreService,
  name: string
): Effect.Effect<ObjectStoreService, never, SecureRandom> =>
  Effect.gen(function* () {
    const random = yield* SecureRandom
    const one = yield* Semaphore.make(1)
    let last: { readonly found: ProbeFound; readonly at: number } | undefined
    const find = Effect.gen(function* () {
      const now = yield* uptime
      const kept = last?.found._tag === "Fails" ? FAILS_FOR : WORKS_FOR
      if (last !== undefined && now - last.at < kept) return last.found
      const found = yield* Effect.provideService(probeStore(objects), SecureRandom, random)
      yield* log(name, found, last?.found)
      last = { found, at: now }
      return found
    })
    return {
      ...objects,
      check: Effect.andThen(
        objects.check,
        Effect.flatMap(one.withPermit(find), (found) =>
          found._tag === "Works"
            ? Effect.void
            : Effect.fail(
                new ObjectStoreError({
                  reason: "unavailable",
                  key: "",
                  cause: `an object cannot be ${found.step}: ${found.why}`
                })
              )
        )
      )
    }
  })
