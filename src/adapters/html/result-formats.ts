import { Effect, Option, Result, Stream } from "effect"
import { decode } from "effect/encoding/Base64"

import type { ResultFormats } from "../../ports/conversion/result-formats.ts"
import { PictureFinder, PictureNumbers, pictureOf, PictureRemover } from "../../reader/formats/pictures.ts"
import { ContentReader, PieceReader, type Token, TokenReader } from "../../reader/formats/tokens.ts"
import { PIECE_START, type WrittenFormat } from "../../reader/formats/write-piece.ts"
import type { ResultPictures } from "../../reader/model/result-block.ts"
import type { AssemblyThread } from "./assembly-thread.ts"

/** Each part of a result gives way to other work: a long one would keep requests waiting. */
const parts = <E, A>(html: Stream.Stream<string, E>, change: (text: string) => A): Stream.Stream<A, E> =>
  Stream.mapEffect(html, (text) =>
    Effect.andThen(
      Effect.yieldNow,
      Effect.sync(() => change(text))
    )
  )

/** The tokens of a result that are content. */
const contentOf = <E>(html: Stream.Stream<string, E>) => {
  const tokens = new TokenReader()
  const content = new ContentReader()
  return { head: content.head, tokens: parts(html, (text) => content.of(tokens.add(text))) }
}

const joined = <E>(tokens: Stream.Stream<ReadonlyArray<Token>, E>): Stream.Stream<string, E> =>
  Stream.map(tokens, (some) => some.join(""))

/** Pieces of whole blocks. */
const piecesOf = <E>(tokens: Stream.Stream<ReadonlyArray<Token>, E>): Stream.Stream<string, E> => {
  const pieces = new PieceReader()
  return Stream.concat(
    Stream.flatMap(tokens, (some) => Stream.fromIterable(pieces.add(some))),
    Stream.sync(() => pieces.end())
  )
}

/** The content in another format, without what is around it in a whole document. */
const written = <E>(
  thread: AssemblyThread,
  html: Stream.Stream<string, E>,
  as: { readonly format: WrittenFormat; readonly pictures: ResultPictures },
  stored?: ReadonlyMap<string, number>
): Stream.Stream<string, E> =>
  Stream.suspend(() => {
    const { tokens } = contentOf(html)
    const numbers = new PictureNumbers(stored)
    const keepsData = as.format === "markdown" && as.pictures === "inline"
    let state = PIECE_START
    return piecesOf(keepsData ? tokens : Stream.map(tokens, (some) => numbers.of(some))).pipe(
      Stream.filter((piece) => piece !== ""),
      Stream.mapEffect((piece) => thread.ask("write", { html: piece, as, state })),
      Stream.map((piece) => {
        state = piece.state
        return piece.text
      })
    )
  })

/** The document as data: its pictures from a first reading, which the blocks of the second refer to. */
const dataOf = <E>(
  thread: AssemblyThread,
  html: Stream.Stream<string, E>,
  pictures: ResultPictures
): Stream.Stream<string, E> =>
  Stream.suspend(() => {
    const { head, tokens } = contentOf(html)
    const finder = new PictureFinder()
    let index = 0
    const opening = () => {
      const { lang, title } = head
      return `{"title":${JSON.stringify(title)},"lang":${JSON.stringify(lang)},"pictures":[`
    }
    const entryOf = (source: string) => {
      const { data, ...facts } = pictureOf(source)
      const entry = JSON.stringify({ index, ...facts, ...(pictures === "inline" ? { data } : {}) })
      // The head comes before the first picture.
      const before = index === 0 ? opening() : ",\n"
      index += 1
      return before + entry
    }
    return tokens.pipe(
      Stream.map((some) => finder.add(some).map(entryOf).join("")),
      Stream.concat(Stream.sync(() => `${index === 0 ? opening() : ""}],\n"blocks":[`)),
      Stream.concat(Stream.suspend(() => written(thread, html, { format: "json", pictures }, finder.stored))),
      Stream.concat(Stream.make("]}\n"))
    )
  })

/** The pictures' sources, one after the other. */
const sourcesOf = <E>(html: Stream.Stream<string, E>): Stream.Stream<string, E> =>
  Stream.suspend(() => {
    const finder = new PictureFinder()
    return Stream.flatMap(contentOf(html).tokens, (some) => Stream.fromIterable(finder.add(some)))
  })

/** Formats of results: split into blocks here, and written in the thread. */
export const formatsIn = (thread: AssemblyThread): ResultFormats["Service"] => ({
  write: (html, { format, pictures }) => {
    const whole = () => {
      switch (format) {
        case "html": {
          if (pictures === "inline") return html
          const tokens = new TokenReader()
          const remover = new PictureRemover()
          return joined(parts(html, (text) => remover.of(tokens.add(text))))
        }
        case "fragment": {
          const { tokens } = contentOf(html)
          const remover = new PictureRemover()
          return joined(pictures === "inline" ? tokens : Stream.map(tokens, (some) => remover.of(some)))
        }
        case "json":
          return dataOf(thread, html, pictures)
        case "markdown":
        case "text":
          return Stream.concat(written(thread, html, { format, pictures }), Stream.make("\n"))
      }
    }
    return Stream.suspend(whole).pipe(Stream.filter((part) => part !== ""))
  },
  picture: (html, index) =>
    sourcesOf(html).pipe(
      Stream.drop(index),
      Stream.runHead,
      Effect.map((found) => {
        if (Option.isNone(found)) return undefined
        const { data, mediaType } = pictureOf(found.value)
        const bytes = decode(data)
        return Result.isSuccess(bytes) ? { mediaType, bytes: bytes.success } : undefined
      })
    )
})
