import { Context, Data, type Effect } from "effect"

/**
 * A reader that ended without an answer. `timeout`: it took too long; `memory`: it exceeded its memory limit; `crashed`:
 * the input ended it in another way; `unavailable`: no process could be started, which says nothing about the input.
 */
export class ReaderEnded extends Data.TaggedError("ReaderEnded")<{
  readonly reason: "timeout" | "memory" | "crashed" | "unavailable"
  readonly cause?: unknown
}> {}

/** A program that reads untrusted input, and its limits. */
export interface Reader {
  /** Its module; the default export is `(task) => answer`, a promise or not, of structured-cloneable values. */
  readonly program: URL
  readonly timeoutMs: number
  /** Memory of the JavaScript heap. */
  readonly heapMb: number
  /** Memory of the whole process: most of a file's bytes are outside the JavaScript heap. */
  readonly residentMb: number
  /** Tasks that one process runs, one after another, before it is replaced. */
  readonly tasks: number
}

/**
 * Runs readers in processes of their own, so that no input blocks the main process or takes its memory (H1). The answer is
 * returned unchecked. A reader that does not answer is killed, and no other.
 */
export class ReaderProcess extends Context.Service<
  ReaderProcess,
  { readonly run: (reader: Reader, task: unknown) => Effect.Effect<unknown, ReaderEnded> }
>()("postlane/ports/ReaderProcess") {}
