import { spawnSync } from "node:child_process"
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"

import type { Check } from "../reference.ts"
import { comes, isOpen } from "../services.ts"
import { must } from "../tools.ts"

/** Why Postfix is not tried here; undefined where it can be. */
export const untriedPostfix = (): ReadonlyArray<Check> | undefined =>
  process.getuid?.() === 0
    ? undefined
    : [{ name: "it is root", outcome: "artefact", detail: "Postfix starts for root alone: not tried" }]

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

/** Starts a Postfix of its own in a folder, on a port of loopback; `main`: lines of main.cf. */
export const startPostfix = async (work: string, port: number, main: ReadonlyArray<string>) => {
  const settings = join(work, "etc")
  await chmod(work, 0o755)
  for (const folder of ["etc", "queue", "data"]) await mkdir(join(work, folder), { recursive: true })
  await must("chown", ["postfix", join(work, "data")])
  const own = [
    `queue_directory = ${work}/queue`,
    `data_directory = ${work}/data`,
    `maillog_file = ${work}/log`,
    `maillog_file_prefixes = ${work}`,
    "inet_interfaces = 127.0.0.1",
    "inet_protocols = ipv4",
    "alias_maps =",
    "local_recipient_maps ="
  ]
  await writeFile(join(settings, "main.cf"), [...main, ...own, ""].join("\n"))
  await writeFile(join(settings, "master.cf"), masterOf(port))
  // While one that was killed has not ended, its lock is held.
  const start = async () => {
    await comes("Postfix starts", () => spawnSync("postfix", ["-c", settings, "start"]).status === 0)
    await comes("Postfix listens", () => isOpen(port))
  }
  await start()
  // It leaves the group of the process that starts it.
  const stop = () => spawnSync("postfix", ["-c", settings, "stop"])
  process.once("exit", stop)
  return {
    log: () => readFile(join(work, "log"), "utf8"),
    start,
    /** SIGKILL for every process of it at once. */
    kill: async () => {
      const master = Number(await readFile(join(work, "queue/pid/master.pid"), "utf8"))
      process.kill(-master, "SIGKILL")
    },
    stop: async () => {
      process.off("exit", stop)
      stop()
    }
  }
}
