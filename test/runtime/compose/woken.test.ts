import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, Result, Stream } from "effect"
import { TestClock } from "effect/testing"

import * as BatchLines from "../../../src/adapters/bedrock/batch-lines.ts"
import { BatchReplay } from "../../../src/application/batch/replay.ts"
import { ReturnedMails } from "../../../src/application/delivery/returned-mail.ts"
import { ConvertByEmail } from "../../../src/application/inbound/convert-by-email.ts"
import { ringBell } from "../../../src/application/work-bell.ts"
import { BatchService } from "../../../src/ports/batch/batch-service.ts"
import { BatchStore } from "../../../src/ports/batch/batch-store.ts"
import { ConversionStore } from "../../../src/ports/conversion/conversion-store.ts"
import { DocxConverter } from "../../../src/ports/conversion/documents.ts"
import { HtmlAssembly, LanguageDetector } from "../../../src/ports/conversion/html-assembly.ts"
import { PageSources } from "../../../src/ports/conversion/page-sources.ts"
import { Pdf } from "../../../src/ports/conversion/pdf.ts"
import { VisionModel } from "../../../src/ports/conversion/vision-model.ts"
import { Leadership } from "../../../src/ports/leadership.ts"
import { BatchObjects, FileObjects } from "../../../src/ports/object-store.ts"
import { conversionDuties, conversionWorkers } from "../../../src/runtime/compose/conversion.ts"
import { intakeWorkers } from "../../../src/runtime/compose/inbound/inbound-roles.ts"
import { Supervisors } from "../../../src/runtime/process/supervisor.ts"
import { decodeSettings } from "../../../src/runtime/settings/settings.ts"

/** A process in which there is nothing to do, and where it has looked for work. */
const idleProcess = (looks: Array<string>) => {
  const settings = Result.getOrThrow(
    decodeSettings(
      {
        HOST: "127.0.0.1",
        SMTP_PORT: "0",
        SUBMISSION_PORT: "0",
        PROVIDERA_API_KEY: "re_key",
        LEGACY_DOMAIN: "legacy.test",
        INBOUND_DOMAIN: "in.test",
        DB_URL: "postgres://u:p@127.0.0.1/x"
      },
      { embedded: true }
    )
  )
  const look = <A>(where: string, found: A) =>
    Effect.sync(() => {
      looks.push(where)
      return found
    })
  const stores = Layer.mergeAll(
    Layer.mock(ConversionStore, {
      nextQueued: look("requests", undefined),
      claimAssembly: () => look("assemblies", undefined),
      claimInline: () => Effect.undefined,
      claimChunk: () => Effect.undefined,
      claimFlyer: () => Effect.undefined
    }),
    Layer.mock(ConvertByEmail, {
      admitNext: look("mails", false),
      convertNext: look("conversions of mails", false),
      convertNextShort: look("conversions of short mails", false),
      convertNextOfIdle: look("conversions of others' mails", false),
      replyNext: look("replies", false),
      clean: Effect.never,
      sweep: Effect.never
    }),
    Layer.mock(ReturnedMails, { isFor: () => false }),
    Layer.mock(FileObjects, { list: () => Stream.empty }),
    Layer.mock(BatchObjects, {}),
    Layer.mock(BatchStore, {}),
    Layer.mock(BatchService, {}),
    Layer.mock(BatchReplay, {}),
    Layer.mock(PageSources, {}),
    Layer.mock(Pdf, {}),
    Layer.mock(DocxConverter, {}),
    Layer.mock(HtmlAssembly, {}),
    Layer.mock(LanguageDetector, {}),
    Layer.mock(VisionModel, {}),
    BatchLines.layer,
    Layer.succeed(Leadership, { term: Effect.undefined, whileLeading: () => Effect.never })
  )
  return Layer.mergeAll(
    conversionDuties(settings),
    conversionWorkers(settings),
    intakeWorkers(settings)
  ).pipe(Layer.provide([stores, Logger.layer([])]), Layer.provide(Supervisors.layer))
}

/** Each kind of worker twice, the executor and the worker for short mails once, that for customers who wait six times. */
const OF_CONVERSIONS = ["assemblies", "assemblies", "requests"]
const OF_MAILS = [
  "conversions of mails",
  "conversions of mails",
  ...Array.from({ length: 6 }, () => "conversions of others' mails"),
  "conversions of short mails",
  "mails",
  "mails",
  "replies",
  "replies"
]

describe("the fibers of a process that look for work", () => {
  it.effect("all look as soon as the bell rings, and not before their time unless it does", () =>
    Effect.gen(function* () {
      const looks: Array<string> = []
      yield* Layer.build(idleProcess(looks))
      yield* TestClock.adjust("100 millis")
      assert.deepStrictEqual(looks.splice(0).toSorted(), [...OF_CONVERSIONS, ...OF_MAILS].toSorted())
      yield* TestClock.adjust("100 millis")
      assert.deepStrictEqual(looks, [])
      yield* ringBell("conversions")
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(looks.splice(0).toSorted(), OF_CONVERSIONS)
      yield* ringBell("mails")
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(looks.toSorted(), OF_MAILS)
    })
  )
})
