import { Context, Data, type Effect } from "effect"

/**
 * A document was not converted. `document`: it is the document's fault, and the message tells its owner; `crashed`: its reader died or
 * took too long, which another try may change, a few times at most; `unavailable`: the way to it, however long that lasts.
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

/** What a conversion came to; the result stands at its key. */
interface Converted {
  readonly bytes: number
  /** Pages that could be read, by class: they are charged. */
  readonly standardPages: number
  readonly complexPages: number
  /** Pages that could not be read, from 1, in order. */
  readonly unreadablePages: ReadonlyArray<number>
  /** Whether there is a word of text in the result. */
  readonly hasText: boolean
}

/** The conversion pipeline as intake calls it: no authentication (document 2, step 7). */
export class ConvertPipeline extends Context.Service<
  ConvertPipeline,
  {
    /** Pages of a source; undefined where only a conversion tells. */
    readonly countPages: (sourceKey: string) => Effect.Effect<number | undefined, PipelineError>
    /** Converts; the same job again overwrites its own result. */
    readonly convert: (job: PipelineJob) => Effect.Effect<Converted, PipelineError>
  }
>()("postlane/ports/ConvertPipeline") {}
