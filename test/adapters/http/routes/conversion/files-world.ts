import { mkdtemp, readdir, rm } from "node:fs/promises"
import { join } from "node:path"

import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Context, Duration, Effect, Exit, Layer, Logger, Redacted, Scope } from "effect"
import * as Mac from "effect/crypto/Mac"

import { makeDiskObjects } from "../../../../../src/adapters/disk/object-store.ts"
import * as Inspector from "../../../../../src/adapters/document-inspection/inspector.ts"
import { layerDocx } from "../../../../../src/adapters/docx/docx-converter.ts"
import * as Html from "../../../../../src/adapters/html/html-assembly.ts"
import type { ListenerTimes } from "../../../../../src/adapters/http/server/node-server.ts"
import * as LocalModel from "../../../../../src/adapters/local-model/vision-model.ts"
import * as MailTemplates from "../../../../../src/adapters/mail-templates/mail-templates.ts"
import { layerPdf } from "../../../../../src/adapters/pdf/pdf.ts"
import * as Accounts from "../../../../../src/adapters/postgres/accounts/accounts.ts"
import * as RequestKeys from "../../../../../src/adapters/postgres/accounts/request-keys.ts"
import * as BatchStore from "../../../../../src/adapters/postgres/batch/batch-store.ts"
import { WriteSql } from "../../../../../src/adapters/postgres/client.ts"
import * as BulkOrders from "../../../../../src/adapters/postgres/conversion/bulk-orders.ts"
import * as PostgresConversion from "../../../../../src/adapters/postgres/conversion/conversion-store.ts"
import * as SharedFiles from "../../../../../src/adapters/postgres/conversion/shared-files.ts"
import * as Deferrals from "../../../../../src/adapters/postgres/mail/deferrals.ts"
import * as ReaderProcess from "../../../../../src/adapters/reader-process/reader-process.ts"
import * as RepeatableCalls from "../../../../../src/application/accounts/repeatable-calls.ts"
import { BatchControls } from "../../../../../src/application/batch/controls.ts"
import type { LaneSettings } from "../../../../../src/application/batch/lane-settings.ts"
import {
  BulkMessageSender,
  layer as bulkMessages
} from "../../../../../src/application/conversion/bulk-messages.ts"
import * as Bulk from "../../../../../src/application/conversion/bulk.ts"
import { Conversions, createQueuedJobs } from "../../../../../src/application/conversion/conversions.ts"
import { FileWatch } from "../../../../../src/application/conversion/file-watch.ts"
import * as ResultPages from "../../../../../src/application/conversion/result-pages.ts"
import * as Sharing from "../../../../../src/application/conversion/sharing.ts"
import { Uploads } from "../../../../../src/application/conversion/uploads.ts"
import { assembleJob } from "../../../../../src/application/conversion/work/assembling.ts"
import { processChunk } from "../../../../../src/application/conversion/work/chunk-processing.ts"
import * as ReadPages from "../../../../../src/application/conversion/work/read-pages.ts"
import { Mailer } from "../../../../../src/application/mail/mailer.ts"
import type { Principal } from "../../../../../src/domain/accounts/principal.ts"
import type { CustomerId, FileId } from "../../../../../src/domain/ids.ts"
import type { SendRequest } from "../../../../../src/domain/mail/message.ts"
import { Access, MagicLinks } from "../../../../../src/ports/accounts/access.ts"
import { BatchService } from "../../../../../src/ports/batch/batch-service.ts"
import { ConversionStore } from "../../../../../src/ports/conversion/conversion-store.ts"
import { FileObjects } from "../../../../../src/ports/object-store.ts"
import { anyId } from "../../../../support/any-id.ts"
import { layerPostgres } from "../../../../support/postgres/postgres.ts"
import { TEMPORARY } from "../../../../support/temporary.ts"
import { type Answer, call, sent, startServer } from "../../harness.ts"

