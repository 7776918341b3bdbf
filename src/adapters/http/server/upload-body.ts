import { ByteSize, Data, Effect, Option, Stream } from "effect"
import { HttpIncomingMessage, type HttpServerRequest, Multipart } from "effect/http"

/** A body that breaks off, or is no multipart form with a field `file`. */
class BadUpload extends Data.TaggedError("BadUpload")<{ readonly message: string }> {}

/** An incoming file: its name as sent, its bytes as they arrive. */
interface IncomingFile {
  readonly name: string
  readonly body: Stream.Stream<Uint8Array, BadUpload>
}

/** Largest size of a form's other fields, which are held in memory. */
const MAX_FIELD = ByteSize.bytes(64 * 1024)
const MAX_PARTS = 100

const brokeOff = () => new BadUpload({ message: "the body ended early" })

/** A quotation mark in a part's file name: browsers write `%22`, older clients put a backslash before it. */
const unquoted = (name: string): string => name.replaceAll(/%22|\\"/g, '"')

const content = (part: Multipart.File) => Stream.mapError(part.content, brokeOff)

const isForm = (request: HttpServerRequest.HttpServerRequest): boolean =>
  /^multipart\/form-data\b/i.test(request.headers["content-type"] ?? "")

/**
 * Passes the uploaded file to `use` while it arrives: the field `file` of a form, else the whole body. Other parts of a
 * form are skipped.
 */
export const withUpload = <A, E, R>(
  request: HttpServerRequest.HttpServerRequest,
  { maxBytes, name }: { readonly maxBytes: number; readonly name: string | undefined },
  use: (file: IncomingFile) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | BadUpload, R> => {
  if (!isForm(request)) {
    return use({ name: name ?? "", body: Stream.mapError(request.stream, brokeOff) })
  }
  return request.multipartStream.pipe(
    // The caller bounds the file itself; this limit only has to let a form of that size through.
    Stream.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBytes)),
    Stream.provideService(Multipart.MaxFieldSize, MAX_FIELD),
    Stream.provideService(Multipart.MaxParts, MAX_PARTS),
    Stream.mapError((error) => new BadUpload({ message: `the form cannot be read (${error.reason._tag})` })),
    Stream.filter(Multipart.isFile),
    // A part that is not drained would block the parser from the next one.
    Stream.tap((part) => (part.key === "file" ? Effect.void : Stream.runDrain(content(part)))),
    Stream.filter(({ key }) => key === "file"),
    Stream.mapEffect((part) =>
      use({
        name: part.name === "" ? (name ?? "") : unquoted(part.name),
        body: content(part)
      })
    ),
    // Take the first only here: ending the stream of parts earlier would end the bytes of the part too.
    Stream.runHead,
    Effect.flatMap(
      Option.match({
        onNone: () => Effect.fail(new BadUpload({ message: "the form has no file in a field called file" })),
        onSome: Effect.succeed
      })
    )
  )
}
