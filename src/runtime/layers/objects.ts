import { join, resolve } from "node:path"

import { Effect, Layer } from "effect"

import { makeDiskObjects } from "../../adapters/disk/object-store.ts"
import { makeS3Objects } from "../../adapters/s3/object-store.ts"
import type { CredentialSource } from "../../adapters/ses/credentials.ts"
import { BatchObjects, FileObjects, MailObjects, type ObjectStoreService } from "../../ports/object-store.ts"
import type { Check } from "../process/readiness.ts"
import type { StoreSettings } from "../settings/settings.ts"

/** The folder of files where no bucket is named. */
const FILES_FOLDER = "files"
const BATCH_FOLDER = "batch"

/**
 * S3 where a bucket is set and can be reached: in production always, embedded only with credentials or an endpoint; else a folder
 * of the bucket's name on disk.
 */
const isRemote = (settings: StoreSettings, bucket: string | undefined): bucket is string =>
  bucket !== undefined &&
  (!settings.embedded || settings.cloud.credentials !== undefined || settings.cloud.s3Endpoint !== undefined)

const storeOf = (
  settings: StoreSettings,
  credentials: CredentialSource,
  bucket: string | undefined,
  folder: string
) => {
  const data = resolve(settings.dataDir)
  if (!isRemote(settings, bucket)) {
    return Effect.succeed<ObjectStoreService>(makeDiskObjects(join(data, "objects", bucket ?? folder)))
  }
  return makeS3Objects({
    bucket,
    region: settings.cloud.region,
    endpoint: settings.cloud.s3Endpoint,
    credentials,
    cacheDir: join(data, "cache")
  })
}

/** The three object stores. */
export const objects = (
  settings: StoreSettings,
  credentials: CredentialSource
): Layer.Layer<FileObjects | BatchObjects | MailObjects> => {
  const { embedded, intake } = settings
  // In an embedded run the default name is no bucket: credentials may be there for other services.
  const mailBucket = embedded && !intake.bucketIsSet ? undefined : intake.bucket
  return Layer.mergeAll(
    Layer.effect(FileObjects, storeOf(settings, credentials, settings.conversion.filesBucket, FILES_FOLDER)),
    Layer.effect(BatchObjects, storeOf(settings, credentials, settings.batch.bucket, BATCH_FOLDER)),
    Layer.effect(MailObjects, storeOf(settings, credentials, mailBucket, intake.bucket))
  )
}

/**
 * Checks of every store that this process works with: one of files in any role; one of the batch lane where its bucket is set,
 * since its results are used even while the lane is off; one of mails where they are accepted, which needs a hop that is trusted
 * or the loopback of an embedded run, or where their bucket is set and they are linked from here.
 */
export const objectChecks = ({ batch, embedded, intake, roles }: StoreSettings) =>
  Effect.gen(function* () {
    const [files, batches, mails] = [yield* FileObjects, yield* BatchObjects, yield* MailObjects]
    const has = (...some: ReadonlyArray<StoreSettings["roles"][number]>) =>
      some.some((role) => roles.includes(role))
    const checks: Array<Check> = [{ name: "objects", run: files.check }]
    if (batch.bucket !== undefined && has("leader", "worker")) {
      checks.push({ name: "batch-objects", run: batches.check })
    }
    const takesMails = has("intake") && (embedded || intake.trustedHops.length > 0)
    if (takesMails || (has("intake", "api") && intake.bucketIsSet)) {
      checks.push({ name: "mail-objects", run: mails.check })
    }
    return checks
  })

/** Whether the local model is used: embedded, without cloud credentials or an endpoint of its own. */
export const usesLocalModel = ({ cloud, embedded }: StoreSettings): boolean =>
  embedded && cloud.credentials === undefined && cloud.bedrockRuntimeEndpoint === undefined
