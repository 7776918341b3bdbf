import { Effect, Schema, SchemaIssue } from "effect"

import { invalidRequest, type Problem } from "./problem.ts"

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1()

/** Makes a decoder of parsed bodies whose refusal names every wrong field. */
export const bodyDecoder = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => {
  const decode = Schema.decodeUnknownEffect(schema, { errors: "all" })
  return (body: unknown): Effect.Effect<S["Type"], Problem> =>
    Effect.mapError(decode(body), (error) =>
      invalidRequest(
        formatIssue(error.issue).issues.map(({ path, message }) => ({
          path: (path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join("."),
          message
        }))
      )
    )
}