export const LEASE = Duration.minutes(1)
const PRICE = { inputUsdPerMtok: 0, outputUsdPerMtok: 0 }
const BASE_URL = "https://p.test"

/** The mailer of a world: records, and gives what the test wants. */
export interface Post {
  readonly requests: Array<SendRequest>
  send: Mailer["Service"]["send"]
}

const layerOf = (folder: string, post: Post) => {
  const mail = Layer.succeed(
    Mailer,
    Mailer.of({
      send: (request) =>
        Effect.suspend(() => {
          post.requests.push(request)
          return post.send(request)
        })
    })
  )
  const sender = Layer.succeed(BulkMessageSender, {
    from: "Postlane <noreply@postlane.test>",
    replyTo: "convert@legacy.postlane.test"
  })
  return Layer.mergeAll(
    Uploads.layer,
    Conversions.layer,
    BatchControls.layer,
    FileWatch.layer,
    ResultPages.layer,
    Bulk.layer,
    bulkMessages,
    Sharing.layer,
    RepeatableCalls.layer
  ).pipe(
    Layer.provideMerge(Layer.mergeAll(ReadPages.layer, Inspector.layer, LocalModel.layer)),
    Layer.provideMerge(
      Layer.mergeAll(
        layerPdf({ threads: 1 }),
        Layer.provide(layerDocx(), ReaderProcess.layer),
        Layer.succeed(FileObjects, makeDiskObjects(folder)),
        Html.layer,
        PostgresConversion.layer,
        BatchStore.layer,
        Layer.mock(BatchService, {}),
        BulkOrders.layer,
        Deferrals.layer,
        SharedFiles.layer({ baseUrl: BASE_URL }),
        Accounts.layer,
        RequestKeys.layer,
        MailTemplates.layer,
        mail,
        sender
      )
    ),
    Layer.provideMerge(layerPostgres),
    Layer.provide(Mac.layerWebCrypto),
    Layer.provide(NodeCrypto.layer)
  )
}

type World = Layer.Success<ReturnType<typeof layerOf>>

const CUSTOMER = /^[\da-f-]{36}$/

const principalOf = (text: string): Principal | undefined =>
  CUSTOMER.test(text)
    ? { actor: "owner", customerId: anyId(text), rights: ["owner"], via: "token" }
    : undefined

/** Far enough away for every test. */
const EXPIRES = Date.UTC(2100, 0)

/** A caller with this token, or this session, is the customer. */
const access = Layer.merge(
  Layer.mock(Access, {
    byToken: (token) => Effect.succeed(principalOf(token)),
    beginSession: (token) => {
      const principal = principalOf(token)
      return Effect.succeed(principal && { principal, cookie: Redacted.make(token), expiresAt: EXPIRES })
    },
    bySession: (cookie) => {
      const principal = principalOf(cookie)
      return Effect.succeed(principal && { principal, renewed: undefined, expiresAt: EXPIRES })
    },
    endSession: () => Effect.succeed(true)
  }),
  Layer.mock(MagicLinks, {})
)

