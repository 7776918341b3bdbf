import { Data } from "effect"

/** The program ends before it has begun, with words for whoever started it: what is wrong, and what to do. */
export class CannotStart extends Data.TaggedError("CannotStart")<{ readonly message: string }> {}
