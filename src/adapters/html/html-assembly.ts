import { Effect, Layer, Stream } from "effect"

import { PageFold } from "../../domain/conversion/html/fold.ts"
import { DOCUMENT_END, documentStart } from "../../domain/conversion/html/shell.ts"
import { planOf, Surveyor } from "../../domain/conversion/html/survey.ts"
import { type AssemblyInput, HtmlAssembly } from "../../ports/html-assembly.ts"
import { LanguageDetector } from "../../ports/language-detector.ts"
import { cleanFragment } from "./clean.ts"
import { parseFragment } from "./parse-fragment.ts"

const assembleWith =
  (detect: (text: string) => string | undefined) =>
  <E>({ facts, name, pages }: AssemblyInput<E>): Stream.Stream<string, E> =>
    Stream.unwrap(
      Effect.gen(function* () {
        const surveyor = new Surveyor()
        yield* Stream.runForEach(pages, ({ html }) =>
          Effect.sync(() => {
            if (!surveyor.skips(html)) surveyor.add(parseFragment(html))
          })
        )
        const plan = planOf(surveyor.survey(), facts, { detect, name })
        const fold = new PageFold(plan)
        return Stream.make(documentStart(plan)).pipe(
          Stream.concat(
            Stream.map(pages, ({ html, index, label }) =>
              fold.add({ index, label, nodes: parseFragment(html) })
            )
          ),
          Stream.concat(Stream.sync(() => fold.end() + DOCUMENT_END)),
          Stream.filter((part) => part !== "")
        )
      })
    )

/** Assembly on parse5's trees; what models write goes through hast-util-sanitize. */
export const layer: Layer.Layer<HtmlAssembly, never, LanguageDetector> = Layer.effect(
  HtmlAssembly,
  Effect.gen(function* () {
    const { detect } = yield* LanguageDetector
    return HtmlAssembly.of({
      clean: (html) => Effect.sync(() => cleanFragment(html)),
      assemble: assembleWith(detect)
    })
  })
)
