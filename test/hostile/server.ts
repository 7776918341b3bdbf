import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

import { makeFolder, programOf } from "../support/processes/child.ts"

const root = fileURLToPath(new URL("../../", import.meta.url))

/** What a server's own process says of itself. */
export interface Measured {
  /** Its longest stall since it was asked to forget, milliseconds. */
  readonly stall: number
  /** Its memory, bytes. */
  readonly resident: number
}

/** A whole server in a process of its own, under attack. */
export interface Attacked {
  readonly url: string
  readonly smtpPort: number
  readonly lines: ReadonlyArray<string>
  /** The longest stall, and the memory, of the server while an attack goes on. */
  readonly measure: (attack: () => Promise<unknown>) => Promise<Measured>
  /** Resolves when the process has ended. */
  readonly gone: Promise<unknown>
  readonly stop: () => Promise<void>
}

const asked = (child: ChildProcess): Promise<Measured> =>
  new Promise((resolve, reject) => {
    const ended = (code: number | null, signal: string | null) =>
      reject(new Error(`the server ended: ${code ?? signal}`))
    child.once("message", (answer) => {
      child.off("exit", ended)
      resolve(answer as Measured)
    })
    child.once("exit", ended)
    child.send("stall")
  })

/** `npm start` with everything embedded, on free ports, and a probe in its event loop. */
export const startAttacked = async (env: Readonly<Record<string, string>> = {}): Promise<Attacked> => {
  const folder = await makeFolder()
  const probe = new URL("./stall-probe.ts", import.meta.url).href
  const child = spawn(process.execPath, ["--import", probe, programOf("src/runtime/entries/start.ts")], {
    cwd: root,
    env: {
      PATH: process.env["PATH"],
      PORT: "0",
      SMTP_PORT: "0",
      SUBMISSION_PORT: "0",
      POSTLANE_DATA_DIR: folder.path,
      ...env
    },
    stdio: ["ignore", "pipe", "inherit", "ipc"]
  })
  const gone = once(child, "exit")
  const lines: Array<string> = []
  const { smtpPort, url } = await new Promise<{ smtpPort: number; url: string }>((resolve, reject) => {
    const found: { smtpPort?: number; url?: string } = {}
    createInterface({ input: child.stdout! }).on("line", (line) => {
      lines.push(line)
      const port = /"smtpPort":(\d+)/.exec(line)?.[1]
      const address = /^ +API +(http:\S+)/.exec(line)?.[1]
      if (port !== undefined) found.smtpPort = Number(port)
      if (address !== undefined) found.url = address
      if (found.smtpPort !== undefined && found.url !== undefined)
        resolve({ smtpPort: found.smtpPort, url: found.url })
    })
    void gone.then(() => reject(new Error(`the server ended:\n${lines.join("\n")}`)))
  })
  return {
    url,
    smtpPort,
    lines,
    gone,
    measure: async (attack) => {
      child.send("reset")
      await attack()
      return asked(child)
    },
    stop: async () => {
      child.kill("SIGTERM")
      await gone
      await folder.remove()
    }
  }
}
