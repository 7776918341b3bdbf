import { type HttpServerRequest, type HttpServerResponse } from "effect/http"

import { pathTo } from "../../../domain/pages.ts"
import { type Problem, PROBLEM_MEDIA_TYPE } from "../server/problem.ts"
import { acceptsPages, framedPage, pagePolicy, pageResponse } from "./html-page.ts"
import { type Html, html } from "./html.ts"

const POLICY = pagePolicy("'none'")

const READS = new Set(["GET", "HEAD"])

/** Where a path leads that was right up to its first part. */
const ROOMS: ReadonlyMap<string, readonly [path: string, name: string]> = new Map([
  ["admin", [pathTo.admin, "the admin pages"]],
  ["dev", [pathTo.outbox, "the outbox"]]
])

const lostPage = ({ code, detail, title }: Problem, url: string): Html => {
  const [path, name] = ROOMS.get(url.split(/[/?]/, 2)[1] ?? "") ?? [pathTo.start, "the start"]
  return framedPage(
    title,
    html`<h1>${title}</h1>
<p>${code === "NOT_FOUND" ? "The address may be mistyped, or what was here is gone." : detail}</p>
<p><a href="${path}">Go to ${name}</a></p>`
  )
}

/** A refusal as a page with the way back, for a person who opened an address in a browser; a program keeps the problem. */
export const pageForPeople = (
  request: HttpServerRequest.HttpServerRequest,
  response: HttpServerResponse.HttpServerResponse
): HttpServerResponse.HttpServerResponse => {
  const { body, headers, status } = response
  if (!READS.has(request.method) || !acceptsPages(request) || body._tag !== "Uint8Array") return response
  if (headers["content-type"] !== PROBLEM_MEDIA_TYPE) return response
  const problem = JSON.parse(new TextDecoder().decode(body.body)) as Problem
  return pageResponse(lostPage(problem, request.url), { policy: POLICY, status })
}
