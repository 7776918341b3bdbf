import { Readable } from "node:stream"

import {
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig
} from "@aws-sdk/client-s3"
import { Upload } from "@aws-sdk/lib-storage"
import * as NodeStream from "@effect/platform-node/NodeStream"
import { Array as Arr, type Cause, Effect, Exit, Option, type Scope, Stream } from "effect"

import { withDeadline } from "../../application/deadline.ts"
import { isObjectKey } from "../../domain/object-key.ts"
import { type ObjectFacts, ObjectStoreError, type ObjectStoreService } from "../../ports/object-store.ts"
import { withBoundedAnswers } from "../aws/bounded-answers.ts"
import { makeLocalCopies } from "./local-copies.ts"

type Encryption = "AES256" | "aws:kms"

/** Where a bucket is, and how it is reached. */
export interface S3Options {
  readonly bucket: string
  readonly region: string
  /** `S3_ENDPOINT`: compatible services, which are addressed by path. */
  readonly endpoint?: string | undefined
  readonly credentials: NonNullable<S3ClientConfig["credentials"]>
  /** `S3_SSE`: how every write asks to be encrypted; unset: as the bucket does by default. */
  readonly encryption?: Encryption | undefined
  /** Where local copies of objects are kept while they are read. */
  readonly cacheDir: string
  /** How long the service may be silent, milliseconds: before it answers, and within an object's bytes. */
  readonly timeLimitMs?: number | undefined
}

const TIME_LIMIT_MS = 30_000

/** Factor on the time limit for a part of an upload, which has to arrive first, over a slow line, too. */
const PART_TIMES = 10

/** Attempts of the SDK on throttling, 5xx and connection errors; every call here may be made twice. */
const MAX_ATTEMPTS = 4

/** How long a connection may take to open, milliseconds. */
const CONNECT_LIMIT_MS = 10_000

/** Size of a part of a multipart upload, bytes; with 10,000 parts an object may have 80 GB. */
const PART_BYTES = 8 * 1024 * 1024

/** Parts of one upload in progress at once. */
const PARTS_AT_ONCE = 3

/** Most keys of one delete. */
const DELETE_AT_ONCE = 1000

/** Reads of a stream that are handed on together; a read has 64 KiB. */
const READS_AT_ONCE = 4

const MISSING = new Set(["NoSuchKey", "NotFound"])

/** 501: a compatible service lacks what a header of ours asks for. */
const UNSUPPORTED = "NotImplemented"

const reasonOf = (cause: unknown): ObjectStoreError["reason"] => {
  if (!(cause instanceof Error)) return "unavailable"
  if (MISSING.has(cause.name)) return "missing"
  return cause.name === UNSUPPORTED ? "unsupported" : "unavailable"
}

const failure =
  (key: string) =>
  (cause: unknown): ObjectStoreError =>
    cause instanceof ObjectStoreError ? cause : new ObjectStoreError({ reason: reasonOf(cause), key, cause })

const keyed = (key: string) =>
  isObjectKey(key)
    ? Effect.void
    : Effect.fail(new ObjectStoreError({ reason: "missing", key, cause: "not a key" }))

const call = <A>(key: string, run: (abortSignal: AbortSignal) => Promise<A>) =>
  Effect.tryPromise({ try: run, catch: failure(key) })

/** A bucket and the client that reaches it. */
interface Place {
  readonly client: S3Client
  readonly bucket: string
  readonly encryption: Encryption | undefined
  readonly timeLimitMs: number
}

const encrypted = ({ encryption }: Place) =>
  encryption === undefined ? {} : { ServerSideEncryption: encryption }

/** One request; each of its attempts has to be answered in time. */
const ask = <A>(
  { timeLimitMs: requestTimeout }: Place,
  key: string,
  run: (options: { readonly abortSignal: AbortSignal; readonly requestTimeout: number }) => Promise<A>
) => call(key, (abortSignal) => run({ abortSignal, requestTimeout }))

/** Fails where the next bytes do not come in time; how long their reader takes over the last ones does not count. */
const timely = <A>(
  stream: Stream.Stream<A, ObjectStoreError>,
  key: string,
  { timeLimitMs: duration }: Place
): Stream.Stream<A, ObjectStoreError> =>
  Stream.transformPull(stream, (pull) =>
    Effect.succeed(
      withDeadline(pull, {
        duration,
        onTimeout: () =>
          Effect.fail(new ObjectStoreError({ reason: "unavailable", key, cause: "no bytes came in time" }))
      })
    )
  )

const get =
  (place: Place): ObjectStoreService["get"] =>
  (Key, range) => {
    const { bucket: Bucket, client } = place
    const from = range?.from ?? 0
    const command = new GetObjectCommand({ Bucket, Key, ...(from === 0 ? {} : { Range: `bytes=${from}-` }) })
    return Stream.unwrap(
      keyed(Key).pipe(
        Effect.andThen(ask(place, Key, (options) => client.send(command, options))),
        Effect.map(({ Body }) =>
          Body instanceof Readable
            ? timely(
                NodeStream.fromReadable<Uint8Array, ObjectStoreError>({
                  evaluate: () => Body,
                  chunkSize: READS_AT_ONCE,
                  onError: failure(Key)
                }),
                Key,
                place
              )
            : Stream.empty
        )
      )
    )
  }

const stat =
  (place: Place): ObjectStoreService["stat"] =>
  (Key) =>
    keyed(Key).pipe(
      Effect.andThen(
        ask(place, Key, (options) =>
          place.client.send(new HeadObjectCommand({ Bucket: place.bucket, Key }), options)
        )
      ),
      Effect.map(({ ContentLength }) => ({ key: Key, size: ContentLength ?? 0 }))
    )

