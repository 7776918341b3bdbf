import { execFile, execFileSync } from "node:child_process"
import { accessSync, constants, existsSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { delimiter, join } from "node:path"
import { promisify } from "node:util"

import { createConfig, lintFromString } from "@redocly/openapi-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { openApi30 } from "../../scripts/openapi-3.0.ts"
import { openApiDocument } from "../../src/adapters/http/routes/api.ts"
import { PROXY_SECRET } from "../adapters/http/harness.ts"
import { type FilesWorld, startFiles } from "../adapters/http/routes/conversion/files-world.ts"
import { numbered } from "../support/files/pdf-samples.ts"
import { snippetsOf } from "../support/files/snippets.ts"
import { TEMPORARY } from "../support/temporary.ts"

const PATIENCE = 300_000
const document = openApi30(openApiDocument())

describe("the document in OpenAPI 3.0", () => {
  it("keeps the rules of 3.0", async () => {
    const problems = await lintFromString({
      source: JSON.stringify(document),
      config: await createConfig({
        extends: ["minimal"],
        rules: { struct: "error", "no-unresolved-refs": "error" }
      })
    })
    expect(problems.filter(({ severity }) => severity === "error")).toEqual([])
  })

  it("has every operation, no union, and one problem", () => {
    const operations = (of: object) =>
      Object.entries((of as { paths: object }).paths).flatMap(([path, methods]) =>
        Object.keys(methods as object).map((method) => `${method} ${path}`)
      )
    expect(operations(document)).toEqual(operations(openApiDocument()))
    const text = JSON.stringify(document)
    expect(text).not.toMatch(/"anyOf"|"type":"null"|Problem_\d|"additionalProperties":false/)
    expect(text).toContain('"$ref":"#/components/schemas/ListFilesAnswer"')
  })

  const converted = (schema: object) =>
    (
      openApi30({
        info: { license: { name: "MIT", identifier: "MIT" } },
        components: { schemas: { Problem: { type: "object", properties: {} }, A: schema as never } }
      }) as never as { components: { schemas: { A: object } } }
    ).components.schemas.A

  it.each([
    [{ anyOf: [{ type: "string" }, { type: "null" }] }, { type: "string", nullable: true }],
    [
      { anyOf: [{ $ref: "#/components/schemas/B" }, { type: "null" }], description: "d" },
      { allOf: [{ $ref: "#/components/schemas/B" }], description: "d", nullable: true }
    ],
    [
      { anyOf: [{ type: "number" }, { type: "string", enum: ["NaN"] }] },
      { type: "number", format: "double" }
    ],
    [
      { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] },
      { type: "array", items: { type: "string" } }
    ],
    [
      { type: "integer", minimum: Number.MIN_SAFE_INTEGER, maximum: 7 },
      { type: "integer", maximum: 7, format: "int64" }
    ],
    [
      { type: "number", exclusiveMinimum: 0 },
      { type: "number", minimum: 0, exclusiveMinimum: true, format: "double" }
    ]
  ])("%j", (schema, expected) => {
    expect(converted(schema)).toEqual(expected)
  })

  it("refuses a union of objects rather than lose one of them", () => {
    const union = { anyOf: [{ $ref: "#/components/schemas/B" }, { $ref: "#/components/schemas/C" }] }
    expect(() => converted(union)).toThrow("no 3.0 schema")
  })
})

const inPath = (program: string) =>
  (process.env["PATH"] ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })

const JAR = process.env["OPENAPI_GENERATOR_JAR"] ?? ""
/** What a generated client in Python needs. */
const hasPackages = () => {
  try {
    execFileSync("python3", ["-c", "import pydantic, urllib3, dateutil"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}
const missing = [
  ...["java", "python3", "go"].filter((program) => !inPath(program)),
  ...(existsSync(JAR) ? [] : ["the jar of OpenAPI Generator 7.25.0 (OPENAPI_GENERATOR_JAR)"]),
  ...(JAR === "" || hasPackages() ? [] : ["pydantic, urllib3 and python-dateutil"])
]

if (missing.length > 0)
  console.info(`Clients in Python and Go are not generated here: no ${missing.join(", no ")}.`)

describe.each(missing.length === 0 ? ["7.25.0"] : [])("the clients that OpenAPI Generator %s makes", () => {
  const guide = snippetsOf(new URL("../../docs/guides/python-and-go.md", import.meta.url))
  const codeIn = (language: string) => guide.find((one) => one.language === language)?.text ?? ""
  const generate = (generator: string) =>
    guide
      .filter(({ language }) => language === "sh")
      .flatMap(({ text }) => text.replaceAll("\\\n", "").split("\n"))
      .find((line) => line.includes(`-g ${generator}`)) ?? ""
  let world: FilesWorld
  let folder = ""
  let env: Record<string, string | undefined>
  const sh = async (command: string) =>
    (await promisify(execFile)("bash", ["-ec", command], { cwd: folder, env, maxBuffer: 1e8 })).stdout

  beforeAll(async () => {
    world = await startFiles()
    folder = await mkdtemp(join(TEMPORARY, "postlane-clients-"))
    env = {
      ...process.env,
      POSTLANE_URL: world.server.url,
      PROXY_SHARED_SECRET: PROXY_SECRET,
      OWNER_TOKEN: await world.customer(),
      PYTHONPATH: join(folder, "client"),
      GOPROXY: "off"
    }
    await writeFile(join(folder, "openapi-3.0.json"), JSON.stringify(document))
    await writeFile(join(folder, "report.pdf"), numbered(2))
    await sh(`ln -s "$OPENAPI_GENERATOR_JAR" openapi-generator.jar`)
  }, PATIENCE)
  afterAll(async () => {
    await world.stop()
    await rm(folder, { recursive: true, force: true })
  })

  it(
    "in Python: sends, uploads, converts, lists and reads a refusal",
    async () => {
      await sh(generate("python"))
      await writeFile(join(folder, "main.py"), codeIn("python"))
      const output = await sh("python3 main.py")
      expect(output).toContain("mail sent")
      expect(output).toContain("files [('report.pdf', '")
      expect(output).toMatch(/refused 404 .*"RESULT_NOT_READY"/)
    },
    PATIENCE
  )

  it(
    "in Go: the same",
    async () => {
      await sh(generate("go"))
      await sh("rm -r postlane/test")
      await writeFile(join(folder, "go.mod"), codeIn("text"))
      await writeFile(join(folder, "main.go"), codeIn("go"))
      const output = await sh("go run .")
      expect(output).toContain("mail sent")
      expect(output).toMatch(/^file report\.pdf \w+$/m)
      expect(output).toContain("refused 404 RESULT_NOT_READY true")
    },
    PATIENCE
  )
})
