import { type Duration, Effect, Stream } from "effect"

import type { StoredFile } from "../../domain/conversion/file.ts"
import type { FileWatch } from "./file-watch.ts"

const isUnderWay = ({ status }: StoredFile): boolean =>
  status === "processing" || status === "chunked_processing"

/**
 * Waits until the conversions of these files have ended, at most `within`; at once where there are none. The files are looked at with all
 * others that this process watches, in one query: a caller that waits costs no connection (DOC-45).
 */
export const untilEnded = (
  { watch }: FileWatch["Service"],
  files: ReadonlyArray<StoredFile>,
  within: Duration.Duration
): Effect.Effect<void> =>
  Effect.forEach(files.filter(isUnderWay), (file) => Stream.runDrain(watch(file)), {
    concurrency: "unbounded",
    discard: true
  }).pipe(Effect.timeoutOrElse({ duration: within, orElse: () => Effect.void }))
