import { Context, type Effect, type Stream } from "effect"

import type { DocumentFacts } from "../../domain/conversion/page-content.ts"

/** A converted page, as a chunk's result holds it. */
export interface PageFragment {
  /** From 0. */
  readonly index: number
  /** The label that the document gives the page. */
  readonly label: string
  /** An HTML fragment that has gone through `clean`; empty for a blank page. */
  readonly html: string
}

/** What a document is put together from. */
export interface AssemblyInput<E> {
  readonly facts: Pick<DocumentFacts, "lang" | "title">
  /** What the document is called outside, for one that has no title: its file's name. */
  readonly name: string | undefined
  /** All pages in order. Run twice: once for headings, title and language, once to write. */
  readonly pages: Stream.Stream<PageFragment, E>
}

/** Makes safe fragments of what models write, and one accessible file of fragments. */
export class HtmlAssembly extends Context.Service<
  HtmlAssembly,
  {
    /**
     * What may stay of a fragment that a model wrote: elements, MathML and attributes of the allow-list, links that may be
     * followed; no scripts, styles, handlers, nothing that is loaded from elsewhere. Total: any text gives a fragment.
     */
    readonly clean: (html: string) => Effect.Effect<string>
    /** The document, part by part. Memory holds a page or two, however many there are, and the headings. */
    readonly assemble: <E>(input: AssemblyInput<E>) => Stream.Stream<string, E>
  }
>()("postlane/ports/HtmlAssembly") {}

/** Tells the language of running text. */
export class LanguageDetector extends Context.Service<
  LanguageDetector,
  {
    /** Its language tag (BCP 47); undefined where the text is too short or too mixed to tell. */
    readonly detect: (text: string) => string | undefined
  }
>()("postlane/ports/LanguageDetector") {}
