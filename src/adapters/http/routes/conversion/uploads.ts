import { createHash } from "node:crypto"

import { Effect, Schema, Stream } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiEndpoint, HttpApiSchema, OpenApi } from "effect/http-api"

import { MAX_FILE_BYTES, type Uploads } from "../../../../application/conversion/uploads.ts"
import type { CustomerId } from "../../../../domain/ids.ts"
import { type OnceCall, onceHeaders, onceRefusals } from "../../server/once.ts"
import { InvalidRequest, invalidRequest, problem, problemSchema } from "../../server/problem.ts"
import { withUpload } from "../../server/upload-body.ts"
import { OneFile } from "./file-view.ts"
import { filesAway, FilesUnavailable, Reference } from "./own-file.ts"

/** Bytes, in the words of OpenAPI. */
const BYTES = { type: "string", format: "binary" }

export const uploadFile = HttpApiEndpoint.post("uploadFile", "/api/v1/files", {
  query: {
    name: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(1000))),
    reference: Schema.optionalKey(Reference)
  },
  headers: onceHeaders,
  // The handler is raw: it reads the body while it arrives, and a form as well.
  payload: Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array()),
  success: OneFile.pipe(HttpApiSchema.status(201)),
  error: [
    InvalidRequest,
    problemSchema("PAYLOAD_TOO_LARGE", {}),
    problemSchema("UNSUPPORTED_FILE_TYPE", {}),
    problemSchema("UNREADABLE_FILE", {}),
    problemSchema("FILE_LIMIT_REACHED", {}),
    problemSchema("RATE_LIMITED", {}),
    FilesUnavailable,
    ...onceRefusals
  ]
}).annotateMerge(
  OpenApi.annotations({
    summary: "Takes a file in: PDF, DOCX, PNG or JPEG, by its content",
    override: {
      requestBody: {
        content: {
          "application/octet-stream": { schema: BYTES },
          "multipart/form-data": {
            schema: { type: "object", properties: { file: BYTES }, required: ["file"] }
          }
        },
        required: true
      }
    },
    description: "Either multipart/form-data with a field `file`, or the bytes as they are, with `?name=`."
  })
)

/** Limit on an upload's body without the file, bytes. */
const MAX_FORM = 64 * 1024

const fileTooLarge = problem("PAYLOAD_TOO_LARGE", `A file may hold ${MAX_FILE_BYTES} bytes at most`)
const noRoom = problem("FILE_LIMIT_REACHED", "You have as many files as your plan allows: delete some first")

/** The 413 of an upload that is declared too large. */
export const refuseTooLarge = ({ headers }: HttpServerRequest.HttpServerRequest) =>
  Number(headers["content-length"] ?? 0) > MAX_FILE_BYTES + MAX_FORM ? Effect.fail(fileTooLarge) : Effect.void

/** An upload's request, with the name in its query. */
interface Incoming {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly name: string | undefined
}

const badUpload = ({ message }: { readonly message: string }) =>
  Effect.fail(invalidRequest([{ path: "", message }]))

/** A file whose name and bytes are hashed while it arrives; `hash` is known once it has. */
const hashed = <E, R>({
  body,
  name
}: {
  readonly name: string
  readonly body: Stream.Stream<Uint8Array, E, R>
}) => {
  const sum = createHash("sha256").update(`${name}\0`)
  return {
    name,
    body: Stream.map(body, (bytes) => {
      sum.update(bytes)
      return bytes
    }),
    hash: Effect.sync(() => sum.copy().digest("hex"))
  }
}

/** The hash of an upload that is not stored. */
export const uploadHash = ({ name, request }: Incoming) =>
  withUpload(request, { maxBytes: MAX_FILE_BYTES + MAX_FORM, name }, (file) => {
    const { body, hash } = hashed(file)
    return Stream.runFoldEffect(
      body,
      () => 0,
      (size, bytes) =>
        size + bytes.length > MAX_FILE_BYTES ? Effect.fail(fileTooLarge) : Effect.succeed(size + bytes.length)
    ).pipe(Effect.andThen(hash))
  }).pipe(Effect.catchTag("BadUpload", badUpload))

/** Takes a file in while it arrives. */
export const upload = (
  uploads: Uploads["Service"],
  {
    call: { id, repeatable, sameContent },
    customerId,
    name,
    reference,
    request
  }: Incoming & {
    readonly call: OnceCall
    readonly customerId: CustomerId
    readonly reference: string | undefined
  }
) =>
  withUpload(request, { maxBytes: MAX_FILE_BYTES + MAX_FORM, name }, (incoming) => {
    if (!repeatable) return uploads.add({ ...incoming, customerId, reference })
    const { body, hash } = hashed(incoming)
    const call = { id, sameContent: Effect.flatMap(hash, sameContent) }
    return uploads.add({ name: incoming.name, body, call, customerId, reference })
  }).pipe(
    Effect.catchTags({
      BadUpload: badUpload,
      NoRoomForFile: () => Effect.fail(noRoom),
      FileTooLarge: () => Effect.fail(fileTooLarge),
      UnsupportedDocument: ({ found }) =>
        Effect.fail(
          problem(
            "UNSUPPORTED_FILE_TYPE",
            `PDF, DOCX, PNG and JPEG are converted; by its content this is ${found}`
          )
        ),
      UnreadableDocument: ({ message }) => Effect.fail(problem("UNREADABLE_FILE", message)),
      DocumentReaderAway: filesAway,
      // Asking again would change nothing: a 500 says so, and the log why.
      ObjectStoreError: (error) => (error.reason === "unsupported" ? Effect.die(error) : filesAway(error)),
      StoreUnavailable: filesAway
    })
  )
