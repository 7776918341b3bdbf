import { type Duration, Effect, Option, Result, Stream } from "effect"
import { encode } from "effect/encoding/Base64"

import { type ClaimedInline, ConversionStore } from "../../../ports/conversion/conversion-store.ts"
import type { DocxConverter, DocxError } from "../../../ports/conversion/documents.ts"
import { HtmlAssembly, type PageFragment } from "../../../ports/conversion/html-assembly.ts"
import { VisionModel, VisionModelError } from "../../../ports/conversion/vision-model.ts"
import { FileObjects, type ObjectStoreError } from "../../../ports/object-store.ts"
import type { StoreUnavailable } from "../../../ports/store-unavailable.ts"
import { type CostEntry, estimateLlmCost, type ModelPrice } from "../cascade/cost.ts"
import { isUsable, MAX_IMAGE_BYTES } from "../cascade/model-call.ts"
import { type Meter, meteredModel } from "../cascade/paced-model.ts"
import { pagePrompt, ask } from "../cascade/vision.ts"
import { pictureOnly, readPicture } from "../cascade/whole-chunk.ts"
import { inlineResultKey } from "../chunk-result.ts"
import { MAX_PICTURE_BYTES } from "../document-limits.ts"
import { HOLD_WINDOW, usesCascade } from "../job.ts"
import { hasWords } from "../legibility.ts"
import { dropResult, lastWord, whileHeld } from "./leased-work.ts"
import { docxHtml } from "./word-document.ts"

/** Settings of inline conversions. */
interface InlineSettings {
  readonly heartbeat: Duration.Duration
  readonly modelId: string
  readonly price: ModelPrice
}

/** Attempts of an inline conversion, worker crashes included. */
export const MAX_INLINE_ATTEMPTS = 3

/** A picture over the limit; upload inspection should have refused it. */
const tooLarge = new VisionModelError({ reason: "refused", message: "The picture is too large" })

type Failure = DocxError | ObjectStoreError | VisionModelError

/** What a document is assembled from. */
interface Converted {
  readonly title: string | undefined
  readonly html: string
  /** Counted from the result; undefined where the number was certain before. */
  readonly pages: number | undefined
  readonly hasText: boolean
}

const convertDocx = Effect.fnUntraced(function* (claim: ClaimedInline) {
  const objects = yield* FileObjects
  const converted = yield* Effect.flatMap(objects.localPath(claim.objectKey), docxHtml)
  return { ...converted, hasText: hasWords(converted.html) }
})

const bytesOf = Effect.fnUntraced(function* (objectKey: string) {
  const objects = yield* FileObjects
  const { size } = yield* objects.stat(objectKey)
  if (size > MAX_PICTURE_BYTES) return yield* tooLarge
  const bytes = new Uint8Array(size)
  let at = 0
  yield* Stream.runForEach(objects.get(objectKey), (part) =>
    Effect.sync(() => {
      bytes.set(part, at)
      at += part.length
    })
  )
  return bytes
})

/** What the model reads from a picture; undefined where its answer cannot be used. */
const readByModel = Effect.fnUntraced(function* (bytes: Uint8Array, kind: "png" | "jpeg", modelId: string) {
  const { clean } = yield* HtmlAssembly
  const answer = yield* ask(
    modelId,
    [{ role: "user", content: [{ picture: bytes, format: kind }, { text: pagePrompt() }] }],
    { tier: "hifi-single-pass", page: 0 }
  )
  if (!isUsable(answer)) return undefined
  const html = (yield* clean(answer.text)).trim()
  return html === "" ? undefined : html
})

/**
 * With a model: what it reads, and the picture. Without one, or without an answer: the picture, with a note that there is no text
 * version.
 */
const convertPicture = Effect.fnUntraced(function* (
  claim: ClaimedInline,
  kind: "png" | "jpeg",
  { modelId }: InlineSettings
) {
  const bytes = yield* bytesOf(claim.objectKey)
  const source = `data:image/${kind};base64,${encode(bytes)}`
  const only = (why: Parameters<typeof pictureOnly>[2]): Converted => ({
    title: undefined,
    html: pictureOnly(claim.name, source, why),
    pages: undefined,
    hasText: false
  })
  if (!usesCascade(claim.options)) return only("not-asked")
  if (bytes.length > MAX_IMAGE_BYTES) return only("too-large")
  const read = yield* Effect.result(readByModel(bytes, kind, modelId))
  if (Result.isSuccess(read) && read.success !== undefined) {
    const converted: Converted = {
      title: undefined,
      html: readPicture(claim.name, source, read.success),
      pages: undefined,
      hasText: hasWords(read.success)
    }
    return converted
  }
  const passing = Result.isFailure(read) && read.failure.reason !== "refused"
  if (passing && claim.attempts < MAX_INLINE_ATTEMPTS) return yield* read.failure
  yield* Effect.logWarning("no model read the picture: it stands for itself")
  return only("no-answer")
})

