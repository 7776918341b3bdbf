import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer, Stream } from "effect"
import * as Mac from "effect/crypto/Mac"

import { BatchControls } from "../../src/application/batch/controls.ts"
import { BatchReplay } from "../../src/application/batch/replay.ts"
import * as Bulk from "../../src/application/conversion/bulk.ts"
import { Conversions, createQueuedJobs } from "../../src/application/conversion/conversions.ts"
import { workOnce } from "../../src/application/conversion/work/worker.ts"
import {
  ConvertByEmail,
  layer as layerConvertByEmail
} from "../../src/application/inbound/convert-by-email.ts"
import { IntakeConfig } from "../../src/application/inbound/intake-config.ts"
import { WorkBell } from "../../src/application/work-bell.ts"
import { FlyerId } from "../../src/domain/ids.ts"
import { BatchService } from "../../src/ports/batch/batch-service.ts"
import { BatchStore } from "../../src/ports/batch/batch-store.ts"
import { BulkOrders } from "../../src/ports/conversion/bulk-orders.ts"
import { ConversionStore } from "../../src/ports/conversion/conversion-store.ts"
import { DocxConverter } from "../../src/ports/conversion/documents.ts"
import { HtmlAssembly, LanguageDetector } from "../../src/ports/conversion/html-assembly.ts"
import { PageSources } from "../../src/ports/conversion/page-sources.ts"
import { Pdf } from "../../src/ports/conversion/pdf.ts"
import { VisionModel } from "../../src/ports/conversion/vision-model.ts"
import { ConvertPipeline } from "../../src/ports/inbound/convert-pipeline.ts"
import { type ClaimedMail, IntakeStore } from "../../src/ports/inbound/intake-store.ts"
import { MailReader, ReplyChannel } from "../../src/ports/inbound/mails.ts"
import { MailTemplates } from "../../src/ports/mail/mail-provider.ts"
import { FileObjects, MailObjects, type ObjectStoreError } from "../../src/ports/object-store.ts"
import type { StoreUnavailable } from "../../src/ports/store-unavailable.ts"
import { storedFile } from "../domain/conversion/stored-file.ts"
import { anyId } from "../support/any-id.ts"

const jobId = anyId("job")
const file = storedFile({ kind: "docx", status: "chunked_processing", jobId, jobStatus: "processing" })
const { customerId, id: fileId } = file
const options = {}

/** A store in which everything asked for succeeds; what there is to do is there once. */
const worldOf = () => {
  const queue = [{ jobId, fileId, pages: 1, options }]
  const inline = [
    {
      fileId,
      lease: anyId("lease"),
      jobId,
      name: "a.docx",
      kind: "docx",
      objectKey: "a",
      attempts: 99,
      options
    }
  ] as const
  const left = [...inline]
  return Layer.mergeAll(Conversions.layer, Bulk.layer, BatchControls.layer, mailbox).pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        Layer.mock(ConversionStore, {
          request: () => Effect.succeed("queued" as const),
          requestFlyer: () => Effect.succeed("queued" as const),
          requestReflow: () => Effect.succeed("queued" as const),
          cancel: () => Effect.succeed("cancelled" as const),
          file: () => Effect.succeed(file),
          filesById: () => Effect.succeed([file]),
          nextQueued: Effect.sync(() => queue.pop()),
          createJob: () => Effect.succeed(true),
          claimAssembly: () => Effect.undefined,
          claimInline: () => Effect.sync(() => left.pop()),
          claimChunk: () => Effect.undefined,
          claimFlyer: () => Effect.undefined,
          failInline: () => Effect.succeed("failed" as const)
        }),
        Layer.mock(BulkOrders, { request: () => Effect.succeed({ answer: "queued" as const }) }),
        Layer.mock(BatchStore, {
          makeInteractive: () => Effect.succeed("resumed" as const),
          toStop: () => Effect.undefined
        }),
        Layer.mock(BatchService, {}),
        Layer.mock(BatchReplay, {}),
        Layer.mock(FileObjects, {}),
        Layer.mock(DocxConverter, {}),
        Layer.mock(HtmlAssembly, {}),
        Layer.mock(LanguageDetector, {}),
        Layer.mock(PageSources, {}),
        Layer.mock(Pdf, {}),
        Layer.mock(VisionModel, {}),
        NodeCrypto.layer
      )
    )
  )
}

type World = Layer.Success<ReturnType<typeof worldOf>>

