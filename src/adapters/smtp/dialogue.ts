import { SMTPServer, type SMTPServerConnectionInfo } from "smtp-server"
import { SMTPConnection, type SMTPConnectionOptions } from "smtp-server/lib/smtp-connection.js"

import { MailStream } from "./mail-stream.ts"

/** An enhanced status code (RFC 3463) in front of a text. */
const ENHANCED = /^[245]\.\d{1,3}\.\d{1,3} /

/** A command with a quoted local part in its path: the text before it, the string, the domain, and the parameters. */
const QUOTED_PATH = /^([^<]*<(?:@[^<>:"]*:)?)"((?:[^"\\]|\\.)*)"@([^<>@"\s]+)(>.*)$/s

/** Whether a local part needs no quotes. */
const DOT_STRING = /^[^\s\p{Cc}"(),:;<>@[\\\].]+(?:\.[^\s\p{Cc}"(),:;<>@[\\\].]+)*$/u

/** Longest local part (RFC 5321, section 4.5.3.1.1), bytes. */
const MAX_LOCAL = 64

/** A connection as the library has it, with RFC 5321's quoted local parts and with status codes that fit their texts. */
class Connection extends SMTPConnection {
  override _createParser(): MailStream {
    const parser = new MailStream({ maxCommandLength: this._server.options.maxCommandLength })
    parser.oncommand = (command, callback) => this._onCommand(command, callback)
    parser.on("error", (error) => this.send(421, `Error: ${error.message}`))
    return parser
  }

  /** A text that begins with its enhanced code keeps it; any other gets the usual one of its reply code. */
  override send(code: number, data?: string | Array<string> | null, context?: string | false): void {
    super.send(code, data, typeof data === "string" && ENHANCED.test(data) ? false : context)
  }

  /** `"convert"@in.test` is `convert@in.test`. A local part that needs its quotes keeps them. */
  override _parseAddressCommand(rawName: string, rawCommand: Buffer | string) {
    const command = rawCommand.toString()
    const quoted = QUOTED_PATH.exec(command)
    if (quoted === null) return super._parseAddressCommand(rawName, command)
    const [, before = "", string = "", domain = "", after = ""] = quoted
    const local = string.replaceAll(/\\(.)/gs, "$1")
    if (local === "" || Buffer.byteLength(local) > MAX_LOCAL || /\p{Cc}/u.test(local)) return false
    const isPlain = DOT_STRING.test(local)
    // The library checks the domain and the parameters; it splits a command at spaces, wherever they are.
    const parsed = super._parseAddressCommand(
      rawName,
      `${before}${isPlain ? local : "quoted"}@${domain}${after}`
    )
    if (parsed === false || isPlain) return parsed
    return { ...parsed, address: `"${string}"${parsed.address.slice("quoted".length)}` }
  }
}

/** The library's server on such connections. */
export class DialogueServer extends SMTPServer {
  override connect(...[socket, options]: Parameters<SMTPServer["connect"]>): void {
    const connection = new Connection(this, socket, options ?? ({} satisfies SMTPConnectionOptions))
    this.connections.add(connection)
    connection.on("error", (error: Error) => this._onError(error))
    connection.on("connect", (info: SMTPServerConnectionInfo) => this._onClientConnect(info))
    connection.init()
  }
}
