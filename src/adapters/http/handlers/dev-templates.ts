import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"

import { TEMPLATE_KINDS, TEMPLATE_SAMPLES } from "../../../domain/mail/template-samples.ts"
import { MailTemplates } from "../../../ports/mail-templates.ts"
import { DevApi } from "../api/api.ts"
import { PAGE_POLICY, templatesPage } from "../dev-page.ts"
import { PAGE_MEDIA_TYPE } from "../html-page.ts"
import { problem } from "../problem.ts"

/** A mail carries its styles itself, runs nothing and loads nothing. */
const MAIL_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

const answer = (body: string, contentType: string, policy: string) =>
  HttpServerResponse.text(body, { contentType, headers: { "content-security-policy": policy } })

/** `/dev/templates`. */
export const devTemplateHandlers = HttpApiBuilder.group(
  DevApi,
  "templates",
  Effect.fnUntraced(function* (handlers) {
    const { render } = yield* MailTemplates
    return handlers.handleAll({
      templates: () =>
        Effect.forEach(TEMPLATE_KINDS, (kind) =>
          Effect.map(render(TEMPLATE_SAMPLES[kind]), ({ subject }) => ({ kind, subject }))
        ).pipe(Effect.map((mails) => answer(templatesPage(mails), PAGE_MEDIA_TYPE, PAGE_POLICY))),
      template: Effect.fnUntraced(function* ({ params, query }) {
        const kind = TEMPLATE_KINDS.find((one) => one === params.kind)
        if (kind === undefined) return yield* Effect.fail(problem("NOT_FOUND", "There is no such mail"))
        const { html, text } = yield* render(TEMPLATE_SAMPLES[kind])
        return query.as === "text"
          ? answer(text, "text/plain; charset=utf-8", MAIL_POLICY)
          : answer(html, PAGE_MEDIA_TYPE, MAIL_POLICY)
      })
    })
  })
)
