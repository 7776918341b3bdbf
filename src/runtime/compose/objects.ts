import { join, resolve } from "node:path"

import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Context, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto/SecureRandom"

import { makeDiskObjects } from "../../adapters/disk/object-store.ts"
import { makeS3Objects } from "../../adapters/s3/object-store.ts"
import type { CredentialSource } from "../../adapters/ses/credentials.ts"
import { MailHome } from "../../application/inbound/mail-home.ts"
import {
  guarded,
  nameOfFolder,
  onOwnStores,
  type OwnStore,
  OwnStores,
  ownStoresLayer
} from "../../application/own-stores.ts"
import { probed } from "../../application/store-probe.ts"
import {
  BatchObjects,
  FileObjects,
  MailObjects,
  ObjectStoreError,
  type ObjectStoreService
} from "../../ports/object-store.ts"
import type { Check } from "../process/readiness.ts"
import { ticking } from "../process/supervisor.ts"
import type { Role, StoreSettings } from "../settings/settings.ts"

/** The folder of files where no bucket is named. */
const FILES_FOLDER = "files"
const BATCH_FOLDER = "batch"

/**
 * S3 where a bucket is set and can be reached: in production always, embedded only with credentials or an endpoint; else a folder
 * of the bucket's name on disk.
 */
const isRemote = (
  settings: Pick<StoreSettings, "cloud" | "embedded">,
  bucket: string | undefined
): bucket is string =>
  bucket !== undefined &&
  (!settings.embedded ||
    settings.cloud.credentials !== undefined ||
    settings.cloud.s3.credentials !== undefined ||
    settings.cloud.s3.endpoint !== undefined)

/** How the buckets are reached: their own keys sign for nothing else. */
export const bucketAccess = ({ cloud: { s3 } }: StoreSettings, credentials: CredentialSource) => ({
  region: s3.region,
  endpoint: s3.endpoint,
  encryption: s3.encryption,
  credentials:
    s3.credentials === undefined
      ? credentials
      : {
          accessKeyId: Redacted.value(s3.credentials.accessKeyId),
          secretAccessKey: Redacted.value(s3.credentials.secretAccessKey)
        }
})

/** A bucket, with its endpoint. */
const placeOf = ({ cloud }: Pick<StoreSettings, "cloud">, bucket: string): string =>
  `${cloud.s3.endpoint ?? `s3.${cloud.s3.region}`}/${bucket}`

const folderOf = (settings: StoreSettings, name: string) => join(resolve(settings.dataDir), "objects", name)

const storeOf = (
  settings: StoreSettings,
  credentials: CredentialSource,
  bucket: string | undefined,
  folder: string
) => {
  if (!isRemote(settings, bucket)) {
    return Effect.succeed<ObjectStoreService>(makeDiskObjects(folderOf(settings, bucket ?? folder)))
  }
  return Effect.flatMap(
    makeS3Objects({
      bucket,
      ...bucketAccess(settings, credentials),
      cacheDir: join(resolve(settings.dataDir), "cache")
    }),
    (made) => probed(made, `the bucket ${bucket}`)
  )
}

/** The three object stores. */
export const objects = (
  settings: StoreSettings,
  credentials: CredentialSource
): Layer.Layer<FileObjects | BatchObjects | MailObjects> => {
  return Layer.mergeAll(
    Layer.effect(FileObjects, storeOf(settings, credentials, settings.conversion.filesBucket, FILES_FOLDER)),
    Layer.effect(BatchObjects, storeOf(settings, credentials, settings.batch.bucket, BATCH_FOLDER)),
    Layer.effect(MailObjects, storeOf(settings, credentials, mailBucket(settings), settings.intake.bucket))
  ).pipe(Layer.provide(NodeCrypto.layer))
}

/** What says where the mails are. */
type MailPlace = Pick<StoreSettings, "cloud" | "embedded" | "intake">

/** In an embedded run the default name is no bucket: credentials may be there for other services. */
const mailBucket = ({ embedded, intake }: MailPlace): string | undefined =>
  embedded && !intake.bucketIsSet ? undefined : intake.bucket

/** The name of the object store of mails: that of the bucket, else what its folder is called. */
export const mailHome = (settings: MailPlace) =>
  Layer.effect(
    MailHome,
    Effect.gen(function* () {
      const bucket = mailBucket(settings)
      if (isRemote(settings, bucket)) return Effect.succeed(placeOf(settings, bucket))
      const mails = yield* MailObjects
      const random = yield* SecureRandom
      let name: string | undefined
      return Effect.suspend(() =>
        name === undefined
          ? nameOfFolder(mails).pipe(
              Effect.provideService(SecureRandom, random),
              Effect.tap((found) => Effect.sync(() => void (name = found)))
            )
          : Effect.succeed(name)
      )
    })
  )

/** The buckets that these settings name, each with its store. */
export const bucketStores = (settings: StoreSettings) =>
  Effect.gen(function* () {
    const stores = [
      { bucket: settings.conversion.filesBucket, objects: yield* FileObjects },
      { bucket: settings.batch.bucket, objects: yield* BatchObjects },
      {
        bucket: settings.intake.bucketIsSet ? settings.intake.bucket : undefined,
        objects: yield* MailObjects
      }
    ]
    return stores.flatMap(({ bucket, objects: store }) =>
      isRemote(settings, bucket) ? [{ bucket, objects: store }] : []
    )
  })

