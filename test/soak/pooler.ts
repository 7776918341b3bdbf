import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

import { freePort } from "../bench/free-port.ts"
import type { Chance } from "../simulation/kernel.ts"
import { startTransactionPooler } from "../support/postgres/transaction-pooler.ts"

/** A pooler in transaction mode, and a way to hurt it. */
export interface Pooler {
  readonly name: string
  readonly port: number
  /** Cuts connections, whatever they are at. */
  readonly cut: (chance: Chance) => Promise<void>
  readonly close: () => Promise<void>
}

const SERVER_CONNECTIONS = 20

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy()
      resolve(true)
    })
    socket.on("error", () => resolve(false))
  })

/** PgBouncer as it comes; a cut kills it, and it is started again. */
const startPgbouncer = async (folder: string, target: number): Promise<Pooler> => {
  const port = await freePort()
  const users = join(folder, "pgbouncer-users.txt")
  const file = join(folder, "pgbouncer.ini")
  writeFileSync(users, '"postgres" ""\n')
  writeFileSync(
    file,
    `[databases]
* = host=127.0.0.1 port=${target}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = transaction
default_pool_size = ${SERVER_CONNECTIONS}
max_client_conn = 500
server_login_retry = 1
`
  )
  const asUser = process.getuid?.() === 0 ? ["-u", "nobody"] : []
  const start = async () => {
    const child = spawn("pgbouncer", ["-q", ...asUser, file], { stdio: "ignore" })
    while (!(await answers(port))) await sleep(20)
    return child
  }
  let child = await start()
  const end = async () => {
    const ended = once(child, "exit")
    child.kill("SIGKILL")
    await ended
  }
  return {
    name: "PgBouncer",
    port,
    cut: async () => {
      await end()
      child = await start()
    },
    close: end
  }
}

/** PgBouncer where it is on the PATH, else the scripted one. */
export const startPooler = async (folder: string, target: number): Promise<Pooler> => {
  if (spawnSync("pgbouncer", ["--version"]).status === 0) return startPgbouncer(folder, target)
  const pooler = await startTransactionPooler(target, SERVER_CONNECTIONS)
  return {
    name: "the scripted pooler",
    port: pooler.port,
    cut: async (chance) => pooler.cut(() => chance.bool(0.5)),
    close: pooler.close
  }
}
