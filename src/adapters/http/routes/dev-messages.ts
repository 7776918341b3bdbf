import { randomBytes } from "node:crypto"

import { Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi, HttpApiBuilder } from "effect/http-api"

import { outboxMail } from "../../../application/outbox-mail.ts"
import { MessageViews, type MessageView } from "../../../ports/mail/message-views.ts"
import { SimulatedMail } from "../../../ports/mail/simulated-mail.ts"
import { type Look, opensAs, WAYS } from "../pages/dev/message-parts.ts"
import { messagePage } from "../pages/dev/message.ts"
import { mailResponse } from "../pages/html-page.ts"
import { DevAccess } from "../server/access.ts"
import { apiOf, Page } from "../server/endpoint.ts"
import { InvalidRequest, problem, problemSchema } from "../server/problem.ts"
import {
  askedIn,
  besideOf,
  listQuery,
  makeReaderPages,
  MessageId,
  noMessage,
  outboxAway
} from "./dev-list.ts"

const refusals = [problemSchema("NOT_FOUND", {}), InvalidRequest, problemSchema("UNAVAILABLE", {})] as const
const idParam = { id: MessageId }

/** A message as programs read it. What the mail does not have is null. */
const MailContent = Schema.Struct({
  id: Schema.String,
  via: Schema.String,
  from: Schema.String,
  to: Schema.Array(Schema.String),
  cc: Schema.Array(Schema.String),
  bcc: Schema.Array(Schema.String),
  subject: Schema.String,
  at: Schema.String,
  idempotencyKey: Schema.NullOr(Schema.String),
  category: Schema.NullOr(Schema.String),
  tags: Schema.Record(Schema.String, Schema.String),
  events: Schema.Array(Schema.String),
  text: Schema.NullOr(Schema.String),
  html: Schema.NullOr(Schema.String),
  headers: Schema.Array(Schema.Struct({ name: Schema.String, value: Schema.String })),
  links: Schema.Array(Schema.Struct({ text: Schema.String, href: Schema.String })),
  attachments: Schema.Array(
    Schema.Struct({
      filename: Schema.NullOr(Schema.String),
      contentType: Schema.String,
      inline: Schema.Boolean,
      content: Schema.String
    })
  )
}).annotate({ identifier: "OutboxMail" })

const images = { images: Schema.optionalKey(Schema.Literal("show")) }

/** The mails of the outbox as a mail client shows them; every route is 404 where nothing is embedded. */
export class DevMessageGroup extends HttpApiGroup.make("reader")
  .add(
    HttpApiEndpoint.get("messagePage", "/dev/messages/:id", {
      params: idParam,
      query: {
        view: Schema.optionalKey(Schema.Literals(WAYS)),
        width: Schema.optionalKey(Schema.Literal("phone")),
        ...images,
        ...listQuery
      },
      success: Page,
      error: refusals
    }).annotateMerge(
      OpenApi.annotations({
        summary: "One message as a page",
        description: "Beside it is the list of `/dev` that `q`, `address`, `before` and `after` ask for."
      })
    )
  )
  .add(
    HttpApiEndpoint.get("messageHtml", "/dev/messages/:id/html", {
      params: idParam,
      query: images,
      success: Page,
      error: refusals
    }).annotateMerge(
      OpenApi.annotations({
        summary: "A message's HTML, for a sandboxed frame",
        description: "It runs no scripts and loads nothing; with `images=show` it loads pictures."
      })
    )
  )
  .add(
    HttpApiEndpoint.get("messageAccessibility", "/dev/messages/:id/accessibility", {
      params: idParam,
      success: Page,
      error: refusals
    }).annotate(
      OpenApi.Summary,
      "The same with a check of its accessibility, which posts what it finds to its page"
    )
  )
  .add(
    HttpApiEndpoint.get("messageFile", "/dev/messages/:id/files/:index", {
      params: {
        ...idParam,
        index: Schema.String.check(
          Schema.isPattern(/^\d{1,4}$/u, { message: "is not a number of 1 to 4 digits" })
        )
      },
      query: { download: Schema.optionalKey(Schema.Literal("yes")) },
      success: Schema.Uint8Array.pipe(
        HttpApiSchema.asUint8Array({ contentType: "application/octet-stream" })
      ),
      error: refusals
    }).annotateMerge(
      OpenApi.annotations({
        summary: "A file that is attached to a message",
        description:
          "Pictures and text are shown, text as plain text; everything else, and with `download=yes` all, is a download."
      })
    )
  )
  .add(
    HttpApiEndpoint.get("messageContent", "/dev/outbox/:id/content", {
      params: idParam,
      success: MailContent,
      error: refusals
    }).annotateMerge(
      OpenApi.annotations({
        summary: "A message taken apart, for programs",
        description:
          "Text and HTML as they were sent, headers, links and files, decoded; a file's content is base64. Nothing is marked as read."
      })
    )
  )
  .middleware(DevAccess) {}

const FRAME =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'"

/**
 * The policy of a shown mail: it runs nothing (HTTP-11), and its links open new pages. Only pictures may come from elsewhere, if requested.
 */
const mailPolicy = (showsImages: boolean): string =>
  `sandbox allow-popups allow-popups-to-escape-sandbox; ${FRAME}; img-src data:${showsImages ? " http: https:" : ""}`

/** The policy of the page that runs one script, the check, without an origin and without network access. */
const checkPolicy = (nonce: string): string =>
  `sandbox allow-scripts; ${FRAME}; img-src data:; script-src 'nonce-${nonce}'`

/** A file is shown by itself, without an origin. */
const FILE_POLICY =
  "sandbox; default-src 'none'; img-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'none'"

const frame = (html: string, policy: string) =>
  mailResponse(html, {
    policy,
    headers: { "x-frame-options": "SAMEORIGIN", "x-dns-prefetch-control": "off" }
  })

