import { Effect, Option, Schema } from "effect"

import { InvalidCursor } from "../../ports/cursor.ts"
import { isMoment } from "./moment.ts"

/** Where a page ended: its last row's `created_at` and `id`. */
const Cursor = Schema.fromJsonString(
  Schema.Tuple([Schema.String.check(Schema.makeFilter(isMoment)), Schema.String.check(Schema.isUUID())])
)
export type Cursor = typeof Cursor.Type

const decodeCursor = Schema.decodeUnknownOption(Cursor)

/** Reads a cursor that {@link cursorOf} gave out. */
export const readCursor = (cursor: string): Effect.Effect<Cursor, InvalidCursor> =>
  Option.match(decodeCursor(Buffer.from(cursor, "base64url").toString("utf8")), {
    onNone: () => Effect.fail(new InvalidCursor({ cursor })),
    onSome: Effect.succeed
  })

export const cursorOf = (createdAt: string, id: string): string =>
  Buffer.from(JSON.stringify([createdAt, id])).toString("base64url")
