import { Context, Data } from "effect"
import type { Effect } from "effect"

import type { FileKind } from "./conversion-store.ts"

/** By its content, it is none of the kinds that are converted. `found` names what it seems to be. */
export class UnsupportedDocument extends Data.TaggedError("UnsupportedDocument")<{
  readonly found: string
}> {}

/** It is of a kind that is converted, and cannot be read: broken, encrypted, without a page. The message is for its owner. */
export class UnreadableDocument extends Data.TaggedError("UnreadableDocument")<{
  readonly message: string
}> {}

/** Tells what a file is by its content, never by its name. */
export class DocumentInspector extends Context.Service<
  DocumentInspector,
  {
    readonly inspect: (
      path: string
    ) => Effect.Effect<
      { readonly kind: FileKind; readonly pages: number },
      UnsupportedDocument | UnreadableDocument
    >
  }
>()("postlane/ports/DocumentInspector") {}
