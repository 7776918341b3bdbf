import { Context, Data, type Effect } from "effect"

import type { DoubtfulPages } from "../../reader/model/doubt.ts"
import type { LeftOut } from "../../reader/model/left-out.ts"

/**
 * A document was not converted. `document`: the document is at fault, and the message is for its owner; `crashed`: its
 * reader died or took too long, worth a few retries; `unavailable`: the pipeline could not be reached, worth a retry for as
 * long as that lasts.
 */
export class PipelineError extends Data.TaggedError("PipelineError")<{
  readonly reason: "document" | "crashed" | "unavailable"
  readonly message: string
  readonly cause?: unknown
}> {}

/** A source document in the store of mails under way, and where its result goes. */
interface PipelineJob {
  readonly sourceKey: string
  readonly resultKey: string
  /** Name of the file, for a document without a title. */
  readonly name: string
}

/** The outcome of a conversion; the result is stored under its key. */
interface Converted {
  readonly bytes: number
  /** Pages that could be read, by class: these are charged. */
  readonly standardPages: number
  readonly complexPages: number
  /** Pages that could not be read, from 1, in order. */
  readonly unreadablePages: ReadonlyArray<number>
  /** Pages that were read from their pictures, but not well, from 1; absent: none. */
  readonly poorlyReadPages?: ReadonlyArray<number>
  /** Doubtful pages, by reason; absent: none. */
  readonly doubtfulPages?: ReadonlyArray<DoubtfulPages>
  /** Whether the result contains any text. */
  readonly hasText: boolean
  /** What the document holds that was not converted; absent: nothing. */
  readonly leftOut?: LeftOut
}

/** The conversion pipeline, as intake calls it without authentication (INBOUND-8). */
export class ConvertPipeline extends Context.Service<
  ConvertPipeline,
  {
    /** Pages of a source; undefined where only a conversion can count them. */
    readonly countPages: (sourceKey: string) => Effect.Effect<number | undefined, PipelineError>
    /** Converts; a repeated job overwrites its own result. */
    readonly convert: (job: PipelineJob) => Effect.Effect<Converted, PipelineError>
  }
>()("postlane/ports/ConvertPipeline") {}
