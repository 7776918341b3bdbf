import { Effect, Result, Stream } from "effect"
import { encode } from "effect/encoding/Base64"

import { isUsable, MAX_IMAGE_BYTES } from "../../../domain/cascade/model-call.ts"
import { askedOf, HOLD_WINDOW, usesCascade } from "../../../domain/conversion/job.ts"
import type { Making } from "../../../domain/conversion/making.ts"
import {
  hasWords,
  isModelTier,
  NO_MODEL,
  type PageLine,
  withoutModelText
} from "../../../domain/conversion/page-line.ts"
import { inlineResultKey } from "../../../domain/conversion/stored-files.ts"
import { type ClaimedInline, ConversionStore } from "../../../ports/conversion/conversion-store.ts"
import type { DocxConverter } from "../../../ports/conversion/documents.ts"
import { HtmlAssembly, type PageFragment } from "../../../ports/conversion/html-assembly.ts"
import type { PageSources } from "../../../ports/conversion/page-sources.ts"
import { VisionModel, VisionModelError } from "../../../ports/conversion/vision-model.ts"
import { FileObjects } from "../../../ports/object-store.ts"
import type { StoreUnavailable } from "../../../ports/store-unavailable.ts"
import { MAX_PICTURE_BYTES } from "../../../reader/model/document-limits.ts"
import { passes } from "../../cascade/cascade.ts"
import { pagePrompt, ask } from "../../cascade/vision.ts"
import { pictureOnly, readPicture } from "../../cascade/whole-chunk.ts"
import { underLease } from "../../leased-work.ts"
import {
  costsOf,
  failureText,
  isFinal,
  makeMeter,
  metered,
  recordResult,
  type WorkSettings
} from "./attempt.ts"
import { standardPicture } from "./standard-picture.ts"
import { docxHtml } from "./word-document.ts"

/** Attempts of an inline conversion, worker crashes included. */
export const MAX_INLINE_ATTEMPTS = 3

/** A picture over the limit; upload inspection should have refused it. */
const tooLarge = new VisionModelError({ reason: "unfit", message: "The picture is too large" })

/** Why a picture that a model was to read ends without a result and a charge; no further attempt changes it. */
const UNREAD = {
  "too-large": new VisionModelError({
    reason: "unfit",
    message:
      "The picture is too large for high fidelity, so nothing was converted or charged. Make it smaller, or convert it without high fidelity."
  }),
  "no-answer": new VisionModelError({ reason: "refused", message: NO_MODEL })
} as const

/** Failures that say themselves what their owner reads, and that end the conversion. */
const ENDS: ReadonlySet<unknown> = new Set([tooLarge, ...Object.values(UNREAD)])

