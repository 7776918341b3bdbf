import { Readable } from "node:stream"

import {
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  S3Client,
  type S3ClientConfig
} from "@aws-sdk/client-s3"
import { Upload } from "@aws-sdk/lib-storage"
import * as NodeStream from "@effect/platform-node/NodeStream"
import { type Cause, Effect, Exit, Option, type Scope, Stream } from "effect"

import { isObjectKey } from "../../domain/object-key.ts"
import { ObjectStoreError, type ObjectStoreService } from "../../ports/object-store.ts"
import { makeLocalCopies } from "./local-copies.ts"

interface S3Options {
  readonly bucket: string
  readonly region: string
  /** `S3_ENDPOINT`: compatible services, which are addressed by path. */
  readonly endpoint?: string | undefined
  readonly credentials: NonNullable<S3ClientConfig["credentials"]>
  /** Where local copies of objects are kept while they are read. */
  readonly cacheDir: string
}

/** Attempts of the SDK on throttling, 5xx and connection errors; every call here may be made twice. */
const MAX_ATTEMPTS = 4

/** Size of a part of a multipart upload, bytes; with 10,000 parts an object may have 80 GB. */
const PART_BYTES = 8 * 1024 * 1024

/** Parts of one upload under way at once. */
const PARTS_AT_ONCE = 3

/** Most keys of one delete. */
const DELETE_AT_ONCE = 1000

/** Reads of a stream that are handed on together; a read has 64 KiB. */
const READS_AT_ONCE = 4

const MISSING = new Set(["NoSuchKey", "NotFound"])

const failure =
  (key: string) =>
  (cause: unknown): ObjectStoreError =>
    cause instanceof ObjectStoreError
      ? cause
      : new ObjectStoreError({
          reason: cause instanceof Error && MISSING.has(cause.name) ? "missing" : "unavailable",
          key,
          cause
        })

const keyed = (key: string) =>
  isObjectKey(key)
    ? Effect.void
    : Effect.fail(new ObjectStoreError({ reason: "missing", key, cause: "not a key" }))

/**
 * Objects in a bucket: multipart uploads of streams, encrypted at rest by the service, checksums both ways. An upload that does
 * not end leaves no object; its parts are aborted.
 */
export const makeS3Objects = Effect.fnUntraced(function* (
  options: S3Options
): Effect.fn.Return<ObjectStoreService, never, Scope.Scope> {
  const { bucket: Bucket } = options
  const client = yield* Effect.acquireRelease(
    Effect.sync(
      () =>
        new S3Client({
          region: options.region,
          credentials: options.credentials,
          ...(options.endpoint === undefined ? {} : { endpoint: options.endpoint, forcePathStyle: true }),
          maxAttempts: MAX_ATTEMPTS,
          retryMode: "standard"
        })
    ),
    (open) => Effect.sync(() => open.destroy())
  )
  const call = <A>(key: string, run: (abortSignal: AbortSignal) => Promise<A>) =>
    Effect.tryPromise({ try: run, catch: failure(key) })

  const get: ObjectStoreService["get"] = (Key, range) =>
    Stream.unwrap(
      Effect.flatMap(keyed(Key), () =>
        call(Key, (abortSignal) =>
          client.send(
            new GetObjectCommand({
              Bucket,
              Key,
              ...(range?.from === undefined || range.from === 0 ? {} : { Range: `bytes=${range.from}-` })
            }),
            { abortSignal }
          )
        )
      ).pipe(
        Effect.map(({ Body }) =>
          Body instanceof Readable
            ? NodeStream.fromReadable<Uint8Array, ObjectStoreError>({
                evaluate: () => Body,
                chunkSize: READS_AT_ONCE,
                onError: failure(Key)
              })
            : Stream.empty
        )
      )
    )

  const stat: ObjectStoreService["stat"] = (Key) =>
    Effect.flatMap(keyed(Key), () =>
      call(Key, (abortSignal) => client.send(new HeadObjectCommand({ Bucket, Key }), { abortSignal }))
    ).pipe(Effect.map(({ ContentLength }) => ({ key: Key, size: ContentLength ?? 0 })))

  const put: ObjectStoreService["put"] = <E, R>(
    Key: string,
    body: Stream.Stream<Uint8Array, E, R>,
    { contentType }: { readonly contentType: string }
  ) =>
    Effect.gen(function* () {
      yield* keyed(Key)
      let size = 0
      let broken: Cause.Cause<E> | undefined
      // The uploader reads an async iterable; the stream itself reports why it ended, not the uploader's error. A piece is
      // copied, since the uploader goes on to the next ones while it holds it.
      const counted = body.pipe(
        Stream.map((bytes) => {
          size += bytes.length
          return bytes.slice()
        }),
        Stream.tapCause((cause) => Effect.sync(() => void (broken = cause)))
      )
      const source = yield* NodeStream.toReadable(counted)
      const upload = new Upload({
        client,
        params: {
          Bucket,
          Key,
          Body: source,
          ContentType: contentType,
          ServerSideEncryption: "AES256",
          ChecksumAlgorithm: "CRC32"
        },
        partSize: PART_BYTES,
        queueSize: PARTS_AT_ONCE
      })
      const sent = yield* Effect.exit(
        call(Key, () => upload.done()).pipe(
          // Readers waiting for more of the body end with it, and only then are the parts aborted.
          Effect.onInterrupt(() =>
            Effect.promise(async () => {
              await upload.abort()
              source.destroy()
            })
          )
        )
      )
      source.destroy()
      if (broken !== undefined) return yield* Effect.failCause(broken)
      if (Exit.isFailure(sent)) return yield* Effect.failCause(sent.cause)
      return size
    })

  const localPath = yield* makeLocalCopies(options.cacheDir, get)

  return {
    put,
    get,
    localPath,
    stat,
    list: (Prefix) =>
      Stream.paginate<string | undefined, { readonly key: string; readonly size: number }, ObjectStoreError>(
        undefined,
        (ContinuationToken) =>
          call(Prefix, (abortSignal) =>
            client.send(
              new ListObjectsV2Command({
                Bucket,
                Prefix,
                ...(ContinuationToken === undefined ? {} : { ContinuationToken })
              }),
              { abortSignal }
            )
          ).pipe(
            Effect.map(
              ({ Contents = [], NextContinuationToken }) =>
                [
                  Contents.flatMap(({ Key, Size }) =>
                    Key === undefined ? [] : [{ key: Key, size: Size ?? 0 }]
                  ),
                  Option.fromUndefinedOr(NextContinuationToken)
                ] as const
            )
          )
      ),
    remove: (keys) =>
      Effect.forEach(
        Array.from({ length: Math.ceil(keys.length / DELETE_AT_ONCE) }, (_, n) =>
          keys.slice(n * DELETE_AT_ONCE, (n + 1) * DELETE_AT_ONCE)
        ),
        (some) =>
          call(some[0] ?? "", (abortSignal) =>
            client.send(
              new DeleteObjectsCommand({
                Bucket,
                Delete: { Objects: some.map((Key) => ({ Key })), Quiet: true }
              }),
              { abortSignal }
            )
          ).pipe(
            Effect.flatMap(({ Errors = [] }) =>
              Errors.length === 0
                ? Effect.void
                : Effect.fail(
                    new ObjectStoreError({
                      reason: "unavailable",
                      key: Errors[0]?.Key ?? "",
                      cause: Errors[0]?.Code
                    })
                  )
            )
          ),
        { discard: true }
      ),
    check: Effect.asVoid(
      call("", (abortSignal) => client.send(new HeadBucketCommand({ Bucket }), { abortSignal }))
    )
  }
})
