import { Context, type Effect, type Stream } from "effect"

import type { DocumentFacts } from "../../reader/model/page-content.ts"
import type { Survey } from "../../reader/model/survey.ts"

/** A converted page, as a chunk's result holds it. */
export interface PageFragment {
  /** From 0. */
  readonly index: number
  /** The page's label in the document. */
  readonly label: string
  /** An HTML fragment that has gone through `clean`; empty for a blank page. */
  readonly html: string
}

/** The input of an assembled document. */
export interface AssemblyInput<E> {
  readonly facts: Pick<DocumentFacts, "lang" | "leftOut" | "title">
  /** The file's name, for a document without a title. */
  readonly name: string | undefined
  /** All pages in order. Read twice where there is no survey of them: for headings, title and language, and to write. */
  readonly pages: Stream.Stream<PageFragment, E>
  readonly survey?: Survey
  /** Notes to the reader, shown above the document, a paragraph each. */
  readonly notes?: ReadonlyArray<string>
  /** Estimated pages of a document without page breaks: its result marks no pages. */
  readonly estimatedPages?: number | undefined
}

/** Sanitises the HTML of models, and assembles fragments into one accessible file (DOC-21). */
export class HtmlAssembly extends Context.Service<
  HtmlAssembly,
  {
    /**
     * Sanitises a model's fragment: keeps elements, MathML and attributes of the allow-list and safe links; no scripts,
     * styles, handlers, nothing that is loaded from elsewhere. Total: any text gives a fragment.
     */
    readonly clean: (html: string) => Effect.Effect<string>
    /**
     * Reads all pages in order, as they arrive, and collects what has to be known before the first is written. `facts`: those that
     * the document is assembled with.
     */
    readonly survey: <E, R>(
      pages: Stream.Stream<PageFragment, E, R>,
      facts: AssemblyInput<E>["facts"]
    ) => Effect.Effect<Survey, E, R>
    /** The document, part by part. Memory holds the headings and a page or two, however many there are. */
    readonly assemble: <E>(input: AssemblyInput<E>) => Stream.Stream<string, E>
  }
>()("postlane/ports/HtmlAssembly") {}

/** Detects the language of running text. */
export class LanguageDetector extends Context.Service<
  LanguageDetector,
  {
    /** Detects the language, as a tag (BCP 47); undefined when the text is too short or too mixed. */
    readonly detect: (text: string) => Effect.Effect<string | undefined>
  }
>()("postlane/ports/LanguageDetector") {}
