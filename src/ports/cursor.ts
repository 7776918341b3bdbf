import { Data } from "effect"

/** The cursor is none that this list gave out. */
export class InvalidCursor extends Data.TaggedError("InvalidCursor")<{ readonly cursor: string }> {}