const PRICE = { inputUsdPerMtok: 1, outputUsdPerMtok: 1 }
const work = workOnce("worker", { heartbeat: Duration.seconds(10), modelId: "local", price: PRICE })
const owned = { fileId, customerId }

/** A bell that writes down for whom it rang. */
const listened = () => {
  const rings: Array<string> = []
  const ring = (kind: string) => Effect.sync(() => void rings.push(kind))
  return { bell: { ring, listen: () => Effect.succeed(Effect.sleep) }, rings }
}

const MAIL: ClaimedMail = {
  id: anyId("mail"),
  rawKey: "mails/mail/raw",
  rawBytes: 1,
  envelopeFrom: "a@x.test",
  peerTrusted: true,
  lease: anyId("lease"),
  attempts: 1,
  failures: 0,
  sender: undefined,
  job: undefined
}

const mailbox = layerConvertByEmail.pipe(
  Layer.provide(
    Layer.mergeAll(
      Layer.succeed(IntakeConfig, {
        convertAddress: "convert@x.test",
        convertAddresses: new Set(["convert@x.test"]),
        ownAddresses: new Set<string>(),
        authenticity: { trustedHops: [], trustsLoopback: true },
        registerUrl: "https://x.test/register",
        buyUrl: "https://x.test/buy",
        baseUrl: "https://x.test",
        heartbeat: Duration.seconds(10)
      }),
      Layer.mock(IntakeStore, {
        receive: () => Effect.void,
        claim: () => Effect.succeed(MAIL),
        handBack: () => Effect.succeed(true)
      }),
      // No step of a mail gets far here.
      Layer.mock(MailObjects, { put: () => Effect.succeed(1), get: () => Stream.die(new Error("not here")) }),
      Layer.mock(MailReader, {
        readHead: () => ({ headers: [{ name: "from", value: "a@x.test" }], from: ["a@x.test"] })
      }),
      Layer.mock(MailTemplates, {}),
      Layer.mock(ConvertPipeline, {}),
      Layer.mock(ReplyChannel, { name: "library", maxAttachmentBytes: 1, sendsWithin: Duration.minutes(1) }),
      Mac.layerWebCrypto
    )
  ),
  Layer.provide(NodeCrypto.layer)
)

describe("the bell rings for each that moves a conversion or a mail on", () => {
  const conversions = {
    convert: Conversions.use(({ convert }) => convert({ ...owned, options })),
    cancel: Conversions.use(({ cancel }) => cancel(owned)),
    "preserve formatting": Conversions.use(({ preserveFormatting }) => preserveFormatting(owned)),
    reflow: Conversions.use(({ reflow }) => reflow({ flyerId: FlyerId.make(anyId("flyer")), customerId })),
    "a bulk order": Bulk.BulkConversions.use(({ start }) =>
      start({ customerId, items: [{ fileId, urgent: true, options }] })
    ),
    "process now": BatchControls.use(({ processNow }) => processNow(owned)),
    "the executor": createQueuedJobs({ on: false, minPages: 600, minRecords: 1 }),
    "a worker": work
  }
  const mails = {
    "a mail that came in": ConvertByEmail.use(({ accept }) =>
      accept({ envelopeFrom: "a@x.test", peerTrusted: true, raw: Stream.empty })
    ),
    "its next step": ConvertByEmail.use(({ admitNext }) => admitNext)
  }
  for (const [kind, moves] of Object.entries({ conversions, mails }))
    for (const [name, move] of Object.entries(moves)) {
      const moving: Effect.Effect<unknown, StoreUnavailable | ObjectStoreError, World> = move
      it.effect(name, () =>
        Effect.gen(function* () {
          const { bell, rings } = listened()
          yield* moving.pipe(Effect.provide(worldOf()), Effect.provideService(WorkBell, bell))
          assert.deepStrictEqual(rings, [kind])
        })
      )
    }

  it.effect("not for an executor or a worker that found nothing to do", () =>
    Effect.gen(function* () {
      const { bell, rings } = listened()
      const look = Effect.andThen(createQueuedJobs({ on: false, minPages: 600, minRecords: 1 }), work)
      yield* Effect.andThen(
        Effect.andThen(
          look,
          Effect.sync(() => rings.splice(0))
        ),
        look
      ).pipe(Effect.provideService(WorkBell, bell), Effect.provide(worldOf()))
      assert.deepStrictEqual(rings, [])
    })
  )
})
