import { Effect } from "effect"

import {
  type VisionAnswer,
  VisionModel,
  VisionModelError
} from "../../../src/ports/conversion/vision-model.ts"
import type { Chance } from "../kernel.ts"
import { alive, type SimProcess } from "../process.ts"
import type { Chronicle } from "../world.ts"
import { askedPages, readWords, USAGE } from "./papers.ts"

/** How often a model does what nobody wants, a call. */
export interface ModelMood {
  readonly throttled: number
  readonly unavailable: number
  readonly refuses: number
  readonly truncates: number
  /** The answer lacks most of the page's words. */
  readonly skips: number
  readonly slow: number
}

/** What a model reported to a process. */
export interface ReportedTokens {
  readonly process: string
  /** Of the document. */
  readonly name: string
}

/** A model of vision that many processes ask: it answers with the page's words, late, badly or not at all. */
export const makeModel = (options: {
  readonly chance: Chance
  readonly chronicle: Chronicle
  readonly mood: () => ModelMood
  /** How long a call takes, at least and at most, milliseconds. */
  readonly takesMs: readonly [least: number, most: number]
}) => {
  const { chance, chronicle, mood, takesMs } = options
  const reported: Array<ReportedTokens> = []
  const answerOf = (
    pages: ReadonlyArray<string>,
    together: boolean,
    { skips, truncates }: ModelMood
  ): Pick<VisionAnswer, "text" | "stopReason"> => {
    if (chance.bool(truncates)) {
      chronicle.saw("model truncates")
      return { text: pages.join("").slice(0, -5), stopReason: "max_tokens" }
    }
    const isSkipping = chance.bool(skips)
    if (isSkipping) chronicle.saw("model skips words")
    const html = pages.map((words) =>
      words === "" ? "" : `<p>${isSkipping ? words.slice(0, words.indexOf(" four")) : words}</p>`
    )
    // Pages that are asked about together come in a section each.
    const text = together ? html.map((page) => `<section>${page}</section>`).join("") : html.join("")
    return { text, stopReason: "end_turn" }
  }
  return {
    reported: reported as ReadonlyArray<ReportedTokens>,
    connect: (process: SimProcess): VisionModel["Service"] =>
      VisionModel.of({
        converse: (call, place) =>
          Effect.gen(function* () {
            const now = mood()
            yield* alive(process)
            yield* Effect.sleep(chance.bool(now.slow) ? chance.int(20_000, 180_000) : chance.int(...takesMs))
            yield* alive(process)
            for (const reason of ["throttled", "unavailable", "refuses"] as const) {
              if (!chance.bool(now[reason])) continue
              chronicle.saw(`model ${reason}`)
              return yield* new VisionModelError({
                reason: reason === "refuses" ? "refused" : reason,
                message: reason
              })
            }
            const pages = askedPages(call)
            chronicle.saw(`model answers ${place.tier}`)
            reported.push({ process: process.id, name: pages[0]?.name ?? "" })
            const words = pages.map(readWords)
            return { ...answerOf(words, place.tier === "math-ocr", now), usage: USAGE, fromBatch: false }
          })
      })
  }
}
