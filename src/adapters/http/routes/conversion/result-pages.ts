import { Schema, Effect } from "effect"
import { HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"

import { Look, ResultPages } from "../../../../application/conversion/result-pages.ts"
import { PageLine } from "../../../../domain/conversion/page-line.ts"
import type { FileId } from "../../../../domain/ids.ts"
import { ConversionStore } from "../../../../ports/conversion/conversion-store.ts"
import { ResultCheck } from "../../../../reader/html/result-check.ts"
import { OwnerAccess } from "../../server/access.ts"
import { apiOf, Page } from "../../server/endpoint.ts"
import { problem, problemSchema } from "../../server/problem.ts"
import { makePlaces, takePlace } from "../../server/rate-limit.ts"
import { PAGE_MEDIA_TYPE } from "../../server/representations.ts"
import { FRAMED_HEADERS, RESULT_HEADERS } from "../../server/responses.ts"
import { bytesAnswer } from "../../server/stored-body.ts"
import { fileParams, FileNotFound, filesAway, FilesUnavailable, ownFile } from "./own-file.ts"

const pageParams = { ...fileParams, page: Schema.String }

/** Why a page is not shown. */
const refusals = [
  FileNotFound,
  problemSchema("NOT_FOUND", {}),
  problemSchema("RATE_LIMITED", {}),
  FilesUnavailable
] as const

/** Why nothing is said of a result. */
const noResultYet = [
  FileNotFound,
  problemSchema("RESULT_NOT_READY", {}),
  problemSchema("RATE_LIMITED", {}),
  FilesUnavailable
] as const

/** The pages of a result, each with the original page, and the check of the whole. */
export class ResultPagesGroup extends HttpApiGroup.make("resultPages")
  .add(
    HttpApiEndpoint.get("listPages", "/api/v1/files/:fileId/pages", {
      params: fileParams,
      success: Schema.Struct({
        pages: Schema.Array(
          Schema.Struct({
            page: Schema.Int.annotate({ description: "From 1." }),
            label: Schema.String,
            tier: PageLine.fields.tier,
            look: Schema.NullOr(Look).annotate({
              description:
                "Why somebody should look at it: it could not be read; was read from a picture, but not well; the model left words out, which were mended; the model did not answer; its tags and its look disagree; its words were written in another order; cells of a table are left over, or may break a word; it has text that nobody sees, text at odd angles, or letters that the file does not name."
            })
          }).annotate({ identifier: "ResultPage" })
        )
      }),
      error: noResultYet
    }).annotateMerge(
      OpenApi.annotations({
        summary: "The pages of the newest result, and which of them need a look",
        description:
          "Of a PDF; the results of Word documents and pictures have no pages: 404 `RESULT_NOT_READY`."
      })
    )
  )
  .add(
    HttpApiEndpoint.get("showPage", "/api/v1/files/:fileId/pages/:page/result", {
      params: pageParams,
      success: Page,
      error: refusals
    }).annotate(OpenApi.Summary, "One page of the result, as a document of its own")
  )
  .add(
    HttpApiEndpoint.get("previewPage", "/api/v1/files/:fileId/pages/:page/preview", {
      params: pageParams,
      success: Page,
      error: refusals
    }).annotateMerge(
      OpenApi.annotations({
        summary: "One page of a PDF that is still being converted, as a separate document",
        description:
          "Of the pages that `readyPages` of the file, or of its progress stream, names. It says that it is a preview: headings, links " +
          "and notes may still change. 404 once the conversion has ended in any way: its result, if any, is the result."
      })
    )
  )
  .add(
    HttpApiEndpoint.get("drawPage", "/api/v1/files/:fileId/pages/:page/picture", {
      params: pageParams,
      success: Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "image/png" })),
      error: [...refusals, problemSchema("UNREADABLE_FILE", {})]
    }).annotate(OpenApi.Summary, "One page of the uploaded PDF, drawn")
  )
  .add(
    HttpApiEndpoint.get("checkResult", "/api/v1/files/:fileId/accessibility", {
      params: fileParams,
      success: ResultCheck,
      error: noResultYet
    }).annotateMerge(
      OpenApi.annotations({
        summary: "The accessibility of the newest result, and where a person has to look",
        description:
          "`flagged`: a title that is the file's name; no headings to find one's way by; pictures and form fields that the document does not describe; " +
          "tables without header cells. Contrast, language, the order of headings and names of controls hold in every result."
      })
    )
  )
  .middleware(OwnerAccess) {}

