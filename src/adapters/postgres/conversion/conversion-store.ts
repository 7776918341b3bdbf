import { Effect, Layer } from "effect"

import { ConversionStore } from "../../../ports/conversion/conversion-store.ts"
import { ReadSql, WriteSql } from "../client.ts"
import { assembliesOn, chunksOn, upkeepOn } from "./chunks.ts"
import { filesOn, purgingOn, requestsOn } from "./files.ts"
import { flyersOn, flyerWorkOn } from "./flyers.ts"
import { inlineOn } from "./inline.ts"
import { lookupsOn } from "./lookups.ts"

/** Files, jobs, chunks and their funds on PostgreSQL: the functions of `accounts/funds` and `conversion`. */
export const layer: Layer.Layer<ConversionStore, never, ReadSql | WriteSql> = Layer.effect(
  ConversionStore,
  Effect.gen(function* () {
    const read = yield* ReadSql
    const write = yield* WriteSql
    return ConversionStore.of({
      ...filesOn(read, write),
      ...lookupsOn(read),
      ...purgingOn(read, write),
      ...requestsOn(read, write),
      ...chunksOn(write),
      ...assembliesOn(write),
      ...upkeepOn(write),
      ...inlineOn(write),
      ...flyersOn(read, write),
      ...flyerWorkOn(write)
    })
  })
)
