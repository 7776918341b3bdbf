import { Context, type Effect } from "effect"

/** Makes HTML of a stranger (a model, a document) harmless: an allow-list of elements and attributes, nothing that runs or loads. */
export class HtmlCleaner extends Context.Service<
  HtmlCleaner,
  {
    /** A fragment for the inside of a page. Never fails: what it does not know, it leaves out. */
    readonly clean: (html: string) => Effect.Effect<string>
  }
>()("postlane/ports/HtmlCleaner") {}