/** Pages that one owner may have read or drawn at once, in one process. */
const MOST_AT_ONCE = 4

const noPages = problem("RESULT_NOT_READY", "There is no result that has pages")
const noResult = problem("RESULT_NOT_READY", "There is no result yet")
const notReady = problem("NOT_FOUND", "The page is not ready yet, or no conversion of the file is under way")
const noPage = problem("NOT_FOUND", "There is no such page")

/** The number in a path; 0, which is no page, for anything else. */
const pageIn = (text: string): number => (/^[1-9]\d{0,5}$/.test(text) ? Number(text) : 0)

/** `/api/v1/files/:fileId/pages`. */
export const resultPagesHandlers = HttpApiBuilder.group(
  apiOf(ResultPagesGroup),
  "resultPages",
  Effect.fnUntraced(function* (handlers) {
    const fileOf = ownFile(yield* ConversionStore)
    const pages = yield* ResultPages
    const looking = makePlaces(MOST_AT_ONCE, "pages that are read or drawn")
    const owned = Effect.fnUntraced(function* (fileId: FileId) {
      const file = yield* fileOf(fileId)
      yield* takePlace(looking, file.customerId)
      return file
    })
    return handlers.handleAll({
      listPages: Effect.fnUntraced(function* ({ params }) {
        const file = yield* owned(params.fileId)
        const outline = yield* pages.outline(file).pipe(Effect.catch(filesAway))
        return outline === undefined ? yield* Effect.fail(noPages) : { pages: outline }
      }),
      checkResult: Effect.fnUntraced(function* ({ params }) {
        const file = yield* owned(params.fileId)
        const check = yield* pages.check(file).pipe(Effect.catch(filesAway))
        return check ?? (yield* Effect.fail(noResult))
      }),
      showPage: Effect.fnUntraced(function* ({ params, request }) {
        const file = yield* owned(params.fileId)
        const html = yield* pages.html(file, pageIn(params.page)).pipe(Effect.catch(filesAway))
        if (html === undefined) return yield* Effect.fail(noPage)
        return yield* bytesAnswer(new TextEncoder().encode(html), PAGE_MEDIA_TYPE, request, FRAMED_HEADERS)
      }),
      previewPage: Effect.fnUntraced(function* ({ params, request }) {
        const file = yield* owned(params.fileId)
        const html = yield* pages.preview(file, pageIn(params.page)).pipe(
          // Deleted meanwhile.
          Effect.catchIf(
            (error) => error._tag === "ObjectStoreError" && error.reason === "missing",
            () => Effect.undefined
          ),
          Effect.catch(filesAway)
        )
        if (html === undefined) return yield* Effect.fail(notReady)
        return yield* bytesAnswer(new TextEncoder().encode(html), PAGE_MEDIA_TYPE, request, RESULT_HEADERS)
      }),
      drawPage: Effect.fnUntraced(function* ({ params, request }) {
        const file = yield* owned(params.fileId)
        const picture = yield* pages.picture(file, pageIn(params.page)).pipe(
          Effect.catchTags({
            ObjectStoreError: filesAway,
            PdfError: ({ message }) => Effect.fail(problem("UNREADABLE_FILE", message))
          })
        )
        if (picture === undefined) return yield* Effect.fail(noPage)
        // The uploaded file never changes: the browser keeps what was drawn.
        const kept = { "cache-control": "private, max-age=3600", "x-content-type-options": "nosniff" }
        return yield* bytesAnswer(picture.bytes, picture.mediaType, request, kept)
      })
    })
  })
)
