import { randomInt } from "node:crypto"
import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises"
import { basename, dirname, join, relative } from "node:path"

import type { Place } from "../reference.ts"
import { freePort, isOpen, startService } from "../services.ts"
import { must } from "../tools.ts"

type Service = Awaited<ReturnType<typeof startService>>

/** A folder of a hop, and where its programs ask for names. */
interface Spot {
  readonly work: string
  /** `ip:53`. */
  readonly dns: string
}

/** What stands before the convert address: as the guide has it, but for ports, paths, and what keeps it on this machine. */
export interface Hop {
  /** Its folder of examples/mail-hop. */
  readonly folder: string
  readonly start: (
    guide: Guide,
    spot: Spot
  ) => Promise<{
    readonly services: ReadonlyArray<Service>
    /** The lines of main.cf, with the ports of the filters. */
    readonly main: string
  }>
}

/** The files of the guide by their paths on the machine of the hop. */
type Guide = ReadonlyMap<string, string>

export const guideOf = async ({ root }: Place, folder: string): Promise<Guide> => {
  const at = join(root, "examples/mail-hop", folder)
  const found = await readdir(at, { recursive: true, withFileTypes: true })
  const files = found.filter((entry) => entry.isFile()).map(({ name, parentPath }) => join(parentPath, name))
  return new Map(
    await Promise.all(
      files.map(async (file) => [`/${relative(at, file)}`, await readFile(file, "utf8")] as const)
    )
  )
}

const fileOf = (guide: Guide, path: string): string => {
  const file = guide.get(path)
  if (file === undefined) throw new Error(`the guide has no ${path}`)
  return file
}

/** A change that has to happen: what the guide no longer says is an error. */
const changed = (text: string, before: string, after: string): string => {
  if (!text.includes(before)) throw new Error(`the guide no longer says ${before}`)
  return text.replaceAll(before, after)
}

/** An address of loopback of its own, for port 53: some programs know no other. */
export const someLoopback = (): string => `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}`

/** `_rspamd` → its numbers. */
export const userOf = async (name: string) => {
  const [uid, gid] = await Promise.all(["-u", "-g"].map((flag) => must("id", [flag, name])))
  return { uid: Number(uid), gid: Number(gid) }
}

const openDkim = async (guide: Guide, { dns, work }: Spot) => {
  const port = await freePort()
  const unbound = join(work, "unbound.conf")
  // Its resolver knows `.test` for a name that is nowhere, and asks no server of this machine, unless it is said.
  await writeFile(
    unbound,
    [
      "server:",
      "  do-not-query-localhost: no",
      '  module-config: "iterator"',
      '  local-zone: "test." nodefault',
      "forward-zone:",
      '  name: "."',
      `  forward-addr: ${dns.replace(":", "@")}`,
      ""
    ].join("\n")
  )
  const settings = join(work, "opendkim.conf")
  await writeFile(
    settings,
    `${changed(fileOf(guide, "/etc/opendkim.conf"), "inet:8891@", `inet:${port}@`)}ResolverConfiguration ${unbound}\n`
  )
  const service = await startService("opendkim", ["-f", "-x", settings, "-u", "opendkim"], {
    isUp: () => isOpen(port)
  })
  return { service, port }
}

const openDmarc = async (guide: Guide, { dns, work }: Spot) => {
  const port = await freePort()
  const settings = join(work, "opendmarc.conf")
  await writeFile(settings, changed(fileOf(guide, "/etc/opendmarc.conf"), "inet:8893@", `inet:${port}@`))
  const resolver = join(work, "resolv.conf")
  await writeFile(resolver, `nameserver ${dns.split(":")[0]}\n`)
  const script = `mount --bind ${resolver} /etc/resolv.conf && exec opendmarc -f -c ${settings} -u opendmarc`
  const service = await startService("unshare", ["--mount", "--propagation", "private", "sh", "-c", script], {
    isUp: () => isOpen(port)
  })
  return { service, port }
}

export const opendkimHop: Hop = {
  folder: "opendkim",
  start: async (guide, spot) => {
    const dkim = await openDkim(guide, spot)
    const dmarc = await openDmarc(guide, spot)
    const main = fileOf(guide, "/etc/postfix/main.cf")
    return {
      services: [dkim.service, dmarc.service],
      main: changed(
        changed(main, "inet:127.0.0.1:8891", `inet:127.0.0.1:${dkim.port}`),
        "inet:127.0.0.1:8893",
        `inet:127.0.0.1:${dmarc.port}`
      )
    }
  }
}

export const rspamdHop: Hop = {
  folder: "rspamd",
  start: async (guide, { dns, work }) => {
    const ports = { proxy: await freePort(), normal: await freePort(), controller: await freePort() }
    const folder = join(work, "rspamd")
    const files = {
      "local.d/milter_headers.conf": fileOf(guide, "/etc/rspamd/local.d/milter_headers.conf"),
      "local.d/worker-proxy.inc": changed(
        fileOf(guide, "/etc/rspamd/local.d/worker-proxy.inc"),
        "127.0.0.1:11332",
        `127.0.0.1:${ports.proxy}`
      ),
      "local.d/worker-normal.inc": `bind_socket = "127.0.0.1:${ports.normal}";\n`,
      "local.d/worker-controller.inc": `bind_socket = "127.0.0.1:${ports.controller}";\n`,
      // Without the filter that asks servers elsewhere, which would only wait.
      "local.d/options.inc": `dns { nameserver = ["${dns}"]; }\nfilters = "chartable,dkim,regexp";\n`,
      "local.d/logging.inc": 'type = "console";\n',
      // Whatever it thinks of a mail, it hands it on: what it reports is what is tried.
      "local.d/actions.conf": "reject = null;\nadd_header = null;\ngreylist = null;\n"
    }
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, name)), { recursive: true })
      await writeFile(join(folder, name), text)
    }
    await must("chown", ["-R", "_rspamd", folder])
    await chmod(folder, 0o755)
    const variables = ["DBDIR", "RUNDIR", "LOGDIR", "LOCAL_CONFDIR"].map((name) => `--var=${name}=${folder}`)
    const service = await startService(
      "rspamd",
      ["-f", "-c", "/etc/rspamd/rspamd.conf", "-u", "_rspamd", "-g", "_rspamd", ...variables],
      { isUp: () => isOpen(ports.proxy) }
    )
    return {
      services: [service],
      main: changed(
        fileOf(guide, "/etc/postfix/main.cf"),
        "inet:127.0.0.1:11332",
        `inet:127.0.0.1:${ports.proxy}`
      )
    }
  }
}

/** The guide's main.cf and its tables, with the intake's port and this folder's path. */
export const postfixOf = async (
  guide: Guide,
  main: string,
  { intake, work }: { readonly intake: number; readonly work: string }
) => {
  let text = changed(main, "smtp:[127.0.0.1]:2525", `smtp:[127.0.0.1]:${intake}`)
  for (const [path, file] of guide) {
    if (!path.endsWith(".pcre")) continue
    const own = join(work, basename(path))
    await writeFile(own, file)
    text = text.replaceAll(path, own)
  }
  return [
    text.trimEnd(),
    // Bounces stay here; and the client says which address it comes from.
    "default_transport = discard:silently",
    "smtpd_authorized_xclient_hosts = 127.0.0.1"
  ]
}
