/** What references need to install and to run programs. */
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"

/** What a program left behind. */
export interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

interface Spot {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** Longer, and it is ended; seconds. */
  readonly seconds?: number
}

/** Runs a program to its end, whatever its exit code. */
export const run = (
  program: string,
  args: ReadonlyArray<string>,
  { cwd, env, seconds = 600 }: Spot = {}
): Promise<Ended> =>
  new Promise((resolve, reject) => {
    execFile(
      program,
      [...args],
      { cwd, env: { ...process.env, ...env }, maxBuffer: 256 * 2 ** 20, timeout: seconds * 1000 },
      (error, stdout, stderr) => {
        if (error !== null && typeof error.code !== "number")
          reject(new Error(`${program} ${args.slice(0, 3).join(" ")}: ${error.message.slice(0, 2000)}`))
        else resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr })
      }
    )
  })

/** {@link run}, where anything but success is an error with what the program said. */
export const must = async (
  program: string,
  args: ReadonlyArray<string>,
  spot: Spot = {}
): Promise<string> => {
  const { code, stderr, stdout } = await run(program, args, spot)
  if (code === 0) return stdout
  throw new Error(
    `${program} ${args.slice(0, 3).join(" ")} ended with ${code}:\n${`${stdout}\n${stderr}`.slice(-3000)}`
  )
}

export const isOnPath = (program: string): boolean =>
  (process.env["PATH"] ?? "").split(delimiter).some((folder) => existsSync(join(folder, program)))

/** A program of a Python package, in a virtual environment of this exact version. */
export const pip = async (cache: string, spec: string, program: string): Promise<string> => {
  const home = join(cache, spec.replaceAll(/[^\w.-]/g, "_"))
  const path = join(home, "bin", program)
  if (existsSync(path)) return path
  await must("python3", ["-m", "venv", home])
  await must(join(home, "bin", "pip"), ["install", "--quiet", "--disable-pip-version-check", spec])
  return path
}

/** A program of a Go module, built into a GOBIN of this exact version. */
export const goTool = async (cache: string, spec: string, program: string): Promise<string> => {
  const home = join(cache, spec.replaceAll(/[^\w.-]/g, "_"))
  const path = join(home, program)
  if (!existsSync(path)) await must("go", ["install", spec], { env: { GOBIN: home, GOFLAGS: "-mod=mod" } })
  return path
}

const root = fileURLToPath(new URL("../..", import.meta.url))

/** Where the project itself has an npm package of this exact version, as it has those that `npm run check` needs. */
const ownPackage = async (spec: string): Promise<string | undefined> => {
  const at = spec.lastIndexOf("@")
  const file = join(root, "node_modules", spec.slice(0, at), "package.json")
  if (!existsSync(file)) return undefined
  const { version } = JSON.parse(await readFile(file, "utf8")) as { readonly version: string }
  return version === spec.slice(at + 1) ? root : undefined
}

const homeOf = (cache: string, spec: string): string => join(cache, spec.replaceAll(/[^\w.-]/g, "_"))

/** Whether an npm package is there already: nothing has to be installed for it. */
export const isAtHand = async (cache: string, spec: string): Promise<boolean> =>
  (await ownPackage(spec)) !== undefined || existsSync(join(homeOf(cache, spec), "node_modules"))

/** An npm package, of the project or installed beside nothing else: the folder that it is in. */
export const npmPackage = async (cache: string, spec: string): Promise<string> => {
  const own = await ownPackage(spec)
  if (own !== undefined) return own
  const home = homeOf(cache, spec)
  const flags = ["--prefix", home, "--no-audit", "--no-fund", "--ignore-scripts=false"]
  if (!existsSync(join(home, "node_modules"))) await must("npm", ["install", ...flags, spec])
  return home
}

/** A program of an npm package. */
export const npmTool = async (cache: string, spec: string, program: string): Promise<string> =>
  join(await npmPackage(cache, spec), "node_modules", ".bin", program)

/** A jar from Maven Central, `group:artifact:version`, where Maven keeps it. */
export const jar = async (cache: string, coordinates: string): Promise<string> => {
  const [group = "", artifact = "", version = ""] = coordinates.split(":")
  const repository = join(cache, "m2")
  const path = join(repository, ...group.split("."), artifact, version, `${artifact}-${version}.jar`)
  if (!existsSync(path))
    await must("mvn", [
      "-q",
      "dependency:get",
      `-Dartifact=${coordinates}`,
      "-Dtransitive=false",
      `-Dmaven.repo.local=${repository}`
    ])
  return path
}

/** A program within a Go module, built at this exact version: for modules whose programs `go install` does not find by their path. */
export const goPackage = async (
  cache: string,
  { module, path, version }: { readonly module: string; readonly version: string; readonly path: string }
): Promise<string> => {
  const home = join(cache, `${module}@${version}`.replaceAll(/[^\w.-]/g, "_"))
  const program = join(home, "program")
  if (existsSync(program)) return program
  await mkdir(home, { recursive: true })
  const spot = { cwd: home, env: { GOFLAGS: "-mod=mod" } }
  if (!existsSync(join(home, "go.mod"))) await must("go", ["mod", "init", "outside"], spot)
  await must("go", ["get", `${module}@${version}`], spot)
  await must("go", ["build", "-o", program, `${module}/${path}`], spot)
  return program
}

/** The class path of Maven artifacts, `group:artifact:version`, with all that they need. */
export const mavenClasspath = async (cache: string, coordinates: ReadonlyArray<string>): Promise<string> => {
  const home = join(cache, coordinates.join("_").replaceAll(/[^\w.-]/g, "_"))
  const file = join(home, "classpath.txt")
  if (!existsSync(file)) {
    await mkdir(home, { recursive: true })
    const dependencies = coordinates.map((one) => {
      const [group = "", artifact = "", version = ""] = one.split(":")
      return `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`
    })
    await writeFile(
      join(home, "pom.xml"),
      `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>outside</groupId><artifactId>outside</artifactId><version>1</version><dependencies>${dependencies.join("")}</dependencies></project>\n`
    )
    await must(
      "mvn",
      [
        "-q",
        "-B",
        "dependency:build-classpath",
        `-Dmdep.outputFile=${file}`,
        `-Dmaven.repo.local=${join(cache, "m2")}`
      ],
      { cwd: home }
    )
  }
  return (await readFile(file, "utf8")).trim()
}
