import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"

import { Effect } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"

import { type ConstantBody, constantAnswer, constantBody } from "../server/constant-body.ts"
import { problem, problemResponse } from "../server/problem.ts"
import { ICON_PATH } from "./paths.ts"

const FOLDER = new URL("assets/", import.meta.url)

/** Media types by file extension; other files are not served. */
const MEDIA_TYPES: ReadonlyMap<string, string> = new Map([
  ["css", "text/css; charset=utf-8"],
  ["js", "text/javascript; charset=utf-8"],
  ["svg", "image/svg+xml"]
])

interface Asset {
  /** With its room: `admin/jobs.js`. */
  readonly name: string
  readonly mediaType: string
  readonly body: Uint8Array
}

const read = (): ReadonlyArray<Asset> =>
  readdirSync(FOLDER, { encoding: "utf8", recursive: true })
    .map((name) => name.replaceAll("\\", "/"))
    .sort()
    .flatMap((name) => {
      const mediaType = MEDIA_TYPES.get(name.slice(name.lastIndexOf(".") + 1))
      return mediaType === undefined ? [] : [{ name, mediaType, body: readFileSync(new URL(name, FOLDER)) }]
    })

/** A hash over all files: scripts import each other by relative paths, which stay inside one version. */
const versionOf = (assets: ReadonlyArray<Asset>): string => {
  const hash = createHash("sha256")
  for (const { body, name } of assets) hash.update(name).update("\0").update(body).update("\0")
  return hash.digest("hex").slice(0, 16)
}

/** Scripts and style sheets of the pages, as they are in `assets/`: read once, at the start. */
export interface Assets {
  /** The URL path of an asset. */
  readonly pathOf: (name: string) => string
  readonly version: string
  readonly all: ReadonlyArray<Asset>
}

const none = problemResponse(problem("NOT_FOUND", "There is no such file"))

export const readAssets = (): Assets => {
  const assets = read()
  const version = versionOf(assets)
  return { pathOf: (name) => `/assets/${version}/${name}`, version, all: assets }
}

/** `GET /assets/:version/:name`, also of a room; and the icon, at a path that does not change and so for a day. */
export const assetRoutes = Effect.fnUntraced(function* (
  router: HttpRouter.HttpRouter,
  { all, version }: Assets
) {
  const bodies = new Map<string, ConstantBody>()
  for (const { body, mediaType, name } of all) bodies.set(name, yield* constantBody(body, mediaType))
  const asset = (name: string, cache: string) =>
    Effect.map(HttpServerRequest.HttpServerRequest, (request) => {
      const body = bodies.get(name)
      return body === undefined ? none : constantAnswer(body, request, cache)
    })
  const answer = Effect.flatMap(HttpRouter.params, ({ name = "", room, version: asked = "" }) =>
    asset(
      room === undefined ? name : `${room}/${name}`,
      // During a deployment a page of another version gets this version's file, which must not be cached under that path.
      asked === version ? "public, max-age=31536000, immutable" : "no-store"
    )
  )
  yield* router.add("GET", ICON_PATH, asset("icon.svg", "public, max-age=86400"))
  yield* router.add("GET", "/assets/:version/:name", answer)
  yield* router.add("GET", "/assets/:version/:room/:name", answer)
})
