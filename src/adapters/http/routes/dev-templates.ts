import { Schema, Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup, OpenApi, HttpApiBuilder } from "effect/http-api"

import { TEMPLATE_KINDS, TEMPLATE_SAMPLES } from "../../../domain/mail/templates/samples.ts"
import { MailTemplates } from "../../../ports/mail/mail-provider.ts"
import { kitchenSinkPage } from "../pages/dev/kitchen-sink.ts"
import { templatesPage } from "../pages/dev/outbox.ts"
import { mailResponse } from "../pages/html-page.ts"
import { DevAccess } from "../server/access.ts"
import { apiOf, Page } from "../server/endpoint.ts"
import { InvalidRequest, problem, problemSchema } from "../server/problem.ts"
import { makeReaderPages } from "./dev-list.ts"

/** The product's own mails with sample data; every route is 404 where nothing is embedded. */
export class DevTemplateGroup extends HttpApiGroup.make("templates")
  .add(
    HttpApiEndpoint.get("templates", "/dev/templates", { success: Page }).annotate(
      OpenApi.Summary,
      "The mails that Postlane writes itself, as a page"
    )
  )
  .add(
    HttpApiEndpoint.get("template", "/dev/templates/:kind", {
      params: { kind: Schema.String },
      query: { as: Schema.optionalKey(Schema.Literals(["html", "text"])) },
      success: Page,
      error: [problemSchema("NOT_FOUND", {}), InvalidRequest]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "One of these mails, with sample data",
        description: `As HTML, or as plain text with \`as=text\`. Kinds: ${TEMPLATE_KINDS.join(", ")}.`
      })
    )
  )
  .add(
    HttpApiEndpoint.get("components", "/dev/kitchen-sink", { success: Page }).annotate(
      OpenApi.Summary,
      "The components of the pages in each of their states, as a page"
    )
  )
  .middleware(DevAccess) {}

/** A mail has inline styles, runs nothing and loads nothing. */
const MAIL_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

/** `/dev/templates`. */
export const devTemplateHandlers = HttpApiBuilder.group(
  apiOf(DevTemplateGroup),
  "templates",
  Effect.fnUntraced(function* (handlers) {
    const { render } = yield* MailTemplates
    const page = makeReaderPages()
    return handlers.handleAll({
      components: () => Effect.succeed(page(kitchenSinkPage())),
      templates: () =>
        Effect.forEach(TEMPLATE_KINDS, (kind) =>
          Effect.map(render(TEMPLATE_SAMPLES[kind]), ({ subject }) => ({ kind, subject }))
        ).pipe(Effect.map((mails) => page(templatesPage(mails)))),
      template: Effect.fnUntraced(function* ({ params, query }) {
        const kind = TEMPLATE_KINDS.find((one) => one === params.kind)
        if (kind === undefined) return yield* Effect.fail(problem("NOT_FOUND", "There is no such mail"))
        const { html, text } = yield* render(TEMPLATE_SAMPLES[kind])
        return query.as === "text"
          ? HttpServerResponse.text(text, {
              contentType: "text/plain; charset=utf-8",
              headers: { "content-security-policy": MAIL_POLICY }
            })
          : mailResponse(html, { policy: MAIL_POLICY })
      })
    })
  })
)
