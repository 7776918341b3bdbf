import { copyFile, mkdir, readFile, rm, symlink } from "node:fs/promises"
import { delimiter, join } from "node:path"

import { snippetsOf } from "../../support/files/snippets.ts"
import { onServer, walked } from "../generated-client.ts"
import type { Artefact, Check, Place, Reference } from "../reference.ts"
import { jar, must, pip, run } from "../tools.ts"

const JAR = "org.openapitools:openapi-generator-cli:7.25.0"
const PYTHON = "pydantic==2.12.0"

/** What the `native` library of Java's generator cannot. */
const NATIVE: ReadonlyArray<Artefact> = [
  {
    pattern: /: its result is (?:HTML|Markdown|data): .*Content-Type is supposed to be `text\/plain`/,
    reason:
      "of an operation that answers with a text the generator's `native` library reads text/plain alone, whatever the document says of others"
  }
]

/** What its Python cannot. */
const ONE_TYPE: ReadonlyArray<Artefact> = [
  {
    pattern: /: its result is data: \{'title': /,
    reason:
      "of a status that answers in several types the generator takes the first alone, a text: data is read, and then written as Python writes it"
  }
]

/** A language of the guide: what its commands run, and what is found of it. */
interface Guided {
  readonly generator: string
  /** Puts the client that was made in order. */
  readonly tidy: string
  readonly program: string
  readonly trial: string
  /** What the program of the guide prints. */
  readonly said: RegExp
  readonly artefacts: ReadonlyArray<Artefact>
}

const GUIDED: ReadonlyArray<Guided> = [
  {
    generator: "python",
    tidy: "true",
    program: "python3 main.py",
    trial: "python3 trial.py",
    said: /mail sent\n.*files \[\('report\.pdf', '.*\nrefused 404 .*"RESULT_NOT_READY"/s,
    artefacts: ONE_TYPE
  },
  {
    generator: "go",
    tidy: "rm -r postlane/test",
    program: "go run .",
    trial: "go run ./trial",
    said: /mail sent\n(?:file report\.pdf \w+\n)+refused 404 RESULT_NOT_READY true/,
    artefacts: []
  }
]

const guide = snippetsOf(new URL("../../../examples/generated-clients/README.md", import.meta.url))
/** What stands where, once a client is made. */
const PROGRAMS: ReadonlyArray<readonly [to: string, from: string]> = [
  ["main.py", "examples/generated-clients/program.py"],
  ["go.mod", "examples/generated-clients/go.mod"],
  ["main.go", "examples/generated-clients/program.go"],
  ["trial.py", "test/outside/openapi-generator/trial.py"],
  ["trial/main.go", "test/outside/openapi-generator/trial.go"]
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

/** Clients that the guide's commands make, with the guide's programs and with those that go the whole path. */
const guided = async (place: Place): Promise<ReadonlyArray<Check>> => {
  const { cache, root, work } = place
  const python = await pip(cache, PYTHON, "python")
  const own = {
    PYTHONPATH: join(work, "client"),
    PATH: `${join(python, "..")}${delimiter}${process.env["PATH"] ?? ""}`
  }
  await symlink(await jar(cache, JAR), join(work, "openapi-generator.jar"))
  await symlink(join(root, "public/openapi.json"), join(work, "openapi.json"))
  await mkdir(join(work, "trial"))
  for (const [to, from] of PROGRAMS) await copyFile(join(root, from), join(work, to))
  const found: Array<Check> = []
  for (const { artefacts, generator, program, said, tidy, trial } of GUIDED) {
    const sh = (command: string, env: Readonly<Record<string, string>> = {}) =>
      run("bash", ["-ec", command], { cwd: work, env: { ...env, ...own } })
    const shown = await checked(`the guide's program in ${generator}`, async () => {
      const made = await sh(`${generate(generator)}\n${tidy}`)
      if (made.code !== 0) throw new Error(made.stderr.slice(-3000))
      const { stderr, stdout } = await onServer(place, (env) => sh(program, env))
      if (!said.test(stdout)) throw new Error(`it said ${stdout}\n${stderr}`)
    })
    found.push(
      shown,
      ...(await walked(place, { language: generator, go: (env) => sh(trial, env), artefacts }))
    )
  }
  return found
}

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
  return [
    compiled,
    ...(await walked(place, {
      language: "Java",
      go: (env) => run("java", trial, { cwd: work, env }),
      artefacts: NATIVE
    }))
  ]
}

export const openapiGenerator: Reference = {
  name: "openapi-generator",
  version: "7.25.0",
  checks:
    "the OpenAPI document: clients in Java, Python and Go compile, and send, are refused, page the log, upload, convert and fetch the result",
  needs: ["java", "mvn", "go", "python3"],
  install: async ({ cache }) => {
    await jar(cache, JAR)
    const python = await pip(cache, PYTHON, "python")
    await must(python, ["-m", "pip", "install", "--quiet", "urllib3==2.6.0", "python-dateutil==2.9.0.post0"])
  },
  run: async (place) => [...(await java(place)), ...(await guided(place))]
}
