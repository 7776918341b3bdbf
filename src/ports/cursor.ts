import { Data } from "effect"

/** The cursor was not issued by this list. */
export class InvalidCursor extends Data.TaggedError("InvalidCursor")<{ readonly cursor: string }> {}
