import { Context, type Effect, type Stream } from "effect"

import type { ResultFormat, ResultPictures } from "../../reader/model/result-block.ts"

/** A picture of a result. */
interface ResultPicture {
  readonly mediaType: string
  readonly bytes: Uint8Array
}

/** Writes a stored result, which is HTML, in the format that a caller asks for (DOC-27). */
export class ResultFormats extends Context.Service<
  ResultFormats,
  {
    /** The result, part by part. `html` may be read twice; memory holds one block of it, however long it is. */
    readonly write: <E>(
      html: Stream.Stream<string, E>,
      as: { readonly format: ResultFormat; readonly pictures: ResultPictures }
    ) => Stream.Stream<string, E>
    /** A picture by its index in the format `json`; undefined where there is no such picture. */
    readonly picture: <E>(
      html: Stream.Stream<string, E>,
      index: number
    ) => Effect.Effect<ResultPicture | undefined, E>
  }
>()("postlane/ports/ResultFormats") {}
