import { Effect, Exit, Option, Stream } from "effect"

import { isObjectKey } from "../../domain/object-key.ts"
import { ObjectStoreError, type ObjectStoreService } from "../../ports/object-store.ts"
import type { Bucket, BucketUpload, UploadedPart } from "./bindings.ts"

/** Size of a part, bytes: the least that R2 takes, since two of them are in memory while an object is written. */
const PART_BYTES = 5 * 1024 * 1024

/** Most keys of one delete. */
const DELETE_AT_ONCE = 1000

const failure =
  (key: string) =>
  (cause: unknown): ObjectStoreError =>
    cause instanceof ObjectStoreError ? cause : new ObjectStoreError({ reason: "unavailable", key, cause })

const missing = (key: string, cause?: string) =>
  new ObjectStoreError({ reason: "missing", key, ...(cause === undefined ? {} : { cause }) })

const keyed = (key: string) => (isObjectKey(key) ? Effect.void : Effect.fail(missing(key, "not a key")))

const call = <A>(key: string, run: () => Promise<A>) => Effect.tryPromise({ try: run, catch: failure(key) })

const found = <A>(key: string, run: () => Promise<A | null>) =>
  Effect.andThen(
    keyed(key),
    Effect.flatMap(call(key, run), (object) =>
      object === null ? Effect.fail(missing(key)) : Effect.succeed(object)
    )
  )

/** Bytes that wait to become a part. A part is put together only where it comes in several pieces. */
const makePending = () => {
  let pieces: Array<Uint8Array> = []
  let size = 0
  return {
    add: (bytes: Uint8Array) => {
      pieces.push(bytes)
      size += bytes.length
    },
    isPart: () => size >= PART_BYTES,
    /** The first `wanted` bytes, or all that there are. */
    take: (wanted: number): Uint8Array => {
      const length = Math.min(wanted, size)
      const [first] = pieces
      if (first !== undefined && first.length >= length) {
        if (first.length === length) pieces = pieces.slice(1)
        else pieces[0] = first.subarray(length)
        size -= length
        return first.subarray(0, length)
      }
      const part = new Uint8Array(length)
      let at = 0
      while (at < length) {
        const piece = pieces[0]!
        const taken = piece.subarray(0, length - at)
        part.set(taken, at)
        at += taken.length
        if (taken.length === piece.length) pieces = pieces.slice(1)
        else pieces[0] = piece.subarray(taken.length)
      }
      size -= length
      return part
    }
  }
}

const put =
  (bucket: Bucket): ObjectStoreService["put"] =>
  <E, R>(
    key: string,
    body: Stream.Stream<Uint8Array, E, R>,
    { contentType }: { readonly contentType: string }
  ) => {
    const options = { httpMetadata: { contentType } }
    const pending = makePending()
    const parts: Array<UploadedPart> = []
    let upload: BucketUpload | undefined
    let size = 0

    const send = Effect.fnUntraced(function* (bytes: Uint8Array) {
      const open = (upload ??= yield* call(key, () => bucket.createMultipartUpload(key, options)))
      parts.push(yield* call(key, () => open.uploadPart(parts.length + 1, bytes)))
    })

    /** From here on the object may exist whatever happens, so the write is waited for. */
    const finish = Effect.uninterruptible(
      Effect.suspend(() => {
        const open = upload
        const rest = pending.take(PART_BYTES)
        if (open === undefined) return call(key, () => bucket.put(key, rest, options))
        const last = rest.length === 0 ? Effect.void : send(rest)
        return Effect.andThen(
          last,
          call(key, () => open.complete(parts))
        )
      })
    )

    return Effect.gen(function* () {
      yield* keyed(key)
      yield* Stream.runForEach(body, (bytes) =>
        Effect.gen(function* () {
          size += bytes.length
          pending.add(bytes.slice())
          while (pending.isPart()) yield* send(pending.take(PART_BYTES))
        })
      )
      yield* finish
      return size
    }).pipe(
      Effect.onExit((exit) => {
        const open = upload
        return Exit.isSuccess(exit) || open === undefined
          ? Effect.void
          : Effect.promise(() => open.abort().catch(() => undefined))
      })
    )
  }

/**
 * Objects in an R2 bucket that is bound to a worker. Large ones are written in parts, so that memory does not grow with them;
 * an upload that does not end leaves no object. There is no disk, and so no `localPath`.
 */
export const makeR2Objects = (bucket: Bucket): ObjectStoreService => ({
  put: put(bucket),
  create: (key, bytes, { contentType }) =>
    keyed(key).pipe(
      Effect.andThen(
        call(key, () =>
          bucket.put(key, bytes, { httpMetadata: { contentType }, onlyIf: { etagDoesNotMatch: "*" } })
        )
      ),
      Effect.map((written) => written !== null)
    ),
  get: (key, options) =>
    Stream.unwrap(
      Effect.map(
        found(key, () => {
          const offset = options?.from ?? 0
          return offset === 0 ? bucket.get(key) : bucket.get(key, { range: { offset } })
        }),
        ({ body }) => Stream.fromReadableStream({ evaluate: () => body, onError: failure(key) })
      )
    ),
  localPath: (key) =>
    Effect.flatMap(
      found(key, () => bucket.head(key)),
      () =>
        Effect.fail(
          new ObjectStoreError({ reason: "unavailable", key, cause: "a worker has no disk to put a file on" })
        )
    ),
  stat: (key) =>
    Effect.map(
      found(key, () => bucket.head(key)),
      ({ size }) => ({ key, size })
    ),
  list: (prefix) =>
    Stream.paginate<string | undefined, { readonly key: string; readonly size: number }, ObjectStoreError>(
      undefined,
      (cursor) =>
        call(prefix, () => bucket.list({ prefix, ...(cursor === undefined ? {} : { cursor }) })).pipe(
          Effect.map(
            (page) =>
              [
                page.objects.map(({ key, size }) => ({ key, size })),
                page.truncated ? Option.fromUndefinedOr(page.cursor) : Option.none<string>()
              ] as const
          )
        )
    ),
  remove: (keys) =>
    Effect.forEach(
      Array.from({ length: Math.ceil(keys.length / DELETE_AT_ONCE) }, (_, n) =>
        keys.slice(n * DELETE_AT_ONCE, (n + 1) * DELETE_AT_ONCE)
      ),
      (some) => call(some[0] ?? "", () => bucket.delete(some)),
      { discard: true }
    ),
  check: Effect.asVoid(call("", () => bucket.list({ limit: 1 })))
})
