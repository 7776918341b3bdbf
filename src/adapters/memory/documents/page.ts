import { Effect, Option, Schema } from "effect"

import { InvalidCursor } from "../../../ports/cursor.ts"
import type { Moment } from "./rows.ts"
import { by } from "./table.ts"

const Cursor = Schema.fromJsonString(Schema.Tuple([Schema.Int, Schema.String]))
const decodeCursor = Schema.decodeUnknownOption(Cursor)

/** One page of rows, newest first, and the cursor of the next one. */
export const newestFirst = <Row extends { readonly id: string; readonly createdAt: Moment }>(
  rows: ReadonlyArray<Row>,
  { cursor, limit }: { readonly limit: number; readonly cursor?: string | undefined }
): Effect.Effect<
  { readonly rows: ReadonlyArray<Row>; readonly nextCursor: string | null },
  InvalidCursor
> => {
  const after =
    cursor === undefined
      ? undefined
      : Option.getOrUndefined(decodeCursor(Buffer.from(cursor, "base64url").toString("utf8")))
  if (cursor !== undefined && after === undefined) return Effect.fail(new InvalidCursor({ cursor }))
  // No two rows have one moment.
  const found = [...rows]
    .sort(by(({ createdAt }) => -createdAt))
    .filter(({ createdAt }) => after === undefined || createdAt < after[0])
  const page = found.slice(0, limit)
  const last = page.at(-1)
  const more = found.length > limit && last !== undefined
  const text = more ? JSON.stringify([last.createdAt, last.id]) : undefined
  return Effect.succeed({
    rows: page,
    nextCursor: text === undefined ? null : Buffer.from(text).toString("base64url")
  })
}