const uploadOf = (place: Place, Key: string, Body: Readable, ContentType: string) =>
  new Upload({
    client: place.client,
    params: {
      Bucket: place.bucket,
      Key,
      Body,
      ContentType,
      ...encrypted(place),
      ChecksumAlgorithm: "CRC32"
    },
    partSize: PART_BYTES,
    queueSize: PARTS_AT_ONCE
  })

const put =
  (place: Place): ObjectStoreService["put"] =>
  <E, R>(
    key: string,
    body: Stream.Stream<Uint8Array, E, R>,
    { contentType }: { readonly contentType: string }
  ) =>
    Effect.gen(function* () {
      yield* keyed(key)
      let size = 0
      let broken: Cause.Cause<E> | undefined
      // The uploader reads an async iterable; the stream itself reports why it ended, not the uploader's error. A piece is
      // copied, since the uploader reads the next ones while it holds it.
      const counted = body.pipe(
        Stream.map((bytes) => {
          size += bytes.length
          return bytes.slice()
        }),
        Stream.tapCause((cause) => Effect.sync(() => void (broken = cause)))
      )
      const source = yield* NodeStream.toReadable(counted)
      const upload = uploadOf(place, key, source, contentType)
      const sent = yield* Effect.exit(
        call(key, () => upload.done()).pipe(
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

/** Another writer was first, or is writing at this moment. */
const TAKEN = new Set(["PreconditionFailed", "ConditionalRequestConflict"])

const create =
  (place: Place): ObjectStoreService["create"] =>
  (Key, Body, { contentType: ContentType }) => {
    const command = new PutObjectCommand({
      Bucket: place.bucket,
      Key,
      Body,
      ContentType,
      ...encrypted(place),
      IfNoneMatch: "*"
    })
    return keyed(Key).pipe(
      Effect.andThen(ask(place, Key, (options) => place.client.send(command, options))),
      Effect.as(true),
      Effect.catchIf(
        ({ cause }) => cause instanceof Error && TAKEN.has(cause.name),
        () => Effect.succeed(false)
      )
    )
  }

const list =
  (place: Place): ObjectStoreService["list"] =>
  (Prefix) => {
    const { bucket: Bucket, client } = place
    const page = (ContinuationToken: string | undefined) => {
      const next = ContinuationToken === undefined ? {} : { ContinuationToken }
      const command = new ListObjectsV2Command({ Bucket, Prefix, ...next })
      return ask(place, Prefix, (options) => client.send(command, options)).pipe(
        Effect.map(({ Contents = [], NextContinuationToken }) => {
          const facts = Contents.flatMap(({ Key, Size }) =>
            Key === undefined ? [] : [{ key: Key, size: Size ?? 0 }]
          )
          return [facts, Option.fromUndefinedOr(NextContinuationToken)] as const
        })
      )
    }
    return Stream.paginate<string | undefined, ObjectFacts, ObjectStoreError>(undefined, page)
  }

const removeSome = (place: Place, keys: ReadonlyArray<string>) => {
  const Delete = { Objects: keys.map((Key) => ({ Key })), Quiet: true }
  return ask(place, keys[0] ?? "", (options) =>
    place.client.send(new DeleteObjectsCommand({ Bucket: place.bucket, Delete }), options)
  ).pipe(
    Effect.flatMap(({ Errors }) => {
      const error = Errors?.[0]
      return error === undefined
        ? Effect.void
        : Effect.fail(
            new ObjectStoreError({ reason: "unavailable", key: error.Key ?? "", cause: error.Code })
          )
    })
  )
}

/** A client of the service until the scope ends. */
export const openClient = (
  {
    credentials,
    endpoint,
    region,
    timeLimitMs = TIME_LIMIT_MS
  }: Pick<S3Options, "credentials" | "endpoint" | "region" | "timeLimitMs">,
  maxAttempts: number
) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      withBoundedAnswers(
        new S3Client({
          region,
          credentials,
          ignoreConfiguredEndpointUrls: true,
          ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
          maxAttempts,
          retryMode: "standard",
          requestHandler: {
            connectionTimeout: CONNECT_LIMIT_MS,
            requestTimeout: PART_TIMES * timeLimitMs,
            throwOnRequestTimeout: true
          }
        })
      )
    ),
    (open) => Effect.sync(() => open.destroy())
  )

/**
 * Objects in a bucket: multipart uploads of streams, encrypted at rest as the bucket or `S3_SSE` says, checksums both ways. An
 * upload that does not end leaves no object; its parts are aborted.
 */
export const makeS3Objects = Effect.fnUntraced(function* (
  options: S3Options
): Effect.fn.Return<ObjectStoreService, never, Scope.Scope> {
  const { bucket, encryption, timeLimitMs = TIME_LIMIT_MS } = options
  const client = yield* openClient(options, MAX_ATTEMPTS)
  const place = { client, bucket, encryption, timeLimitMs }
  return {
    put: put(place),
    create: create(place),
    get: get(place),
    localPath: yield* makeLocalCopies(options.cacheDir, get(place)),
    stat: stat(place),
    list: list(place),
    remove: (keys) =>
      Effect.forEach(Arr.chunksOf(keys, DELETE_AT_ONCE), (some) => removeSome(place, some), {
        discard: true
      }),
    check: Effect.asVoid(
      ask(place, "", (sending) => client.send(new HeadBucketCommand({ Bucket: bucket }), sending))
    )
  }
})
