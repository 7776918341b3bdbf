/** What references need to keep a program of somebody else's running beside the product. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { type AddressInfo, connect, createServer } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"

/** A port of loopback that nobody listens on. */
export const freePort = async (host = "127.0.0.1"): Promise<number> => {
  const server = createServer().listen(0, host)
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, "close")
  return port
}

/** Whether anybody listens there. */
export const isOpen = (port: number, host = "127.0.0.1"): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ port, host })
    socket.on("connect", () => {
      socket.destroy()
      resolve(true)
    })
    socket.on("error", () => resolve(false))
  })

/** Waits until `look` finds something that is neither undefined nor false; a minute at most, since a reference has to end. */
export const comes = async <A>(
  what: string,
  look: () => A | Promise<A>,
  seconds = 60
): Promise<Exclude<A, false | undefined>> => {
  const deadline = performance.now() + seconds * 1_000
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found as Exclude<A, false | undefined>
    if (performance.now() > deadline) throw new Error(`It never came that ${what}`)
    await sleep(50)
  }
}

interface Running {
  /** What it wrote, the last of it. */
  readonly said: () => string
  /** Ends it, with all that it started. */
  readonly stop: () => Promise<void>
}

interface Wanted {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly uid?: number
  readonly gid?: number
  /** Whether it is up. */
  readonly isUp: (said: string) => boolean | Promise<boolean>
  /** Longest that it may take until then. */
  readonly seconds?: number
}

/** Starts a program in the foreground, in a group of its own, and waits until it is up. */
export const startService = async (
  program: string,
  args: ReadonlyArray<string>,
  { cwd, env, gid, isUp, seconds = 180, uid }: Wanted
): Promise<Running> => {
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...env },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    ...(uid === undefined ? {} : { uid }),
    ...(gid === undefined ? {} : { gid })
  })
  let said = ""
  let hasEnded = false
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (bytes: Buffer) => {
      said = `${said}${bytes.toString()}`.slice(-200_000)
    })
  const ended = new Promise<void>((resolve) => {
    child.once("error", (error) => {
      said += String(error)
      hasEnded = true
      resolve()
    })
    child.once("exit", () => {
      hasEnded = true
      resolve()
    })
  })
  const signal = (name: NodeJS.Signals) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, name)
    } catch {
      // The group is gone.
    }
  }
  const kill = () => signal("SIGKILL")
  process.once("exit", kill)
  const stop = async () => {
    process.off("exit", kill)
    signal("SIGTERM")
    await Promise.race([ended, sleep(5_000)])
    kill()
    await ended
  }
  const failed = async () => {
    await stop()
    return new Error(`${program} is not up:\n${said.slice(-3_000)}`)
  }
  try {
    await comes(`${program} is up`, async () => hasEnded || (await isUp(said)), seconds)
  } catch {
    throw await failed()
  }
  if (hasEnded) throw await failed()
  return { said: () => said, stop }
}
