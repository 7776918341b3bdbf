import {
  GetBucketEncryptionCommand,
  GetBucketLifecycleConfigurationCommand,
  GetBucketPolicyCommand,
  GetPublicAccessBlockCommand,
  type LifecycleRule
} from "@aws-sdk/client-s3"
import { Effect, Option, Schema } from "effect"

import type { BucketFacts } from "../../domain/doctor/buckets.ts"
import { openClient, type S3Options } from "./object-store.ts"

/** Somebody waits for the report: one more attempt is enough. */
const MAX_ATTEMPTS = 2

/** What the vendor answers where nothing of the kind is set. */
const UNSET = new Set([
  "NoSuchBucketPolicy",
  "NoSuchLifecycleConfiguration",
  "NoSuchPublicAccessBlockConfiguration",
  "ServerSideEncryptionConfigurationNotFoundError"
])

const nameOf = (cause: unknown): string => (cause instanceof Error ? cause.name : "")

/** An answer as a finding; one that nothing is set is `unset`, and any other failure is not known. */
const finding = <A, B>(
  call: (signal: AbortSignal) => Promise<A>,
  read: (answer: A) => B,
  unset: B
): Effect.Effect<B | "unknown"> =>
  Effect.tryPromise({ try: call, catch: nameOf }).pipe(
    Effect.map(read),
    Effect.catch((name) => Effect.succeed(UNSET.has(name) ? unset : ("unknown" as const)))
  )

const good = (holds: boolean) => (holds ? "good" : "bad")

const Statement = Schema.Struct({ Effect: Schema.String, Condition: Schema.optionalKey(Schema.Unknown) })

/** A single statement, or a single value of a condition, needs no list; names of conditions are in any case. */
const Policy = Schema.fromJsonString(
  Schema.Struct({ Statement: Schema.Union([Schema.Array(Statement), Statement]) })
)
const decodePolicy = Schema.decodeUnknownOption(Policy)

const refusesPlainHttp = (text: string | undefined): boolean =>
  Option.match(decodePolicy(text), {
    onNone: () => false,
    onSome: ({ Statement: said }) =>
      [said]
        .flat()
        .some(
          ({ Condition, Effect: effect }) =>
            effect === "Deny" && /"aws:SecureTransport":\[?"?false/i.test(JSON.stringify(Condition ?? {}))
        )
  })

const daysOf = (rules: ReadonlyArray<LifecycleRule> | undefined): number | undefined => {
  const days = (rules ?? []).flatMap(({ Expiration, Status }) =>
    Status === "Enabled" && Expiration?.Days !== undefined ? [Expiration.Days] : []
  )
  return days.length === 0 ? undefined : days.reduce((least, one) => (one < least ? one : least))
}

/** Reads a bucket's settings. Changes nothing, and reads no object. */
export const examineBucket = (
  options: Omit<S3Options, "cacheDir">,
  keeps: BucketFacts["keeps"]
): Effect.Effect<BucketFacts> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { bucket: Bucket } = options
      const client = yield* openClient(options, MAX_ATTEMPTS)
      const found = yield* Effect.all(
        {
          encrypted: finding(
            (abortSignal) => client.send(new GetBucketEncryptionCommand({ Bucket }), { abortSignal }),
            ({ ServerSideEncryptionConfiguration: set }) => good((set?.Rules ?? []).length > 0),
            "bad"
          ),
          closed: finding(
            (abortSignal) => client.send(new GetPublicAccessBlockCommand({ Bucket }), { abortSignal }),
            ({ PublicAccessBlockConfiguration: set }) =>
              good(
                set?.BlockPublicAcls === true &&
                  set.BlockPublicPolicy === true &&
                  set.IgnorePublicAcls === true &&
                  set.RestrictPublicBuckets === true
              ),
            "bad"
          ),
          tlsOnly: finding(
            (abortSignal) => client.send(new GetBucketPolicyCommand({ Bucket }), { abortSignal }),
            ({ Policy: text }) => good(refusesPlainHttp(text)),
            "bad"
          ),
          expiresAfterDays: finding(
            (abortSignal) =>
              client.send(new GetBucketLifecycleConfigurationCommand({ Bucket }), { abortSignal }),
            ({ Rules }) => daysOf(Rules),
            undefined
          )
        },
        { concurrency: "unbounded" }
      )
      return { name: Bucket, keeps, ...found }
    })
  )
