/**
 * `BatchStore`: a job has one row, which moves forward only; of many that close or resume it one wins, and it is billed once.
 *
 * Adapters: memory, postgres. Rules: B1, B2, B4, X1, X2, X3, BATCH-10, BATCH-14, BATCH-15, BATCH-17, BATCH-30, BATCH-40, BATCH-41, BATCH-44, DOC-22.
 */
import type { Layer } from "effect"

import { closed } from "./close.ts"
import { inTurn } from "./in-turn.ts"
import { ownersActs } from "./owner-acts.ts"
import { prepared } from "./prepare.ts"
import type { Stores } from "./rows.ts"

/** What every batch store does with its rows. */
export const suite = (name: string, stores: Layer.Layer<Stores>) => {
  prepared(name, stores)
  closed(name, stores)
  ownersActs(name, stores)
  inTurn(name, stores)
}
