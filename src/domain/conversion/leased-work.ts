import { Duration, Effect, Option } from "effect"

import type { ConversionStoreError } from "../../ports/conversion-store.ts"
import { FileObjects } from "../../ports/object-store.ts"
import { withDeadline } from "../deadline.ts"
import { untilLost } from "./lease.ts"

/** How long telling an end may take when the program stops. */
const LAST_WORD = Duration.seconds(8)

/** Does work while its lease holds; none, and the work is ended, once it does not. */
export const whileHeld = <A, E, R>(
  work: Effect.Effect<A, E, R>,
  beat: Effect.Effect<boolean, ConversionStoreError>,
  interval: Duration.Duration
): Effect.Effect<Option.Option<A>, E, R> =>
  Effect.raceFirst(Effect.map(work, Option.some), Effect.as(untilLost(beat, interval), Option.none<A>()))

/** Says a last word when the program stops, if it can be said soon. */
export const lastWord = <A, R>(
  word: Effect.Effect<A, ConversionStoreError, R>
): Effect.Effect<void, never, R> =>
  withDeadline(Effect.asVoid(word), { duration: LAST_WORD, onTimeout: () => Effect.void }).pipe(
    Effect.ignore({ log: true })
  )

/** Removes a result that nobody waits for; what cannot be removed now goes with its file's objects. */
export const dropResult = (key: string): Effect.Effect<void, never, FileObjects> =>
  Effect.flatMap(FileObjects, (objects) => Effect.ignore(objects.remove([key])))
