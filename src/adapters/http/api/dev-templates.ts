import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"

import { TEMPLATE_KINDS } from "../../../domain/mail/template-samples.ts"
import { PAGE_MEDIA_TYPE } from "../html-page.ts"
import { problemSchema } from "../problem.ts"
import { DevAccess } from "./dev.ts"
import { InvalidRequest } from "./relay.ts"

const Html = Schema.String.pipe(HttpApiSchema.asText({ contentType: PAGE_MEDIA_TYPE }))

/** The product's own mails with sample data; every route is 404 where nothing is embedded. */
export class DevTemplateGroup extends HttpApiGroup.make("templates")
  .add(
    HttpApiEndpoint.get("templates", "/dev/templates", { success: Html }).annotate(
      OpenApi.Summary,
      "The mails that Postlane writes itself, as a page"
    )
  )
  .add(
    HttpApiEndpoint.get("template", "/dev/templates/:kind", {
      params: { kind: Schema.String },
      query: { as: Schema.optionalKey(Schema.Literals(["html", "text"])) },
      success: Html,
      error: [problemSchema("NOT_FOUND", {}), InvalidRequest]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "One of these mails, with sample data",
        description: `As HTML, or as plain text with \`as=text\`. Kinds: ${TEMPLATE_KINDS.join(", ")}.`
      })
    )
  )
  .middleware(DevAccess) {}
