import { writeFile } from "node:fs/promises"
import { join } from "node:path"

import { freePort, isOpen, startService } from "../services.ts"

/** Fewer than there are clients, so that they share them. */
export const SERVER_CONNECTIONS = 8

/** PgBouncer in transaction mode before the server on this port; `folder` is read by its own user. */
export const startPgbouncer = async (folder: string, target: number) => {
  const port = await freePort()
  const [users, settings] = [join(folder, "users.txt"), join(folder, "pgbouncer.ini")]
  await writeFile(users, '"postgres" ""\n')
  await writeFile(
    settings,
    [
      "[databases]",
      `* = host=127.0.0.1 port=${target}`,
      "[pgbouncer]",
      "listen_addr = 127.0.0.1",
      `listen_port = ${port}`,
      "unix_socket_dir =",
      "auth_type = trust",
      `auth_file = ${users}`,
      "pool_mode = transaction",
      `default_pool_size = ${SERVER_CONNECTIONS}`,
      "max_client_conn = 500",
      // A database is dropped, and made again under another name: its connections go at once.
      "server_idle_timeout = 1",
      ""
    ].join("\n")
  )
  const asUser = process.getuid?.() === 0 ? ["-u", "nobody"] : []
  const service = await startService("pgbouncer", ["-q", ...asUser, settings], { isUp: () => isOpen(port) })
  return { port, stop: service.stop }
}
