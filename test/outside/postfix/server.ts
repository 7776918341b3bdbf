import { once } from "node:events"
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises"
import { type AddressInfo, createServer } from "node:net"
import { join } from "node:path"

import { until } from "../../support/until.ts"
import { must, run } from "../tools.ts"

export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, "close")
  return port
}

/** One line for each program of Postfix, none of them in a chroot. */
const masterOf = (port: number): string =>
  [
    `127.0.0.1:${port} inet n - n - - smtpd`,
    "pickup unix n - n 60 1 pickup",
    "cleanup unix n - n - 0 cleanup",
    "qmgr unix n - n 300 1 qmgr",
    "rewrite unix - - n - - trivial-rewrite",
    ...["bounce", "defer", "trace"].map((name) => `${name} unix - - n - 0 bounce`),
    "verify unix - - n - 1 verify",
    "flush unix n - n 1000? 0 flush",
    "proxymap unix - - n - - proxymap",
    "smtp unix - - n - - smtp",
    "relay unix - - n - - smtp",
    "error unix - - n - - error",
    "retry unix - - n - - error",
    "discard unix - - n - - discard",
    "anvil unix - - n - 1 anvil",
    "scache unix - - n - 1 scache",
    "postlog unix-dgram n - n - 1 postlogd",
    ""
  ].join("\n")

/** What every Postfix of a trial has; `settings` are the lines of its own. */
const mainOf = (work: string, settings: ReadonlyArray<string>): string =>
  [
    "compatibility_level = 3.6",
    `queue_directory = ${work}/queue`,
    `data_directory = ${work}/data`,
    `maillog_file = ${work}/log`,
    `maillog_file_prefixes = ${work}`,
    "myhostname = relay.test",
    "mydestination =",
    "mynetworks = 127.0.0.0/8",
    "inet_interfaces = 127.0.0.1",
    "inet_protocols = ipv4",
    "smtp_tls_security_level = none",
    "message_size_limit = 50000000",
    "alias_maps =",
    "local_recipient_maps =",
    ...settings,
    ""
  ].join("\n")

/** A Postfix of the trial's own. Only root may start one. */
export const startPostfix = async (work: string, port: number, lines: ReadonlyArray<string>) => {
  const settings = join(work, "etc")
  await chmod(work, 0o755)
  for (const folder of ["etc", "queue", "data"]) await mkdir(join(work, folder))
  await must("chown", ["postfix", join(work, "data")])
  await writeFile(join(settings, "main.cf"), mainOf(work, lines))
  await writeFile(join(settings, "master.cf"), masterOf(port))
  // While a killed one has not ended, its lock is held.
  const start = () =>
    until("Postfix starts", async () => (await run("postfix", ["-c", settings, "start"])).code === 0)
  await start()
  return {
    log: () => readFile(join(work, "log"), "utf8"),
    start,
    /** SIGKILL for every process of it at once. */
    kill: async () => {
      const master = Number(await readFile(join(work, "queue/pid/master.pid"), "utf8"))
      process.kill(-master, "SIGKILL")
    },
    stop: () => run("postfix", ["-c", settings, "stop"])
  }
}
