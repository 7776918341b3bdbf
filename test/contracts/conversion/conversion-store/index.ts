/**
 * `ConversionStore`: a job runs from the request to the charge under leases, is cancelled or deleted whole, and is claimed and
 * paid once however many race.
 *
 * Adapters: memory, postgres. Rules: C2, C3, C4, F1, F2, H3, K1, R1, R2, X1, X2, DOC-1, DOC-4, DOC-10, DOC-11, DOC-12, DOC-14, DOC-15, DOC-16, DOC-17, DOC-22,
 * DOC-30, DOC-31, DOC-32, DOC-40, DOC-42, DOC-45.
 */
import type { Layer } from "effect"

import type { ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import type { DocumentsWorld } from "../documents-world.ts"
import * as Ends from "./ends.ts"
import * as Flyers from "./flyers.ts"
import * as Funds from "./funds.ts"
import * as Holds from "./holds.ts"
import * as Inline from "./inline.ts"
import * as Jobs from "./jobs.ts"
import * as Legibility from "./legibility.ts"
import * as Lookups from "./lookups.ts"
import * as Moves from "./moves.ts"
import * as OwnRows from "./own-rows.ts"
import * as Races from "./races.ts"
import * as Retries from "./retries.ts"
import * as Turns from "./turns.ts"
import * as Upkeep from "./upkeep.ts"

/** What every conversion store does. */
export const suite = (name: string, stores: Layer.Layer<ConversionStore | DocumentsWorld>) => {
  for (const chapter of [Jobs, Ends, Funds, Races, Holds, Legibility, Moves, Retries, Turns, Upkeep, Lookups])
    chapter.suite(name, stores)
  for (const chapter of [Flyers, Inline, OwnRows]) chapter.suite(name, stores)
}
