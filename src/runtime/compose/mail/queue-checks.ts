import { Effect } from "effect"

import type { DeferQueue } from "../../../ports/mail/defer-queue.ts"
import type { Check } from "../../process/readiness.ts"

const DESERTED = "No process takes from the retry queue: start one with the role retry"

/**
 * Readiness on the retry queue: it answers, and somebody consumes it, which a process with the role does itself. Where there is no
 * queue there is nothing to report; the start warns of it, and the doctor.
 */
export const queueChecks = (queue: DeferQueue["Service"], isConsumer: boolean): ReadonlyArray<Check> => {
  if (!queue.configured) return []
  const consumed = Effect.flatMap(queue.isConsumed, (is) =>
    is === false ? Effect.fail(new Error(DESERTED)) : Effect.void
  )
  return [
    { name: "queue", run: queue.check },
    ...(isConsumer ? [] : [{ name: "queue-consumer", advisory: true as const, run: consumed }])
  ]
}
