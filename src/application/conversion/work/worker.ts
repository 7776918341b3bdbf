import { Effect } from "effect"

import { ConversionStore } from "../../../ports/conversion/conversion-store.ts"
import { BatchReplay } from "../../batch/replay.ts"
import { doNext, staleAfter } from "../../leased-work.ts"
import { OwnStores } from "../../own-stores.ts"
import { assembleJob } from "./assembling.ts"
import type { WorkSettings } from "./attempt.ts"
import { processChunk } from "./chunk-processing.ts"
import { processFlyer } from "./flyer-processing.ts"
import { processInline } from "./inline-processing.ts"

/**
 * Does a worker's next piece of due work. Work that ends a conversion comes before work that begins one; among the latter the
 * kinds take turns, so that one customer's chunks do not hold up all flyers (H3). Each worker runs this repeatedly. Returns false
 * when no work is due.
 */
export const workOnce = (worker: string, settings: WorkSettings) => {
  let turn = 0
  return Effect.gen(function* () {
    const store = yield* ConversionStore
    const replay = yield* BatchReplay
    const primed = (yield* (yield* OwnStores).batchRefusal) === undefined
    const stale = staleAfter(settings.heartbeat)
    const assembly = doNext(
      "conversions",
      (lease) => store.claimAssembly(lease, stale),
      (claimed) => assembleJob(claimed, settings)
    )
    const kinds = [
      doNext(
        "conversions",
        (lease) => store.claimInline(lease, stale),
        (inline) => processInline(inline, settings)
      ),
      doNext(
        "conversions",
        (lease) => store.claimChunk(worker, lease, settings.perOwner, primed),
        (chunk) => Effect.provideService(processChunk(chunk, settings), BatchReplay, replay)
      ),
      doNext(
        "conversions",
        (lease) => store.claimFlyer(lease, stale, settings.perOwner),
        (flyer) => processFlyer(flyer, settings)
      )
    ]
    if (yield* assembly) return true
    const inTurn = [...kinds.slice(turn), ...kinds.slice(0, turn)]
    for (const next of inTurn) {
      // Before it is done: what fails has had its turn.
      turn = (turn + 1) % kinds.length
      if (yield* next) return true
    }
    return false
  })
}
