import { Effect, Semaphore } from "effect"

import { problem, type Problem } from "./problem.ts"

/** What one principal has under way. */
interface Line {
  readonly turn: Semaphore.Semaphore
  asked: number
}

/** Reads of one principal, the one that runs and those that wait: a page asks for two at once. */
const MOST_ASKED = 4

const tooMany = problem(
  "RATE_LIMITED",
  `One token or session asks for ${MOST_ASKED} things at once; retry when one of them is answered`
)

/** Slow reads: one at a time for each principal, so that one of them cannot hold all the shared connections. */
export const makeTurns = () => {
  const lines = new Map<string, Line>()
  return <A, E, R>(principal: string, read: Effect.Effect<A, E, R>) =>
    Effect.suspend((): Effect.Effect<A, E | Problem<"RATE_LIMITED">, R> => {
      const line = lines.get(principal) ?? { turn: Semaphore.makeUnsafe(1), asked: 0 }
      if (line.asked >= MOST_ASKED) return Effect.fail(tooMany)
      line.asked += 1
      lines.set(principal, line)
      return Effect.ensuring(
        line.turn.withPermit(read),
        Effect.sync(() => {
          line.asked -= 1
          if (line.asked === 0) lines.delete(principal)
        })
      )
    })
}
