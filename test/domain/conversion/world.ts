import { Effect, Layer, Stream } from "effect"

import type { ModelCall } from "../../../src/domain/cascade/model-call.ts"
import { HtmlAssembly } from "../../../src/ports/conversion/html-assembly.ts"
import type { PageSource } from "../../../src/ports/conversion/page-sources.ts"
import {
  type CallPlace,
  type VisionAnswer,
  VisionModel,
  VisionModelError
} from "../../../src/ports/conversion/vision-model.ts"
import { FileObjects, ObjectStoreError } from "../../../src/ports/object-store.ts"

/** A page with these words in its text layer. */
export const pageOf = (index: number, text: string, parts: Partial<PageSource> = {}): PageSource => {
  const layout: PageSource["layout"] =
    parts.layout ??
    Effect.succeed({ index, label: String(index + 1), tier: "layout", text, html: `<p>${text}</p>` })
  return {
    index,
    isBlank: Effect.succeed(false),
    layout,
    recognised: layout,
    pdf: Effect.succeed(new Uint8Array([index])),
    image: Effect.succeed(new Uint8Array([index, 1])),
    ...parts
  }
}

/** What a scripted model does with a call: an answer, or the name of a reason to give none. */
export type Script = (place: CallPlace, request: ModelCall) => string | Partial<VisionAnswer>

const REASONS = ["throttled", "unavailable", "refused", "captured"] as const

/** A model that does what a script says; each answer costs 100 tokens in and 10 out. */
export const scriptedModel = (script: Script) => {
  const calls: Array<CallPlace> = []
  const requests: Array<ModelCall> = []
  const model: VisionModel["Service"] = {
    converse: (request, place) =>
      Effect.suspend(() => {
        calls.push(place)
        requests.push(request)
        const said = script(place, request)
        const reason = REASONS.find((one) => one === said)
        if (reason !== undefined) return Effect.fail(new VisionModelError({ reason, message: reason }))
        const answer: VisionAnswer = {
          text: typeof said === "string" ? said : "",
          stopReason: "end_turn",
          usage: { inputTokens: 100, outputTokens: 10 },
          fromBatch: false,
          ...(typeof said === "string" ? {} : said)
        }
        return Effect.succeed(answer)
      })
  }
  return { calls, requests, layer: Layer.succeed(VisionModel, model) }
}

/** A cleaner that takes scripts out, which is enough to see that it was used. */
export const plainCleaner = Layer.succeed(HtmlAssembly, {
  clean: (html) => Effect.succeed(html.replaceAll(/<script[\s\S]*?<\/script>/g, "")),
  survey: () => Effect.die("no result is surveyed apart"),
  assemble: ({ pages }) => Stream.map(pages, ({ html }) => html)
})

/** Objects in a map. */
export const mapObjects = () => {
  const objects = new Map<string, string>()
  const missing = (key: string) => Effect.fail(new ObjectStoreError({ reason: "missing", key }))
  const layer = Layer.succeed(FileObjects, {
    put: (key, body) =>
      Effect.map(Stream.runCollect(body), (parts) => {
        const bytes = Buffer.concat([...parts])
        objects.set(key, bytes.toString())
        return bytes.length
      }),
    create: missing,
    get: (key) => {
      const found = objects.get(key)
      return found === undefined
        ? Stream.fromEffect(missing(key))
        : Stream.make(new TextEncoder().encode(found))
    },
    localPath: missing,
    stat: missing,
    list: () => Stream.empty,
    remove: (keys) => Effect.sync(() => keys.forEach((key) => objects.delete(key))),
    check: Effect.void
  })
  return { objects, layer }
}
