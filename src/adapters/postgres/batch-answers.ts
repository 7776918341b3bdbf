import { Exit, Result, Schema } from "effect"

import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { storeUnavailable } from "./statement.ts"

const ordinalOf = (row: object): number | undefined =>
  "ordinal" in row && typeof row.ordinal === "number" && Number.isInteger(row.ordinal)
    ? row.ordinal
    : undefined

/** Decodes one answer; a malformed one fails its own call only. */
export const decoder = <S extends Schema.ConstraintDecoder<unknown>>(schema: S, operation: string) => {
  const decode = Schema.decodeUnknownResult(schema)
  return (row: unknown): Result.Result<S["Type"], StoreUnavailable> =>
    Result.mapError(decode(row), storeUnavailable(operation))
}

const toExit = <A>(result: Result.Result<A, StoreUnavailable>): Exit.Exit<A, StoreUnavailable> =>
  Result.isSuccess(result) ? Exit.succeed(result.success) : Exit.fail(result.failure)

/** Puts the answers of a batch into the order of its items by their `ordinal`, counted from 1. */
export const inOrder = <A>(
  rows: ReadonlyArray<object>,
  count: number,
  operation: string,
  decode: (row: unknown, index: number) => Result.Result<A, StoreUnavailable>
): ReadonlyArray<Exit.Exit<A, StoreUnavailable>> => {
  const exits = Array.from({ length: count }, (): Exit.Exit<A, StoreUnavailable> | undefined => undefined)
  for (const row of rows) {
    const index = (ordinalOf(row) ?? 0) - 1
    if (index in exits) exits[index] = toExit(decode(row, index))
  }
  // Made only where it is needed: an error captures its stack when it is made.
  return exits.map(
    (exit) => exit ?? Exit.fail(storeUnavailable(operation)("the database did not answer this entry"))
  )
}
