import { copyFile, readFile, rm, symlink } from "node:fs/promises"
import { delimiter, join } from "node:path"

import { snippetsOf } from "../../support/files/snippets.ts"
import { onServer, walked } from "../generated-client.ts"
import type { Artefact, Check, Place, Reference } from "../reference.ts"
import { jar, must, pip, run } from "../tools.ts"

const JAR = "org.openapitools:openapi-generator-cli:7.25.0"
const PYTHON = "pydantic==2.12.0"

const ARTEFACTS: ReadonlyArray<Artefact> = [
  {
    pattern: /^its result is (?:HTML|Markdown|data): .*Content-Type is supposed to be `text\/plain`/,
    reason:
      "of an operation that answers with a text the generator's `native` library reads text/plain alone, whatever the document says of others"
  }
]

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
const guided = (place: Place): Promise<ReadonlyArray<Check>> =>
  onServer(place, async (credentials) => {
    const { cache, root, work } = place
    const python = await pip(cache, PYTHON, "python")
    const env = {
      ...credentials,
      PYTHONPATH: join(work, "client"),
      PATH: `${join(python, "..")}${delimiter}${process.env["PATH"] ?? ""}`
    }
    const sh = (command: string) => must("bash", ["-ec", command], { cwd: work, env })
    const programs = new Map([
      ["python", async () => (await sh(generate("python")), await sh("python3 main.py"))],
      ["go", async () => (await sh(generate("go")), await sh("rm -r postlane/test && go run ."))]
    ])
    await symlink(await jar(cache, JAR), join(work, "openapi-generator.jar"))
    await symlink(join(root, "public/openapi.json"), join(work, "openapi.json"))
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
  })

/** A client in Java, and a program with it that goes the whole path. */
const java = async (place: Place): Promise<ReadonlyArray<Check>> => {
  const { cache, root, work } = place
  const home = join(work, "java")
  const compiled = await checked("a Java client compiles", async () => {
    const args = ["-i", join(root, "public/openapi.json"), "-g", "java", "-o", home]
    await must("java", ["-jar", await jar(cache, JAR), "generate", ...args, "--library", "native"])
    await rm(join(home, "src/test"), { recursive: true, force: true })
    await copyFile(
      join(root, "test/outside/openapi-generator/Trial.java"),
      join(home, "src/main/java/Trial.java")
    )
    const flags = ["-q", "-DskipTests", `-Dmaven.repo.local=${join(cache, "m2")}`]
    const goals = ["compile", "dependency:build-classpath", "-Dmdep.outputFile=classpath.txt"]
    await must("mvn", [...flags, ...goals], { cwd: home })
  })
  if (compiled.outcome === "failed") return [compiled]
  const libraries = await readFile(join(home, "classpath.txt"), "utf8")
  const classpath = `${join(home, "target/classes")}${delimiter}${libraries}`
  const trial = ["-cp", classpath, "Trial"]
  return [compiled, ...(await walked(place, (env) => run("java", trial, { cwd: work, env }), ARTEFACTS))]
}

export const openapiGenerator: Reference = {
  name: "openapi-generator",
  version: "7.25.0",
  checks:
    "the OpenAPI document: a Java client of it compiles and goes the whole path; the guide's Python and Go send, upload, convert, list, read a refusal",
  needs: ["java", "mvn", "go", "python3"],
  install: async ({ cache }) => {
    await jar(cache, JAR)
    const python = await pip(cache, PYTHON, "python")
    await must(python, ["-m", "pip", "install", "--quiet", "urllib3==2.6.0", "python-dateutil==2.9.0.post0"])
  },
  run: async (place) => [...(await java(place)), ...(await guided(place))]
}
