import { Context, Data, type Effect } from "effect"

/**
 * A reader that ended without an answer. `timeout`: it used more processor time than it may; `memory`: it exceeded its memory limit;
 * `crashed`: the input ended it in another way. `unavailable`: no process could be started, and `stalled`: it got no answer ready for
 * too long by the clock, without using up its processor time. These two say nothing about the input: a busy machine causes them.
 */
export class ReaderEnded extends Data.TaggedError("ReaderEnded")<{
  readonly reason: "timeout" | "memory" | "crashed" | "stalled" | "unavailable"
  readonly cause?: unknown
}> {}

/** A program that reads untrusted input, and its limits. */
export interface Reader {
  /** Its module; the default export is `(task) => answer`, a promise or not, of structured-cloneable values. */
  readonly program: URL
  /** Processor time of one task, milliseconds: what the machine does besides does not count. */
  readonly cpuMs: number
  /** The longest that a task may take by the clock, milliseconds. */
  readonly stallMs?: number
  /** Memory of the JavaScript heap. */
  readonly heapMb: number
  /** Memory of the whole process: most of a file's bytes are outside the JavaScript heap. */
  readonly residentMb: number
  /** Tasks that one process runs, one after another, before it is replaced. */
  readonly tasks: number
}

/**
 * Runs readers in separate processes, so that no input blocks the main process or takes its memory (H1). The answer is
 * returned unchecked. A reader that does not answer is killed, and no other.
 */
export class ReaderProcess extends Context.Service<
  ReaderProcess,
  { readonly run: (reader: Reader, task: unknown) => Effect.Effect<unknown, ReaderEnded> }
>()("postlane/ports/ReaderProcess") {}
