import { Schema } from "effect"

import { problemSchema } from "../problem.ts"

/** What is asked cannot be answered now. */
export const Unavailable = problemSchema("UNAVAILABLE", {})

/** Text that Postgres takes. */
export const Text = Schema.String.check(
  Schema.makeFilter((text) => !text.includes("\0") || "holds a NUL character")
)

/** A filter that may be missing, or there and empty, which means the same. */
export const filter = <S extends Schema.Constraint>(schema: S) =>
  Schema.optionalKey(Schema.Union([schema, Schema.Literal("")]))

/** The number of rows of one page. */
export const page = (fallback: number, maximum: number) =>
  filter(
    Schema.NumberFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 1, maximum })).annotate({
      description: `1 to ${maximum}; ${fallback} where it is missing`
    })
  )

/** Rows of one page where the query names no number. */
export const DEFAULT_PAGE = 50

/** `nextCursor` of the page before. */
export const cursor = filter(Text.check(Schema.isMaxLength(200)))
