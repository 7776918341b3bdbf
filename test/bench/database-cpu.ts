import { readdirSync, readFileSync } from "node:fs"

import { Client } from "pg"

/** Clock ticks of Linux, a second. */
const TICKS = 100

const fieldsOf = (pid: string): ReadonlyArray<string> => {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
  // What follows the command's name, which may hold anything.
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")
}

const parentOf = (pid: string): string | undefined => fieldsOf(pid)[1]

/** What a process has used by now, microseconds; nothing where it has ended. */
const usedBy = (pid: string): number => {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "latin1").split(" ")[0]) / 1000
  } catch {
    return 0
  }
}

const isChildOf = (parent: string) => (pid: string) => {
  try {
    return /^\d+$/.test(pid) && parentOf(pid) === parent
  } catch {
    return false
  }
}

/**
 * Reads the processor time of a PostgreSQL server, microseconds: of its first process, of all that run under it, and of those that
 * have ended. Undefined where the server is not on this machine, or the machine is no Linux.
 */
export const databaseCpu = async (url: string): Promise<(() => number) | undefined> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ readonly pid: number }>("select pg_backend_pid() as pid")
    const server = parentOf(String(rows[0]?.pid))
    if (server === undefined || !readFileSync(`/proc/${server}/comm`, "latin1").startsWith("postgres"))
      return undefined
    return () => {
      const [user = 0, system = 0] = fieldsOf(server).slice(13, 15).map(Number)
      const live = [server, ...readdirSync("/proc").filter(isChildOf(server))]
      return live.reduce((sum, pid) => sum + usedBy(pid), ((user + system) / TICKS) * 1e6)
    }
  } catch {
    return undefined
  } finally {
    await client.end()
  }
}
