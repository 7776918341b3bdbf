/** Requests to every operation of the OpenAPI document, made from the document itself. */
import { Effect, Layer } from "effect"

import { openApiDocument } from "../../../../src/adapters/http/routes/api.ts"
import { Conversions } from "../../../../src/application/conversion/conversions.ts"
import { FileWatch } from "../../../../src/application/conversion/file-watch.ts"
import { Uploads } from "../../../../src/application/conversion/uploads.ts"
import { Access, MagicLinks } from "../../../../src/ports/accounts/access.ts"
import { ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import { FileObjects } from "../../../../src/ports/object-store.ts"
import { storedFile } from "../../../domain/conversion/stored-file.ts"
import { anyId } from "../../../support/any-id.ts"
import { type Answer, call, type Json, PROXY_SECRET, startServer, type TestServer } from "../harness.ts"

export interface Operation {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly query: ReadonlyArray<string>
  /** The schemas of its body by media type. */
  readonly bodies: ReadonlyArray<readonly [type: string, schema: Json]>
}

const document = openApiDocument() as Json

/** The schema that a reference leads to. */
export const resolved = (schema: Json): Json =>
  schema.$ref === undefined
    ? schema
    : resolved(document.components.schemas[schema.$ref.replace("#/components/schemas/", "")])

const WRITTEN = new Set(["application/json", "application/x-www-form-urlencoded"])

export const operations: ReadonlyArray<Operation> = Object.entries<Json>(document.paths).flatMap(
  ([path, methods]) =>
    Object.entries<Json>(methods).map(([method, { parameters, requestBody }]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path,
      query: parameters.filter((one: Json) => one.in === "query").map((one: Json) => one.name as string),
      bodies: Object.entries<Json>(requestBody?.content ?? {})
        .filter(([type]) => WRITTEN.has(type))
        .map(([type, { schema }]) => [type, resolved(schema)] as const)
    }))
)

/** A value that the schema takes. */
export const sampleOf = (given: Json): Json => {
  const schema = resolved(given)
  if (schema.anyOf !== undefined) return sampleOf(schema.anyOf[0])
  if (schema.enum !== undefined) return schema.enum[0]
  switch (schema.type) {
    case "object":
      return Object.fromEntries(
        (schema.required ?? []).map((name: string) => [name, sampleOf(schema.properties[name])])
      )
    case "array":
      return [sampleOf(schema.items)]
    case "boolean":
      return true
    case "integer":
    case "number":
      return 1
    default:
      return schema.format === "uuid" ? ID : "a@x.test"
  }
}

const ID = "0199a000-0000-7000-8000-000000000001"

/** Serves every route to a caller that may do everything and owns every file. */
export const startOpenServer = (): Promise<TestServer> =>
  startServer({
    embedded: true,
    trustedProxies: ["127.0.0.1"],
    webhookSecret: "bus-secret-4711",
    access: Layer.merge(
      Layer.mock(Access, {
        byToken: () =>
          Effect.succeed({
            actor: "all",
            customerId: anyId("owner"),
            rights: ["admin", "owner"],
            via: "token"
          })
      }),
      Layer.mock(MagicLinks, {})
    ),
    files: Layer.mergeAll(
      Layer.mock(ConversionStore, { file: () => Effect.succeed(storedFile()) }),
      Layer.mock(Conversions, {}),
      Layer.mock(FileObjects, {}),
      Layer.mock(FileWatch, {}),
      Layer.mock(Uploads, {})
    )
  })

let callers = 0

/** One request with every credential, each from an address of its own. */
export const ask = (
  server: TestServer,
  { method, path }: Operation,
  given: { readonly query?: string; readonly body?: string; readonly type?: string } = {}
): Promise<Answer> => {
  callers += 1
  const { body, query = "", type = "application/json" } = given
  const at = path
    .replaceAll("{promo}", "welcome")
    .replaceAll(/\{(?:index|page)\}/g, "1")
    .replaceAll(/\{[^}]+\}/g, ID)
  return call(server, `${at}${query}`, {
    method,
    headers: {
      authorization: "Bearer all",
      "x-proxy-secret": PROXY_SECRET,
      "x-webhook-secret": "bus-secret-4711",
      "x-forwarded-for": `10.${callers >> 16}.${(callers >> 8) & 255}.${callers & 255}`,
      accept: "application/json",
      ...(body === undefined ? {} : { "content-type": type })
    },
    ...(body === undefined ? {} : { body })
  })
}

/** The body in the media type's words. */
export const written = (type: string, body: Json): string =>
  type === "application/json"
    ? JSON.stringify(body)
    : new URLSearchParams(body as Record<string, string>).toString()