/** Converts, and stores the result under a key that no other attempt has. */
const convert = Effect.fnUntraced(function* (claim: ClaimedInline, settings: InlineSettings) {
  const objects = yield* FileObjects
  const assembly = yield* HtmlAssembly
  const { hasText, html, pages, title }: Converted = yield* claim.kind === "png" || claim.kind === "jpeg"
    ? convertPicture(claim, claim.kind, settings)
    : convertDocx(claim)
  const page: PageFragment = { index: 0, label: "1", html }
  const document = assembly.assemble({
    facts: { lang: undefined, title },
    name: claim.name,
    pages: Stream.succeed(page)
  })
  const key = inlineResultKey(claim.fileId, claim.lease)
  yield* objects.put(key, Stream.encodeText(document), { contentType: "text/html; charset=utf-8" })
  return { key, pages, hasText }
})

/** One entry an attempt, with the lease as its id, so that writing it twice books it once. */
const costsOf = (
  claim: ClaimedInline,
  meter: Meter,
  { modelId, price }: InlineSettings
): ReadonlyArray<CostEntry> =>
  meter.calls === 0
    ? []
    : [
        {
          id: claim.lease,
          jobId: claim.jobId,
          chunkId: undefined,
          source: "inline",
          backend: "vision",
          model: modelId,
          usage: meter.usage,
          costUsd: estimateLlmCost(meter.usage, price),
          metadata: { calls: meter.calls, attempt: claim.attempts, fileId: claim.fileId }
        }
      ]

/** Whether the same file would fail in the same way again. */
const isFinal = (failure: Failure): boolean => {
  switch (failure._tag) {
    case "DocxError":
      return failure.reason === "broken" || failure.reason === "too-large"
    case "ObjectStoreError":
      return failure.reason === "missing"
    case "VisionModelError":
      return failure.reason === "refused"
  }
}

const wordsOf = (failure: Failure): string => {
  switch (failure._tag) {
    case "DocxError":
      return failure.message
    case "VisionModelError":
      return failure === tooLarge ? failure.message : "The model that reads pictures does not answer"
    case "ObjectStoreError":
      return failure.reason === "missing" ? "The uploaded file is gone" : "The file store does not answer"
  }
}

/**
 * Converts a claimed DOCX or picture: with heartbeats, its result stored before it is recorded. Once the lease is lost the work
 * ends, and only its cost is recorded. A failed one is tried again, three attempts in all; when the program stops, it is
 * released.
 */
export const processInline = (
  claim: ClaimedInline,
  settings: InlineSettings
): Effect.Effect<
  void,
  StoreUnavailable,
  ConversionStore | FileObjects | DocxConverter | HtmlAssembly | VisionModel
> =>
  Effect.gen(function* () {
    const store = yield* ConversionStore
    const { meter, model } = meteredModel(yield* VisionModel)
    const costs = () => costsOf(claim, meter, settings)
    const fail = (error: string, maxAttempts: number) =>
      Effect.suspend(() => store.failInline(claim, { error, costs: costs(), maxAttempts }))
    // Earlier workers crashed on it.
    if (claim.attempts > MAX_INLINE_ATTEMPTS) {
      yield* fail("This file could not be converted", 1)
      return
    }
    const ended = yield* whileHeld(
      Effect.scoped(convert(claim, settings)),
      Effect.suspend(() => store.heartbeatInline(claim, HOLD_WINDOW)),
      settings.heartbeat
    ).pipe(
      Effect.provideService(VisionModel, model),
      Effect.result,
      Effect.onInterrupt(() => lastWord(fail("The program stopped", claim.attempts + 1)))
    )
    if (Result.isSuccess(ended)) {
      if (Option.isNone(ended.success)) return yield* store.bookCosts(costs())
      const { key, ...found } = ended.success.value
      const answer = yield* store.finishInline(claim, key, costs(), found)
      if (answer !== "completed") yield* dropResult(key)
      return
    }
    yield* Effect.logWarning(
      `inline conversion of ${claim.fileId} failed: ${wordsOf(ended.failure)}`,
      ended.failure
    )
    yield* fail(wordsOf(ended.failure), isFinal(ended.failure) ? 1 : MAX_INLINE_ATTEMPTS)
  }).pipe(Effect.annotateLogs({ job: claim.jobId, file: claim.fileId }))
