import { copyFile, rm, symlink, writeFile } from "node:fs/promises"
import { delimiter, join } from "node:path"

import { startAttacked } from "../../hostile/server.ts"
import { numbered } from "../../support/files/pdf-samples.ts"
import { snippetsOf } from "../../support/files/snippets.ts"
import type { Check, Place, Reference } from "../reference.ts"
import { jar, must, pip } from "../tools.ts"

const JAR = "org.openapitools:openapi-generator-cli:7.25.0"
const PYTHON = "pydantic==2.12.0"
const PROXY_SECRET = "outside-proxy-secret"
const OWNER_TOKEN = "outside-owner-token"

/** What the programs of the guide print, whatever the language. */
const SAID: ReadonlyArray<readonly [language: string, said: RegExp]> = [
  ["python", /mail sent\n.*files \[\('report\.pdf', '.*\nrefused 404 .*"RESULT_NOT_READY"/s],
  ["go", /mail sent\n(?:file report\.pdf \w+\n)+refused 404 RESULT_NOT_READY true/]
]

const guide = snippetsOf(new URL("../../../examples/generated-clients/README.md", import.meta.url))
/** What stands where, once a client is made. */
const PROGRAMS: ReadonlyArray<readonly [to: string, from: string]> = [
  ["main.py", "program.py"],
  ["go.mod", "go.mod"],
  ["main.go", "program.go"]
]

/** The guide's command that makes a client. */
const generate = (generator: string): string =>
  guide
    .filter(({ language }) => language === "sh")
    .flatMap(({ text }) => text.replaceAll("\\\n", "").split("\n"))
    .find((line) => line.includes(`-g ${generator}`)) ?? "false"

const checked = (name: string, work: () => Promise<unknown>): Promise<Check> =>
  work().then(
    () => ({ name, outcome: "held" as const }),
    (error: unknown) => ({ name, outcome: "failed" as const, detail: String(error) })
  )

/** The programs of the guide, with clients that its commands make, against a running server. */
const guided = async ({ cache, root, work }: Place): Promise<ReadonlyArray<Check>> => {
  const python = await pip(cache, PYTHON, "python")
  const server = await startAttacked({ PROXY_SHARED_SECRET: PROXY_SECRET, OWNER_TOKEN })
  const env = {
    POSTLANE_URL: server.url,
    PROXY_SHARED_SECRET: PROXY_SECRET,
    OWNER_TOKEN,
    PYTHONPATH: join(work, "client"),
    PATH: `${join(python, "..")}${delimiter}${process.env["PATH"] ?? ""}`
  }
  const sh = (command: string) => must("bash", ["-ec", command], { cwd: work, env })
  const programs = new Map([
    ["python", async () => (await sh(generate("python")), await sh("python3 main.py"))],
    ["go", async () => (await sh(generate("go")), await sh("rm -r postlane/test && go run ."))]
  ])
  try {
    await symlink(await jar(cache, JAR), join(work, "openapi-generator.jar"))
    await symlink(join(root, "public/openapi.json"), join(work, "openapi.json"))
    await writeFile(join(work, "report.pdf"), numbered(2))
    for (const [to, from] of PROGRAMS)
      await copyFile(join(root, "examples/generated-clients", from), join(work, to))
    const found: Array<Check> = []
    for (const [language, said] of SAID)
      found.push(
        await checked(`the guide's program in ${language}`, async () => {
          const output = await programs.get(language)?.()
          if (!said.test(output ?? "")) throw new Error(`it said ${output}`)
        })
      )
    return found
  } finally {
    await server.stop()
  }
}

export const openapiGenerator: Reference = {
  name: "openapi-generator",
  version: "7.25.0",
  checks:
    "the OpenAPI document: a Java client of it compiles; the guide's Python and Go send, upload, convert, list, read a refusal",
  needs: ["java", "mvn", "go", "python3"],
  install: async ({ cache }) => {
    await jar(cache, JAR)
    const python = await pip(cache, PYTHON, "python")
    await must(python, ["-m", "pip", "install", "--quiet", "urllib3==2.6.0", "python-dateutil==2.9.0.post0"])
  },
  run: async (place) => {
    const home = join(place.work, "java")
    const java = await checked("Java", async () => {
      const args = ["-i", join(place.root, "public/openapi.json"), "-g", "java", "-o", home]
      await must("java", ["-jar", await jar(place.cache, JAR), "generate", ...args, "--library", "native"])
      await rm(join(home, "src/test"), { recursive: true, force: true })
      const repository = `-Dmaven.repo.local=${join(place.cache, "m2")}`
      await must("mvn", ["-q", "-DskipTests", repository, "compile"], { cwd: home })
    })
    return [java, ...(await guided(place))]
  }
}
