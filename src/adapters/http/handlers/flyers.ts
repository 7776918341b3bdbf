import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"

import { ConversionStore, type StoredFlyer } from "../../../ports/conversion-store.ts"
import { FileObjects } from "../../../ports/object-store.ts"
import { CurrentOwner } from "../api/access.ts"
import { Api } from "../api/api.ts"
import type { FlyerJobView } from "../api/flyers.ts"
import { filesUnavailable, noFlyer, ownFile, UUID } from "../own-file.ts"
import { problem, problemResponse } from "../problem.ts"
import { resultResponse } from "../result-response.ts"

const viewOf = (flyer: StoredFlyer): typeof FlyerJobView.Type => ({
  id: flyer.id,
  fileId: flyer.fileId,
  status: flyer.status,
  error: flyer.error,
  compConversionId: flyer.compConversionId,
  createdAt: flyer.createdAt,
  unreadablePages: flyer.unreadablePages
})

/** Flyer jobs and their results (contract, "Files and conversions"). */
export const flyerHandlers = HttpApiBuilder.group(
  Api,
  "flyers",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* ConversionStore
    const objects = yield* FileObjects

    const fileOf = ownFile(store)

    /** A flyer job of the caller's; whatever is none is not found, and neither is somebody else's. */
    const flyerOf = Effect.fnUntraced(function* (flyerId: string) {
      const { customerId } = yield* CurrentOwner
      if (!UUID.test(flyerId)) return yield* Effect.fail(noFlyer)
      const flyer = yield* store.flyer(flyerId, customerId).pipe(Effect.catch(filesUnavailable))
      return flyer ?? (yield* Effect.fail(noFlyer))
    })

    const ended = problem("NOT_CONVERTING", "The flyer job has ended")

    return handlers
      .handle("cancelFlyer", ({ params }) =>
        Effect.gen(function* () {
          const { id, status } = yield* flyerOf(params.id)
          if (status !== "pending" && status !== "processing") return yield* Effect.fail(ended)
          const { customerId } = yield* CurrentOwner
          const answer = yield* store.cancelFlyer(id, customerId).pipe(Effect.catch(filesUnavailable))
          if (answer === "not_active") return yield* Effect.fail(ended)
          return { flyerJob: viewOf(yield* flyerOf(id)) }
        })
      )
      .handle("listFlyerJobs", ({ params }) =>
        Effect.gen(function* () {
          const { id, customerId } = yield* fileOf(params.fileId)
          const flyers = yield* store.flyersOf(id, customerId).pipe(Effect.catch(filesUnavailable))
          return { flyerJobs: flyers.map(viewOf) }
        })
      )
      .handle("getFlyerJob", ({ params }) =>
        Effect.map(flyerOf(params.id), (flyer) => ({ flyerJob: viewOf(flyer) }))
      )
      .handleRaw("getFlyerResult", ({ params }) =>
        Effect.gen(function* () {
          const { resultKey, status } = yield* flyerOf(params.id)
          if (status !== "completed" || resultKey === null) {
            const detail =
              status === "failed" ? "The flyer job has failed" : "The flyer job has no result yet"
            return problemResponse(problem("RESULT_NOT_READY", detail))
          }
          return yield* resultResponse(objects, resultKey)
        }).pipe(
          Effect.catchTag("ObjectStoreError", filesUnavailable),
          Effect.catch((refused) => Effect.succeed(problemResponse(refused)))
        )
      )
  })
)
