import { Context } from "effect"

import type { ReturnedRecord } from "../../domain/batch/record.ts"
import type { ModelCall } from "../../domain/cascade/model-call.ts"

/** Writes a call as a line of input, its newline included; the line is valid until the next. */
export type RecordWriter = (recordId: string, call: ModelCall) => Uint8Array

/** The lines of the files that are exchanged with the batch service. */
export class BatchLines extends Context.Service<
  BatchLines,
  {
    readonly makeWriter: () => RecordWriter
    /** Reads a line of output; undefined for one that is not a record (cut off, malformed, without an id). */
    readonly read: (line: Uint8Array) => ReturnedRecord | undefined
  }
>()("postlane/ports/BatchLines") {}
