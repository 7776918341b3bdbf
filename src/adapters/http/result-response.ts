import { Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"

import type { ObjectStoreError, ObjectStoreService } from "../../ports/object-store.ts"
import { PAGE_MEDIA_TYPE } from "./page-media-type.ts"

/** A result is a stranger's document: it may show itself, and nothing else. */
const RESULT_POLICY =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'"

/** Streams a result to whoever may see it, with these headers besides. */
export const resultResponse = (
  objects: Pick<ObjectStoreService, "get" | "stat">,
  key: string,
  headers: Readonly<Record<string, string>> = {}
): Effect.Effect<HttpServerResponse.HttpServerResponse, ObjectStoreError> =>
  Effect.map(objects.stat(key), ({ size }) =>
    HttpServerResponse.stream(Stream.orDie(objects.get(key)), {
      contentType: PAGE_MEDIA_TYPE,
      contentLength: size,
      headers: {
        "content-security-policy": RESULT_POLICY,
        "x-content-type-options": "nosniff",
        "cache-control": "private, no-cache",
        ...headers
      }
    })
  )
