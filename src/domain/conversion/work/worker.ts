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
 * Does the first piece of work that is due: what brings a conversion to its end comes before what begins one. False: there is
 * none.
 */
export const workOnce = Effect.fnUntraced(function* (worker: string, settings: WorkSettings) {
  const store = yield* ConversionStore
  const replay = yield* BatchReplay
  const primed = (yield* (yield* OwnStores).batchRefusal) === undefined
  const stale = staleAfter(settings.heartbeat)
  const kinds = [
    doNext(
      "conversions",
      (lease) => store.claimAssembly(lease, stale),
      (assembly) => assembleJob(assembly, settings)
    ),
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
  for (const next of kinds) if (yield* next) return true
  return false
})
