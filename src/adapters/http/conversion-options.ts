import { Effect } from "effect"

import { invalidRequest, type Problem } from "./problem.ts"

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

/**
 * Refuses a body whose `options` name one of Postlane's own (underscored): those are notes of the service about money and the
 * batch lane, and dropping one without a word would let its sender believe that it counts.
 */
export const refuseInternalOptions = (body: unknown): Effect.Effect<unknown, Problem> => {
  const options = isObject(body) && "options" in body ? body.options : undefined
  const wrong = isObject(options) ? Object.keys(options).filter((name) => name.startsWith("_")) : []
  return wrong.length === 0
    ? Effect.succeed(body)
    : Effect.fail(
        invalidRequest(
          wrong.map((name) => ({ path: `options.${name}`, message: "cannot be set from outside" }))
        )
      )
}
