import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer, Record } from "effect"

import { examineServed } from "../../../adapters/http-client/served-secret.ts"
import * as Postgres from "../../../adapters/postgres/client.ts"
import { examineDatabase } from "../../../adapters/postgres/examination.ts"
import { examineStore } from "../../../application/own-stores.ts"
import { probeStore } from "../../../application/store-probe.ts"
import type { CredentialFacts } from "../../../domain/doctor/cloud-credentials.ts"
import { cloudNames } from "../../../domain/doctor/cloud-side.ts"
import type { DatabaseFacts } from "../../../domain/doctor/database.ts"
import type { ObjectStoreFacts } from "../../../domain/doctor/objects.ts"
import type { QueueFacts } from "../../../domain/doctor/queue.ts"
import type { ServedFacts } from "../../../domain/doctor/served.ts"
import type { CloudAlarms } from "../../../ports/doctor/cloud-alarms.ts"
import { Examinations } from "../../../ports/doctor/examinations.ts"
import { DeferQueue } from "../../../ports/mail/defer-queue.ts"
import { laneOf } from "../../compose/batch.ts"
import { deferQueue } from "../../compose/mail/mail.ts"
import { bucketAccess, bucketStores, objects as storesOf, usesLocalModel } from "../../compose/objects.ts"
import { PROVIDER_CHECKS } from "../../compose/provider-checks.ts"
import { examineProviderB, usesProviderB } from "../../compose/sender-records.ts"
import { MIGRATIONS } from "../../process/package.ts"
import { clients, type Installation, missingDatabase } from "../installation.ts"
import { onStores, whyUnreachable } from "../objects.ts"

/** Dead letters are counted up to here. */
const MOST_COUNTED = 1_000

const database = (here: Installation): Effect.Effect<DatabaseFacts> | undefined => {
  const { database: configured } = here.settings
  if (configured !== undefined) {
    return examineDatabase(MIGRATIONS).pipe(
      Effect.provide(Layer.provideMerge(Postgres.layerSqlClient, Postgres.layerSingle(configured))),
      Effect.provide(NodeServices.layer),
      Effect.catch((error) => Effect.succeed<DatabaseFacts>({ _tag: "Unreachable", why: error.message }))
    )
  }
  return here.settings.embedded || here.local._tag === "Stopped"
    ? Effect.succeed({ _tag: "Unreachable", why: missingDatabase(here) ?? "" })
    : undefined
}

const objects = (here: Installation): Effect.Effect<ReadonlyArray<ObjectStoreFacts>> | undefined => {
  const layer = clients(here)
  return layer === undefined
    ? undefined
    : onStores(here, (stores) =>
        Effect.forEach(stores, (store) =>
          examineStore(store).pipe(
            Effect.map(({ state }): ObjectStoreFacts["found"] => ({ _tag: "Reached", state })),
            Effect.catchTag("ObjectStoreError", (error) =>
              Effect.succeed<ObjectStoreFacts["found"]>({ _tag: "Unreachable", why: whyUnreachable(error) })
            ),
            Effect.map((found) => ({ store, found }))
          )
        ).pipe(
          // The verdict on the database says so.
          Effect.catchTag("StoreUnavailable", () => Effect.succeed([]))
        )
      ).pipe(Effect.provide(layer))
}

/** What the buckets do with an object; a folder of this machine is looked at only. */
const probes = ({ credentials, settings }: Installation) => {
  const stores = Effect.flatMap(bucketStores(settings), (found) =>
    Effect.forEach(
      found,
      ({ bucket, objects: store }) => Effect.map(probeStore(store), (one) => ({ bucket, found: one })),
      { concurrency: "unbounded" }
    )
  )
  return Effect.provide(stores, Layer.merge(storesOf(settings, credentials), NodeCrypto.layer))
}

/** Where the credentials are from, where something is signed with them; undefined where nothing is. */
const signing = (here: Installation): Effect.Effect<CredentialFacts> | undefined => {
  const { credentials, settings } = here
  const signs =
    usesProviderB(settings) || settings.retryQueue.address._tag === "Sqs" || buckets(here) !== undefined
  return signs
    ? Effect.tryPromise(credentials).pipe(
        Effect.map(({ source = "" }): CredentialFacts => ({ _tag: "Found", source })),
        Effect.catch(({ cause }) =>
          Effect.succeed<CredentialFacts>({
            _tag: "None",
            why: cause instanceof Error ? cause.message : "their source failed"
          })
        )
      )
    : undefined
}

/** The buckets of the cloud account; a compatible service has other settings, which are not examined. */
const buckets = ({ credentials, settings }: Installation) => {
  const { batch, cloud, conversion, embedded, intake } = settings
  const named = [
    { bucket: conversion.filesBucket, keeps: "files" },
    { bucket: batch.bucket, keeps: "short-lived" },
    { bucket: intake.bucketIsSet ? intake.bucket : undefined, keeps: "short-lived" }
  ] as const
  const ours = named.flatMap(({ bucket, keeps }) => (bucket === undefined ? [] : [{ bucket, keeps }]))
  const isThere =
    cloud.s3.endpoint === undefined &&
    (!embedded || cloud.credentials !== undefined || cloud.s3.credentials !== undefined)
  return isThere && ours.length > 0
    ? Effect.flatMap(
        Effect.promise(() => import("../../../adapters/s3/bucket-examination.ts")),
        ({ examineBucket }) =>
          Effect.forEach(
            ours,
            ({ bucket, keeps }) => examineBucket({ bucket, ...bucketAccess(settings, credentials) }, keeps),
            { concurrency: "unbounded" }
          )
      )
    : undefined
}

