import { Context, Effect, Layer, Stream } from "effect"

import {
  type AssemblyInput,
  HtmlAssembly,
  LanguageDetector,
  type PageFragment
} from "../../ports/conversion/html-assembly.ts"
import { ResultFormats } from "../../ports/conversion/result-formats.ts"
import { languageTag } from "../../reader/html/allowed.ts"
import { DOCUMENT_END, documentStart } from "../../reader/html/shell.ts"
import { planOf } from "../../reader/html/survey.ts"
import { AssemblyThread } from "./assembly-thread.ts"
import { formatsIn } from "./result-formats.ts"

const assemblyIn = (thread: AssemblyThread) => {
  let documents = 0
  /** The number of a document's state in the thread, which is kept until the scope closes. */
  const begun = Effect.acquireRelease(
    Effect.sync(() => documents++),
    (document) => Effect.sync(() => thread.drop(document))
  )
  const surveyOf = <E, R>(
    pages: Stream.Stream<PageFragment, E, R>,
    { lang }: AssemblyInput<unknown>["facts"]
  ) =>
    Effect.gen(function* () {
      const document = yield* begun
      // Starts the thread and loads its modules in the background while the first pages are made, which have precedence.
      yield* Effect.forkScoped(thread.ask("look", { document }), { startImmediately: true })
      yield* Effect.forkScoped(thread.ask("prepare", { detects: languageTag(lang) === undefined }))
      yield* Stream.runForEachArray(pages, (some) =>
        thread.ask("survey", { document, fragments: some.map(({ html }) => html) })
      )
      return yield* thread.ask("surveyed", { document })
    }).pipe(Effect.scoped)

  const assemble = <E>({
    estimatedPages,
    facts,
    name,
    notes,
    pages,
    survey: known
  }: AssemblyInput<E>): Stream.Stream<string, E> =>
    Stream.unwrap(
      Effect.gen(function* () {
        const document = yield* begun
        const survey = known ?? (yield* surveyOf(pages, facts))
        const guess =
          languageTag(facts.lang) === undefined
            ? yield* thread.ask("detect", { text: survey.sample })
            : undefined
        const plan = planOf(survey, facts, { detect: () => guess, estimatedPages, name, notes })
        yield* thread.ask("begin", { document, plan })
        return Stream.make(documentStart(plan)).pipe(
          Stream.concat(
            Stream.mapArrayEffect(pages, (some) =>
              Effect.map(thread.ask("add", { document, pages: some }), (html) => [html] as const)
            )
          ),
          Stream.concat(Stream.fromEffect(thread.ask("end", { document }))),
          Stream.concat(Stream.make(DOCUMENT_END)),
          Stream.filter((part) => part !== "")
        )
      })
    )
  return { survey: surveyOf, assemble }
}

const threadInScope = Effect.acquireRelease(
  Effect.sync(() => new AssemblyThread()),
  (one) => Effect.promise(() => one.stop())
)

const servicesOf = (thread: AssemblyThread) =>
  Context.make(HtmlAssembly, {
    clean: (html) => thread.ask("clean", { html }),
    ...assemblyIn(thread)
  }).pipe(
    Context.add(LanguageDetector, { detect: (text) => thread.ask("detect", { text }) }),
    Context.add(ResultFormats, formatsIn(thread))
  )

/**
 * Assembly on parse5's trees, and eld's detection of languages, in a separate thread, which starts when it is needed; the HTML of
 * models goes through hast-util-sanitize. Other formats of results are written in the same thread.
 */
export const layer: Layer.Layer<HtmlAssembly | LanguageDetector | ResultFormats> = Layer.effectContext(
  Effect.map(threadInScope, servicesOf)
)

/** The same with the thread started at once: for a command that has one document to write, and reads it meanwhile. */
export const layerStarted: Layer.Layer<HtmlAssembly | LanguageDetector | ResultFormats> = Layer.effectContext(
  Effect.gen(function* () {
    const thread = yield* threadInScope
    yield* Effect.forkScoped(thread.ask("prepare", { detects: false }))
    return servicesOf(thread)
  })
)
