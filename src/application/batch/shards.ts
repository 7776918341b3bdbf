import { Data, Effect, Option, Pull, Stream } from "effect"

import { shardKey } from "../../domain/batch/keys.ts"
import { BatchObjects, type ObjectStoreError } from "../../ports/object-store.ts"

/** What a batch job may hold. */
export interface BatchLimits {
  /** `BATCH_CONVERSION_MIN_RECORDS`, `BATCH_CONVERSION_MAX_RECORDS`. */
  readonly minRecords: number
  readonly maxRecords: number
  /** `BATCH_CONVERSION_MAX_FILE_MB`, as bytes. */
  readonly maxShardBytes: number
  /** Of all shards together. */
  readonly maxBytes: number
}

/** Bytes of a megabyte, as the provider's caps count them. */
export const MEGABYTE = 1_000_000

/** About 4.5 GB (BATCH-12): the provider takes 5 GB. */
export const MAX_BATCH_BYTES = 4500 * MEGABYTE

/** The job cannot go to the batch service; it runs on demand. */
export class BatchSkipped extends Data.TaggedError("BatchSkipped")<{ readonly reason: string }> {}

/** What was written. */
export interface Written {
  readonly shards: number
  readonly records: number
  readonly bytes: number
}

/** Records one by one, with a peek at the next. */
const makeReader = Effect.fnUntraced(function* <E, R>(records: Stream.Stream<Uint8Array, E, R>) {
  const pull = yield* Stream.toPull(records)
  let ready: ReadonlyArray<Uint8Array> = []
  let at = 0
  let ended = false
  const peek: Effect.Effect<Uint8Array | undefined, E> = Effect.suspend(() => {
    if (at < ready.length) return Effect.succeed(ready[at])
    if (ended) return Effect.succeed(undefined)
    return Pull.catchDone(
      Effect.flatMap(pull, (next) => {
        ready = next
        at = 0
        return Effect.succeed(ready[at])
      }),
      () => {
        ended = true
        return Effect.succeed(undefined)
      }
    )
  })
  return { peek, drop: () => void at++ }
})

/**
 * Writes records into shards of at most `maxShardBytes` (a larger record gets its own), in order, one after the other; memory
 * holds a few records. Fails with {@link BatchSkipped} as soon as a limit is exceeded, or at the end below the minimum.
 */
export const writeShards = <E, R>(
  records: Stream.Stream<Uint8Array, E, R>,
  prepared: string,
  limits: BatchLimits
): Effect.Effect<Written, E | ObjectStoreError | BatchSkipped, R | BatchObjects> =>
  Effect.gen(function* () {
    const objects = yield* BatchObjects
    const reader = yield* makeReader(records)
    const done = { shards: 0, records: 0, bytes: 0 }

    const count = (line: Uint8Array): Effect.Effect<void, BatchSkipped> => {
      done.records += 1
      done.bytes += line.length
      if (done.records > limits.maxRecords) {
        return Effect.fail(new BatchSkipped({ reason: `more than ${limits.maxRecords} records` }))
      }
      return done.bytes > limits.maxBytes
        ? Effect.fail(new BatchSkipped({ reason: `more than ${limits.maxBytes / MEGABYTE} MB of records` }))
        : Effect.void
    }

    const shard = Stream.unfold(0, (size: number) =>
      Effect.flatMap(reader.peek, (line) => {
        if (line === undefined || (size > 0 && size + line.length > limits.maxShardBytes)) {
          return Effect.succeed(undefined)
        }
        reader.drop()
        return Effect.as(count(line), [line, size + line.length] as const)
      })
    )

    while ((yield* reader.peek) !== undefined) {
      done.shards += 1
      yield* objects.put(shardKey(prepared, done.shards), shard, { contentType: "application/jsonl" })
    }
    if (done.records < limits.minRecords) {
      return yield* new BatchSkipped({ reason: `fewer than ${limits.minRecords} records` })
    }
    return done
  }).pipe(Effect.scoped)

/** Values as JSON lines. */
export const linesOf = (values: ReadonlyArray<unknown>): Stream.Stream<Uint8Array> => {
  const encoder = new TextEncoder()
  return Stream.map(Stream.fromIterable(values), (value) => encoder.encode(`${JSON.stringify(value)}\n`))
}

/** Only the bytes that are filled. */
export const present = <A, E, R>(stream: Stream.Stream<A | undefined, E, R>): Stream.Stream<A, E, R> =>
  stream.pipe(
    Stream.map(Option.fromUndefinedOr),
    Stream.filter(Option.isSome),
    Stream.map(({ value }) => value)
  )
