import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"

import type { Artefact, Place, Reference } from "../reference.ts"
import { freePort, isOpen, startService } from "../services.ts"
import { goPackage, mavenClasspath, pip } from "../tools.ts"
import { runContracts } from "./run-contracts.ts"

const OBJECTS = ["test/outside/contracts/object-store.contract.ts"]
const QUEUE = ["test/outside/contracts/defer-queue.contract.ts"]

/** Runs the port suites against a server for as long as it is up. */
const against = async (
  place: Place,
  files: ReadonlyArray<string>,
  port: number,
  service: { readonly stop: () => Promise<void> },
  artefacts: ReadonlyArray<Artefact> = []
) => {
  const url = `http://127.0.0.1:${port}`
  try {
    return await runContracts(
      place,
      files,
      { OUTSIDE_S3_ENDPOINT: url, OUTSIDE_SQS_ENDPOINT: url },
      artefacts
    )
  } finally {
    await service.stop()
  }
}

const MOTO = "moto[s3,sqs,server]==5.2.5"

const moto: Reference = {
  name: "moto",
  version: MOTO.split("==")[1] ?? "",
  checks: "the object store's and the retry queue's port suites against moto's S3 and SQS",
  needs: ["python3"],
  install: async ({ cache }) => void (await pip(cache, MOTO, "moto_server")),
  run: async (place) => {
    const port = await freePort()
    const program = await pip(place.cache, MOTO, "moto_server")
    const service = await startService(program, ["-H", "127.0.0.1", "-p", String(port)], {
      isUp: () => isOpen(port)
    })
    return against(place, [...OBJECTS, ...QUEUE], port, service)
  }
}

const VERSITY = { module: "github.com/versity/versitygw", version: "v1.8.0", path: "cmd/versitygw" }

/** Versitygw on a disk, with these buckets. */
export const startVersity = async (place: Place, buckets: ReadonlyArray<string> = []) => {
  const port = await freePort()
  // It keeps what it knows of objects beside them: a disk of memory has no room for that on every kernel.
  const data = await mkdtemp(join(place.cache, "versitygw-data-"))
  for (const bucket of buckets) await mkdir(join(data, bucket))
  const keys = ["--access", "outside", "--secret", "outside-secret"]
  const service = await startService(
    await goPackage(place.cache, VERSITY),
    [...keys, "--port", `127.0.0.1:${port}`, "posix", data],
    { isUp: () => isOpen(port) }
  )
  return {
    port,
    stop: async () => {
      await service.stop()
      await rm(data, { recursive: true, force: true })
    }
  }
}

const versitygw: Reference = {
  name: "versitygw",
  version: VERSITY.version,
  checks: "the object store's port suite against versitygw's S3 on a disk",
  needs: ["go"],
  install: async ({ cache }) => void (await goPackage(cache, VERSITY)),
  run: async (place) => {
    const service = await startVersity(place)
    return against(place, OBJECTS, service.port, service)
  }
}

const ELASTICMQ = "org.elasticmq:elasticmq-server_2.13:1.7.1"

const elasticmq: Reference = {
  name: "elasticmq",
  version: ELASTICMQ.split(":")[2] ?? "",
  checks: "the retry queue's port suite against ElasticMQ",
  needs: ["java", "mvn"],
  install: async ({ cache }) => void (await mavenClasspath(cache, [ELASTICMQ])),
  run: async (place) => {
    const port = await freePort()
    const settings = join(place.work, "elasticmq.conf")
    await writeFile(
      settings,
      [
        'include classpath("application.conf")',
        `node-address { protocol = http, host = "127.0.0.1", port = ${port}, context-path = "" }`,
        `rest-sqs { enabled = true, bind-hostname = "127.0.0.1", bind-port = ${port} }`,
        "rest-stats { enabled = false }",
        ""
      ].join("\n")
    )
    const classpath = await mavenClasspath(place.cache, [ELASTICMQ])
    const service = await startService(
      "java",
      [`-Dconfig.file=${settings}`, "-cp", classpath, "org.elasticmq.server.Main"],
      { isUp: () => isOpen(port) }
    )
    return against(place, QUEUE, port, service)
  }
}

export const contracts: ReadonlyArray<Reference> = [elasticmq, versitygw, moto]
