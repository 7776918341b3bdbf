import { Context, Data, type Effect } from "effect"

/**
 * A reader that ended without an answer. `timeout`: it took too long; `memory`: it needed more than it may have; `crashed`: what it
 * read ended it some other way; `unavailable`: no process could be started, which says nothing about what was to be read.
 */
export class ReaderEnded extends Data.TaggedError("ReaderEnded")<{
  readonly reason: "timeout" | "memory" | "crashed" | "unavailable"
  readonly cause?: unknown
}> {}

/** A program that reads what strangers wrote, and what it may use. */
export interface Reader {
  /** Its module; the default export is `(task) => answer`, a promise or not, of values that can be cloned. */
  readonly program: URL
  readonly timeoutMs: number
  /** Memory of JavaScript. */
  readonly heapMb: number
  /** Memory of the whole process: most of a file's bytes stand outside of JavaScript's. */
  readonly residentMb: number
  /** Tasks that one process takes, one after another, before it is replaced. */
  readonly tasks: number
}

/**
 * Runs readers in processes of their own, so that no input keeps the program from answering or takes its memory. The answer is as
 * the program gave it. A reader that does not answer is killed, alone.
 */
export class ReaderProcess extends Context.Service<
  ReaderProcess,
  { readonly run: (reader: Reader, task: unknown) => Effect.Effect<unknown, ReaderEnded> }
>()("postlane/ports/ReaderProcess") {}