/** Reports to the page around it, which takes nothing but text. Rules about whole sites do not concern a mail. */
const CHECK = `axe.run(document, {
  runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
  rules: { "document-title": { enabled: false }, bypass: { enabled: false } },
  resultTypes: ["violations"], preload: false, iframes: false
}).then(({ violations }) => parent.postMessage({ violations: violations.map(({ help, helpUrl, impact, nodes }) => ({
  help, url: helpUrl, impact, count: nodes.length, samples: nodes.slice(0, 3).map(({ html }) => html)
})) }, "*"), () => parent.postMessage({}, "*"))`

/** The script comes first: a browser reads what follows as if it were the document's beginning. */
const checked = (html: string, script: string, nonce: string): string =>
  `<!doctype html><script nonce="${nonce}">${script}\naddEventListener("load", () => { ${CHECK} })</script>${html}`

/** A file's name in a header (RFC 6266). */
const disposition = (kind: "inline" | "attachment", name: string): string =>
  `${kind}; filename*=UTF-8''${encodeURIComponent(name.toWellFormed()).replaceAll(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16)}`)}`

const cannotShow = (message: string) => Effect.fail(problem("NOT_FOUND", message))

/** The way to show a mail: as HTML, or as text if it has no HTML. */
const wayOf = (view: MessageView | { readonly problem: string }): Look["way"] => {
  if ("problem" in view) return "source"
  return view.html === undefined && view.htmlProblem === undefined ? "text" : "html"
}

/** The message's page. To look at it marks it as read. */
const makePage = Effect.gen(function* () {
  const { outbox } = yield* SimulatedMail
  const views = yield* MessageViews
  const page = makeReaderPages()
  return Effect.fnUntraced(function* (
    id: string,
    raw: Uint8Array,
    query: Parameters<typeof askedIn>[0] & {
      readonly view?: Look["way"]
      readonly width?: "phone"
      readonly images?: "show"
    }
  ) {
    const entry = yield* outbox.entry(id).pipe(Effect.catch(outboxAway))
    if (entry === undefined) return yield* Effect.fail(noMessage)
    if (entry.read !== true) yield* outbox.mark(id, "read").pipe(Effect.catch(outboxAway))
    const showsImages = query.images === "show"
    const view = yield* views
      .view(raw, { images: showsImages })
      .pipe(Effect.catch(({ message }) => Effect.succeed({ problem: message })))
    const way = query.view ?? wayOf(view)
    const isChecked = way === "checks" && "html" in view && view.html !== undefined
    const clients = isChecked
      ? yield* views.clients(raw).pipe(Effect.catch(() => Effect.succeed("failed" as const)))
      : undefined
    const asked = askedIn(query)
    const beside = yield* besideOf(outbox, entry, asked).pipe(Effect.catch(outboxAway))
    return page(
      messagePage({ entry, raw, view, clients }, beside, {
        way,
        phone: query.width === "phone",
        images: showsImages,
        asked
      })
    )
  })
})

/** `/dev/messages`. */
export const devMessageHandlers = HttpApiBuilder.group(
  apiOf(DevMessageGroup),
  "reader",
  Effect.fnUntraced(function* (handlers) {
    const { outbox } = yield* SimulatedMail
    const views = yield* MessageViews
    const page = yield* makePage
    const rawOf = Effect.fnUntraced(function* (id: string) {
      const raw = yield* outbox.get(id).pipe(Effect.catch(outboxAway))
      return raw ?? (yield* Effect.fail(noMessage))
    })
    const htmlOf = Effect.fnUntraced(function* (id: string, showsImages: boolean) {
      const { html } = yield* views
        .view(yield* rawOf(id), { images: showsImages })
        .pipe(Effect.catch(({ message }) => cannotShow(message)))
      return html ?? (yield* cannotShow("This mail has no HTML that can be shown"))
    })
    return handlers.handleAll({
      messagePage: ({ params: { id }, query }) => Effect.flatMap(rawOf(id), (raw) => page(id, raw, query)),
      messageContent: Effect.fnUntraced(function* ({ params: { id } }) {
        const raw = yield* rawOf(id)
        const entry = yield* outbox.entry(id).pipe(Effect.catch(outboxAway))
        if (entry === undefined) return yield* Effect.fail(noMessage)
        const content = yield* views.content(raw).pipe(Effect.catch(({ message }) => cannotShow(message)))
        return outboxMail(entry, content)
      }),
      messageHtml: ({ params: { id }, query }) =>
        Effect.map(htmlOf(id, query.images === "show"), (html) =>
          frame(html, mailPolicy(query.images === "show"))
        ),
      messageAccessibility: Effect.fnUntraced(function* ({ params: { id } }) {
        const html = yield* htmlOf(id, false)
        const script = yield* views.accessibilityScript
        const nonce = randomBytes(16).toString("base64")
        return frame(checked(html, script, nonce), checkPolicy(nonce))
      }),
      messageFile: Effect.fnUntraced(function* ({ params: { id, index }, query }) {
        const raw = yield* rawOf(id)
        const at = Number(index)
        const file = yield* views.file(raw, at).pipe(Effect.catch(({ message }) => cannotShow(message)))
        if (file === undefined) return yield* cannotShow("The mail has no such attachment")
        const shownAs = query.download === undefined ? opensAs(file.mediaType) : undefined
        return HttpServerResponse.uint8Array(file.content, {
          contentType: shownAs ?? "application/octet-stream",
          headers: {
            "content-disposition": disposition(
              shownAs === undefined ? "attachment" : "inline",
              file.filename ?? `part-${at + 1}`
            ),
            "content-security-policy": FILE_POLICY
          }
        })
      })
    })
  })
)
