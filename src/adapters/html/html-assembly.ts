import { Effect, Layer, Stream } from "effect"

import { languageTag } from "../../domain/conversion/html/allowed.ts"
import { DOCUMENT_END, documentStart } from "../../domain/conversion/html/shell.ts"
import { planOf } from "../../domain/conversion/html/survey.ts"
import { type AssemblyInput, HtmlAssembly, LanguageDetector } from "../../ports/conversion/html-assembly.ts"
import { AssemblyThread } from "./assembly-thread.ts"

const assembleIn = (thread: AssemblyThread, detect: LanguageDetector["Service"]["detect"]) => {
  let documents = 0
  return <E>({ facts, name, pages }: AssemblyInput<E>): Stream.Stream<string, E> =>
    Stream.unwrap(
      Effect.gen(function* () {
        const document = documents++
        yield* Effect.addFinalizer(() => Effect.sync(() => thread.drop(document)))
        yield* Stream.runForEach(pages, ({ html }) => thread.ask("survey", { document, html }))
        const survey = yield* thread.ask("surveyed", { document })
        const guess = languageTag(facts.lang) === undefined ? yield* detect(survey.sample) : undefined
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

/** Assembly on parse5's trees, in a thread of its own; what models write goes through hast-util-sanitize. */
export const layer: Layer.Layer<HtmlAssembly, never, LanguageDetector> = Layer.effect(
  HtmlAssembly,
  Effect.gen(function* () {
    const { detect } = yield* LanguageDetector
    const thread = yield* Effect.acquireRelease(
      Effect.sync(() => new AssemblyThread()),
      (one) => Effect.promise(() => one.stop())
    )
    return HtmlAssembly.of({
      clean: (html) => thread.ask("clean", { html }),
      assemble: assembleIn(thread, detect)
    })
  })
)