/** Files and conversions behind real routes: PostgreSQL, objects on disk, the real readers; `servers` processes' worth of routes. */
export const startFiles = async (
  servers = 1,
  times?: ListenerTimes,
  behind: Parameters<typeof startServer>[0] = {}
) => {
  const folder = await mkdtemp(join(TEMPORARY, "postlane-files-"))
  const scope = Scope.makeUnsafe()
  const post: Post = { requests: [], send: () => Effect.succeed(sent) }
  const context: Context.Context<World> = await Effect.runPromise(
    Layer.buildWithScope(layerOf(folder, post), scope)
  )
  const run = <A, E>(effect: Effect.Effect<A, E, World>): Promise<A> =>
    Effect.runPromise(effect.pipe(Effect.provide(context), Effect.provide(Logger.layer([]))))
  const known = Layer.succeedContext(Context.omit(FileWatch)(context))
  /** The files that each server's watchers last looked at. */
  const watched: Array<ReadonlyArray<string>> = []
  let looks = 0
  const watchOf = (index: number) =>
    Layer.fresh(FileWatch.layer).pipe(
      Layer.provide(
        Layer.effect(
          ConversionStore,
          Effect.map(ConversionStore, (store) => ({
            ...store,
            filesById: (ids: ReadonlyArray<FileId>) =>
              Effect.suspend(() => {
                watched[index] = ids
                looks += 1
                return store.filesById(ids)
              })
          }))
        )
      ),
      Layer.provide(Layer.merge(known, Logger.layer([])))
    )
  const started = await Promise.all(
    Array.from({ length: servers }, (_, index) =>
      // A process of its own watches for itself.
      startServer({
        access,
        files: Layer.merge(known, watchOf(index)),
        resultPages: known,
        sharing: known,
        funds: known,
        calls: known,
        batch: known,
        ...(times && { times }),
        ...behind
      })
    )
  )
  const [server] = started
  if (server === undefined) throw new Error("a world has a server")

  /** Makes the jobs that wait, and converts the next chunk, if there is one. */
  const workOnce = Effect.gen(function* () {
    yield* createQueuedJobs({ on: false, minPages: 600, minRecords: 1 })
    const store = yield* ConversionStore
    const chunk = yield* store.claimChunk("w", anyId())
    if (chunk === undefined) return false
    yield* processChunk(chunk, { heartbeat: Duration.seconds(10), modelId: "local", price: PRICE })
    return true
  })

  const as = (customerId: CustomerId) => ({ authorization: `Bearer ${customerId}` })
  const ask = (
    method: string,
    path: string,
    customerId: CustomerId,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {}
  ): Promise<Answer> =>
    call(server, path, {
      method,
      headers: {
        ...as(customerId),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers
      },
      ...(body === undefined
        ? {}
        : { body: body instanceof Uint8Array || typeof body === "string" ? body : JSON.stringify(body) })
    })

  return {
    server,
    servers: started,
    post,
    watched,
    /** How often they looked. */
    looks: () => looks,
    folder,
    run,
    as,
    ask,
    /** A customer with these credits. */
    customer: (credits = 1000) =>
      run(
        WriteSql.use((sql) => {
          const id = anyId()
          return Effect.as(
            sql`insert into customers (id, email, name, plan_type, credits_remaining)
              values (${id}::uuid, ${`${id}@x.test`}, 'Ann', 'paid', ${credits})`,
            id
          )
        })
      ),
    upload: (
      customerId: CustomerId,
      bytes: Uint8Array,
      name = "a.pdf",
      headers: Readonly<Record<string, string>> = {}
    ) =>
      ask("POST", `/api/v1/files?name=${encodeURIComponent(name)}`, customerId, bytes, {
        "content-type": "application/octet-stream",
        ...headers
      }),
    /** Names of everything that is in the object store, unfinished objects too. */
    objects: async () =>
      (await readdir(folder, { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isFile())
        .map((entry) => entry.name),
    /** Makes the jobs that wait in the queue; the batch lane is off by default. */
    execute: (lane: LaneSettings = { on: false, minPages: 600, minRecords: 1 }) =>
      run(createQueuedJobs(lane)),
    /** Converts the oldest chunk, for real. */
    workOnce: () => run(workOnce),
    /** Converts whatever there is to convert, for real. */
    work: () =>
      run(
        Effect.gen(function* () {
          while (yield* workOnce);
          const store = yield* ConversionStore
          while (true) {
            const assembly = yield* store.claimAssembly(anyId(), LEASE)
            if (assembly === undefined) break
            yield* assembleJob(assembly, { heartbeat: Duration.seconds(10) })
          }
        })
      ),
    stop: async () => {
      for (const one of started) await one.stop()
      await Effect.runPromise(Scope.close(scope, Exit.void))
      await rm(folder, { recursive: true, force: true })
    }
  }
}

export type FilesWorld = Awaited<ReturnType<typeof startFiles>>
