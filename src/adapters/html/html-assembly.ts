import { Context, Effect, Layer, Stream } from "effect"

import { languageTag } from "../../domain/conversion/html/allowed.ts"
import { DOCUMENT_END, documentStart } from "../../domain/conversion/html/shell.ts"
import { planOf } from "../../domain/conversion/html/survey.ts"
import { type AssemblyInput, HtmlAssembly, LanguageDetector } from "../../ports/conversion/html-assembly.ts"
import { AssemblyThread } from "./assembly-thread.ts"

const assembleIn = (thread: AssemblyThread) => {
  let documents = 0
  return <E>({ facts, name, pages }: AssemblyInput<E>): Stream.Stream<string, E> =>
    Stream.unwrap(
      Effect.gen(function* () {
        const document = documents++
        yield* Effect.addFinalizer(() => Effect.sync(() => thread.drop(document)))
        yield* Stream.runForEach(pages, ({ html }) => thread.ask("survey", { document, html }))
        const survey = yield* thread.ask("surveyed", { document })
        const guess =
          languageTag(facts.lang) === undefined
            ? yield* thread.ask("detect", { text: survey.sample })
            : undefined
        const plan = planOf(survey, facts, { detect: () => guess, name })
        yield* thread.ask("begin", { document, plan })
        return Stream.make(documentStart(plan)).pipe(
          Stream.concat(Stream.mapEffect(pages, (page) => thread.ask("add", { document, page }))),
          Stream.concat(Stream.fromEffect(thread.ask("end", { document }))),
          Stream.concat(Stream.make(DOCUMENT_END)),
          Stream.filter((part) => part !== "")
        )
      })
    )
}

/**
 * Assembly on parse5's trees, and eld's detection of languages, in a thread of their own; what models write goes through
 * hast-util-sanitize.
 */
export const layer: Layer.Layer<HtmlAssembly | LanguageDetector> = Layer.effectContext(
  Effect.gen(function* () {
    const thread = yield* Effect.acquireRelease(
      Effect.sync(() => new AssemblyThread()),
      (one) => Effect.promise(() => one.stop())
    )
    return Context.make(HtmlAssembly, {
      clean: (html) => thread.ask("clean", { html }),
      assemble: assembleIn(thread)
    }).pipe(Context.add(LanguageDetector, { detect: (text) => thread.ask("detect", { text }) }))
  })
)
