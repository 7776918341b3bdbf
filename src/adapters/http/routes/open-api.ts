import type { Schema } from "effect"
import { OpenApi } from "effect/http-api"

import { DocumentedApi } from "./api.ts"

let document: Readonly<Record<string, Schema.Json>> | undefined

/** The OpenAPI 3.1 document of the whole API; made once. */
export const openApiDocument = (): Readonly<Record<string, Schema.Json>> =>
  (document ??= JSON.parse(JSON.stringify(OpenApi.fromApi(DocumentedApi))) as Readonly<
    Record<string, Schema.Json>
  >)

/** The document as `public/openapi.json` holds it. */
export const openApiText = (): string => `${JSON.stringify(openApiDocument(), undefined, 2)}\n`