/** What a document is assembled from. */
interface Converted {
  readonly title: string | undefined
  readonly html: string
  /** Counted from the result; undefined where the number was certain before. */
  readonly pages: number | undefined
  readonly hasText: boolean
  /** Pages from 1 that no model read though one was wanted. */
  readonly noModelPages?: ReadonlyArray<number>
  /** Note to the reader, shown above the document. */
  readonly note?: string
  /** How its only page came about; undefined for a Word document. */
  readonly tier?: PageLine["tier"]
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
 * With a model: what it reads, and the picture. Without one, or where the picture may go without an answer: what is recognised on
 * this machine, else the picture with a note that there is no text version.
 */
const convertPicture = Effect.fnUntraced(function* (
  claim: ClaimedInline,
  kind: "png" | "jpeg",
  { modelId, withoutModel }: WorkSettings
) {
  const bytes = yield* bytesOf(claim.objectKey)
  const source = `data:image/${kind};base64,${encode(bytes)}`
  const standard = Effect.map(
    standardPicture({ objectKey: claim.objectKey, name: claim.name, source }),
    ({ hasText, html, tier }): Converted => ({ title: undefined, html, pages: undefined, hasText, tier })
  )
  if (!usesCascade(claim.options)) return yield* standard
  const unread = Effect.fnUntraced(function* (why: keyof typeof UNREAD) {
    if (withoutModel !== "standard") return yield* UNREAD[why]
    const found = yield* standard
    return found.hasText
      ? { ...found, noModelPages: [1], note: withoutModelText([1]) }
      : { ...found, html: pictureOnly(claim.name, source, why), noModelPages: [1] }
  })
  if (bytes.length > MAX_IMAGE_BYTES) return yield* unread("too-large")
  const read = yield* Effect.result(readByModel(bytes, kind, modelId))
  if (Result.isSuccess(read) && read.success !== undefined) {
    const converted: Converted = {
      title: undefined,
      html: readPicture(claim.name, source, read.success),
      pages: undefined,
      hasText: hasWords(read.success),
      tier: "hifi-single-pass"
    }
    return converted
  }
  if (Result.isFailure(read) && passes(read.failure) && claim.attempts < MAX_INLINE_ATTEMPTS)
    return yield* read.failure
  yield* Effect.logWarning("no model read the picture")
  return yield* unread("no-answer")
})

/** Converts, and stores the result under a key that no other attempt has. */
const convert = Effect.fnUntraced(function* (claim: ClaimedInline, settings: WorkSettings) {
  const objects = yield* FileObjects
  const assembly = yield* HtmlAssembly
  const { hasText, html, noModelPages, note, pages, tier, title }: Converted = yield* claim.kind === "png" ||
  claim.kind === "jpeg"
    ? convertPicture(claim, claim.kind, settings)
    : convertDocx(claim)
  const page: PageFragment = { index: 0, label: "1", html }
  const document = assembly.assemble({
    facts: { lang: undefined, title },
    name: claim.name,
    notes: note === undefined ? [] : [note],
    pages: Stream.succeed(page),
    estimatedPages: pages
  })
  const key = inlineResultKey(claim.fileId, claim.lease)
  yield* objects.put(key, Stream.encodeText(document), { contentType: "text/html; charset=utf-8" })
  const made: Making = {
    options: askedOf(claim.options),
    tiers: tier === undefined ? {} : { [tier]: 1 },
    models: tier !== undefined && isModelTier(tier) ? [settings.modelId] : []
  }
  return { key, pages, hasText, noModelPages: noModelPages ?? [], made }
})

/**
 * Converts a claimed DOCX or picture; the result is stored before it is recorded. Once the lease is lost only the cost is recorded.
 * A failed one is tried again, three attempts in all.
 */
export const processInline = (
  claim: ClaimedInline,
  settings: WorkSettings
): Effect.Effect<
  void,
  StoreUnavailable,
  ConversionStore | FileObjects | DocxConverter | HtmlAssembly | PageSources | VisionModel
> =>
  Effect.gen(function* () {
    const store = yield* ConversionStore
    const objects = yield* FileObjects
    const meter = makeMeter()
    const costs = () =>
      costsOf(meter, settings, {
        id: claim.lease,
        jobId: claim.jobId,
        chunkId: undefined,
        source: "inline",
        backend: "vision",
        metadata: { calls: meter.calls, attempt: claim.attempts, fileId: claim.fileId }
      })
    const fail = (error: string, maxAttempts: number) =>
      store.failInline(claim, { error, costs: costs(), maxAttempts })
    // Earlier workers crashed on it.
    if (claim.attempts > MAX_INLINE_ATTEMPTS) {
      yield* fail("This file could not be converted", 1)
      return
    }
    yield* underLease(
      Effect.scoped(convert(claim, settings)).pipe(
        Effect.provideService(VisionModel, metered(yield* VisionModel, meter))
      ),
      {
        name: `inline conversion of ${claim.fileId}`,
        heartbeat: () => store.heartbeatInline(claim, HOLD_WINDOW),
        release: () => store.failInline(claim, { costs: costs() }),
        complete: ({ key, ...found }) =>
          recordResult(objects, key, store.finishInline(claim, key, costs(), found)),
        fail: (failure) =>
          ENDS.has(failure)
            ? fail(failure.message, 1)
            : fail(failureText(failure, "reads pictures"), isFinal(failure) ? 1 : MAX_INLINE_ATTEMPTS),
        lost: () => store.bookCosts(costs())
      },
      settings.heartbeat
    )
  }).pipe(Effect.annotateLogs({ job: claim.jobId, file: claim.fileId }))
