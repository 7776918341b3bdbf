import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"

import { Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"

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
  readonly asset: (version: string, name: string) => HttpServerResponse.HttpServerResponse
}

const none = problemResponse(problem("NOT_FOUND", "There is no such file"))

export const readAssets = (): Assets => {
  const assets = read()
  const version = versionOf(assets)
  const byName = new Map(assets.map((asset) => [asset.name, asset]))
  return {
    pathOf: (name) => `/assets/${version}/${name}`,
    asset: (asked, name) => {
      const asset = byName.get(name)
      if (asset === undefined) return none
      // During a deployment a page of another version gets this version's file, which must not be cached under that path.
      const cache = asked === version ? "public, max-age=31536000, immutable" : "no-store"
      return HttpServerResponse.uint8Array(asset.body, {
        contentType: asset.mediaType,
        headers: { "cache-control": cache }
      })
    }
  }
}

/** `GET /assets/:version/:name`, also of a room; and the icon, at a path that does not change and so for a day. */
export const assetRoutes = Effect.fnUntraced(function* (router: HttpRouter.HttpRouter, { asset }: Assets) {
  const answer = Effect.map(HttpRouter.params, ({ name = "", room, version = "" }) =>
    asset(version, room === undefined ? name : `${room}/${name}`)
  )
  const icon = HttpServerResponse.setHeader(asset("", "icon.svg"), "cache-control", "public, max-age=86400")
  yield* router.add("GET", ICON_PATH, Effect.succeed(icon))
  yield* router.add("GET", "/assets/:version/:name", answer)
  yield* router.add("GET", "/assets/:version/:room/:name", answer)
})