const hasRole = ({ roles }: StoreSettings, ...some: ReadonlyArray<Role>) =>
  some.some((role) => roles.includes(role))

const usesBatch = (settings: StoreSettings) =>
  settings.batch.bucket !== undefined && hasRole(settings, "leader", "worker")

/** Where no setting names a worker's batch store: it must not convert again what others have in theirs. */
const lacksBatch = (settings: StoreSettings) =>
  settings.batch.bucket === undefined && hasRole(settings, "worker")

/**
 * The stores that this process shares with the others on its database; none where it works with no files. `unsetBatch`: a worker's
 * batch store that no setting names.
 */
const storesOf = (settings: StoreSettings) =>
  Effect.gen(function* () {
    const own = (
      name: OwnStore["name"],
      store: ObjectStoreService,
      bucket: string | undefined,
      folder: string
    ): OwnStore => {
      const place = isRemote(settings, bucket) ? placeOf(settings, bucket) : undefined
      return { name, objects: store, place, shown: place ?? folderOf(settings, bucket ?? folder) }
    }
    const files = own("files", yield* FileObjects, settings.conversion.filesBucket, FILES_FOLDER)
    const batch = own("batch", yield* BatchObjects, settings.batch.bucket, BATCH_FOLDER)
    const stores = hasRole(settings, "api", "leader", "worker", "intake")
      ? [files, ...(usesBatch(settings) ? [batch] : [])]
      : []
    return { stores, unsetBatch: lacksBatch(settings) ? batch : undefined }
  })

export const ownStores = (settings: StoreSettings) => Effect.map(storesOf(settings), ({ stores }) => stores)

/** The object stores, closed while one of them is not the one that the database knows (DOC-6). */
export const guardedObjects = (settings: StoreSettings, credentials: CredentialSource) =>
  Layer.effectContext(
    Effect.gen(function* () {
      const [files, batch] = [yield* FileObjects, yield* BatchObjects]
      const own = yield* OwnStores
      return Context.make(FileObjects, guarded(files, own)).pipe(
        Context.add(BatchObjects, guarded(batch, own))
      )
    })
  ).pipe(
    Layer.provideMerge(
      Layer.unwrap(
        Effect.map(storesOf(settings), ({ stores, unsetBatch }) => ownStoresLayer(stores, unsetBatch))
      )
    ),
    Layer.provideMerge(objects(settings, credentials))
  )

/** How often the stores are examined: a volume may go, and another store may be adopted. */
const EXAMINE_EVERY = "30 seconds"

/** Keeps examining the object stores, in processes of all roles; the first time at once, so that a start says what does not work. */
export const storeWatch = (settings: StoreSettings) =>
  ticking(
    "object-stores",
    EXAMINE_EVERY,
    Effect.gen(function* () {
      yield* (yield* OwnStores).examine
      // They log what they find, and readiness says so.
      for (const { run } of yield* objectChecks(settings)) yield* Effect.ignore(run)
    })
  )

/** A step of a worker, where this process works on files: a claim that could only fail would use up an attempt. */
export const whereOwn = <E, R>(step: Effect.Effect<boolean, E, R>) => onOwnStores(step, false)

/** Fails where the database knows a batch store, and this worker has none. */
const readsBatch = (refusal: Effect.Effect<string | undefined>) =>
  Effect.flatMap(refusal, (cause) =>
    cause === undefined
      ? Effect.void
      : Effect.fail(new ObjectStoreError({ reason: "unavailable", key: "", cause }))
  )

/** Whether mails may be in the intake bucket. Without a trusted hop none is accepted, and the bucket need not exist. */
export const takesMails = ({ embedded, intake }: Pick<StoreSettings, "embedded" | "intake">): boolean =>
  embedded || intake.trustedHops.length > 0 || intake.bucketIsSet

/**
 * Checks of every store that this process works with: one of files in any role; one of the batch lane where its bucket is set,
 * since its results are used even while the lane is off; one of mails where they are accepted, which needs a hop that is trusted
 * or the loopback of an embedded run, or where their bucket is set and they are linked from here.
 */
export const objectChecks = (settings: StoreSettings) =>
  Effect.gen(function* () {
    const [files, batches, mails] = [yield* FileObjects, yield* BatchObjects, yield* MailObjects]
    const { batchRefusal } = yield* OwnStores
    const checks: Array<Check> = [
      { name: "objects", run: Effect.andThen(files.check, readsBatch(batchRefusal)) }
    ]
    if (usesBatch(settings)) checks.push({ name: "batch-objects", run: batches.check })
    if (
      (hasRole(settings, "intake") && takesMails(settings)) ||
      (hasRole(settings, "api") && settings.intake.bucketIsSet)
    ) {
      checks.push({ name: "mail-objects", run: mails.check })
    }
    return checks
  })

/** Whether the local model is used: embedded, without cloud credentials or a configured endpoint. */
export const usesLocalModel = ({ cloud, embedded }: StoreSettings): boolean =>
  embedded && cloud.credentials === undefined && cloud.bedrockRuntimeEndpoint === undefined