/** The high-fidelity model, if this installation has one: with an account or an address. */
const model = ({ credentials, settings }: Installation) => {
  const { cloud, conversion } = settings
  if (usesLocalModel(settings)) return undefined
  const { id, inputUsdPerMtok, outputUsdPerMtok } = conversion.model
  return Effect.flatMap(
    Effect.promise(() => import("../../../adapters/bedrock/examination.ts")),
    ({ examineModel }) =>
      examineModel({
        region: cloud.region,
        endpoint: cloud.bedrockRuntimeEndpoint,
        controlEndpoint: cloud.bedrockEndpoint,
        credentials,
        model: id,
        temperature: conversion.temperature,
        usesBatch: laneOf(settings).on,
        price: [inputUsdPerMtok, outputUsdPerMtok]
      })
  )
}

/** What the providers that are set up say. */
const providers = (here: Installation): Examinations["Service"]["providers"] =>
  new Map(
    Record.toEntries(PROVIDER_CHECKS).flatMap(([provider, check]) => {
      const verdicts = check({ ...here, ofEvents: true })
      return verdicts === undefined ? [] : [[provider, verdicts] as const]
    })
  )

const queue = (here: Installation): Effect.Effect<QueueFacts> | undefined => {
  const { credentials, settings } = here
  const { address } = settings.retryQueue
  switch (address._tag) {
    case "None":
      return Effect.succeed({ _tag: "None" })
    case "Sqs": {
      const { region, sqsEndpoint } = settings.cloud
      return Effect.flatMap(
        Effect.promise(() => import("../../../adapters/sqs/examination.ts")),
        (adapter) =>
          adapter.examineQueue({
            queueUrl: address.url,
            region,
            credentials,
            ...(sqsEndpoint === undefined ? {} : { endpoint: sqsEndpoint })
          })
      )
    }
    case "Postgres": {
      const layer = clients(here)
      if (layer === undefined) return undefined
      return DeferQueue.use((store) =>
        Effect.all([store.deadLetters({ limit: MOST_COUNTED }), store.isConsumed])
      ).pipe(
        Effect.map(([letters, isConsumed]): QueueFacts => ({
          _tag: "Postgres",
          name: address.name,
          dead: letters.length,
          isConsumed: isConsumed === true
        })),
        Effect.provide(deferQueue(settings, { credentials })),
        Effect.provide(layer),
        Effect.catch(({ message }) => Effect.succeed<QueueFacts>({ _tag: "Unreachable", why: message }))
      )
    }
  }
}

/** Whether the cloud side is one that can be looked at: an emulator of Amazon SES has neither bus nor alarms. */
const hasCloudSide = ({ settings }: Installation): boolean =>
  usesProviderB(settings) && settings.providerB.endpoint === undefined

const events = (here: Installation) =>
  hasCloudSide(here)
    ? Effect.flatMap(
        Effect.promise(() => import("../../../adapters/eventbridge/examination.ts")),
        ({ examineEvents }) =>
          examineEvents({ region: here.settings.providerB.region, credentials: here.credentials })
      )
    : undefined

const alarms = (here: Installation): CloudAlarms | undefined => {
  if (!hasCloudSide(here)) return undefined
  const { credentials, settings } = here
  const names = cloudNames(settings.cloud.installation)
  const loaded = Effect.map(
    Effect.promise(() => import("../../../adapters/cloudwatch/alarms.ts")),
    ({ cloudAlarms }) =>
      cloudAlarms({ names, home: settings.cloud.region, mail: settings.providerB.region, credentials })
  )
  return {
    names,
    alarmsOn: (watched) => Effect.flatMap(loaded, ({ alarmsOn }) => alarmsOn(watched)),
    filtersOf: (group) => Effect.flatMap(loaded, ({ filtersOf }) => filtersOf(group)),
    subscriptionsOf: (topic) => Effect.flatMap(loaded, ({ subscriptionsOf }) => subscriptionsOf(topic))
  }
}

/** The server at `BASE_URL`; the secret goes out over TLS alone. */
const served = ({ settings }: Installation): Effect.Effect<ServedFacts> | undefined => {
  const { baseUrl } = settings.http
  const secret = settings.access.proxySharedSecret
  return secret === undefined || settings.embedded || !baseUrl.startsWith("https://")
    ? undefined
    : examineServed({ baseUrl, secret })
}

/** What the doctor asks of an installation's parts. */
export const layerExaminations = (here: Installation): Layer.Layer<Examinations> =>
  Layer.succeed(
    Examinations,
    Examinations.of({
      alarms: alarms(here),
      database: database(here),
      events: events(here),
      buckets: buckets(here),
      model: model(here),
      cloud: signing(here),
      objects: objects(here),
      probes: probes(here),
      providers: providers(here),
      providerB: examineProviderB(here),
      queue: queue(here),
      served: served(here)
    })
  )
