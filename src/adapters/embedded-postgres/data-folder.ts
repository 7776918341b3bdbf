import { randomBytes } from "node:crypto"
import { access, chmod, constants, mkdir, open, readFile, realpath, rename, stat } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"

import { Effect, Option, Redacted, Schema } from "effect"

import { fileWork } from "./error.ts"
import { isRoot } from "./run-program.ts"

/** The name of the role and of the database that Postlane works with. */
export const ROLE = "postlane"

/** The places of the embedded PostgreSQL inside the data folder. All absolute. */
export interface DataFolder {
  /** The data folder itself. */
  readonly root: string
  /** Postlane's own folder: it holds the other paths. */
  readonly folder: string
  /** The cluster, unless {@link location} names another place. */
  readonly cluster: string
  readonly connection: string
  readonly holder: string
  readonly location: string
  readonly lock: string
  readonly log: string
}

/** Port and password of the server, kept in a file that only we can read. */
const Connection = Schema.Struct({
  port: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 65535 })),
  password: Schema.NonEmptyString
})
type Connection = typeof Connection.Type

const decodeConnection = Schema.decodeUnknownOption(Schema.fromJsonString(Connection))

/** The places in a data folder, whether they are there or not; `root` is absolute. */
export const placesIn = (root: string): DataFolder => {
  const folder = join(root, "postgres")
  return {
    root,
    folder,
    cluster: join(folder, "data"),
    connection: join(folder, "connection.json"),
    holder: join(folder, "instance.pid"),
    location: join(folder, "location"),
    lock: join(folder, "instance.lock"),
    log: join(folder, "postgres.log")
  }
}

/** Makes the folders. The system user that runs PostgreSQL under root has to pass through them, whatever our umask is. */
export const openDataFolder = (path: string) =>
  fileWork(`use the data folder ${resolve(path)}`, async () => {
    const created = await mkdir(path, { recursive: true })
    if (created !== undefined) await chmod(path, 0o755)
    const folder = placesIn(await realpath(path))
    if ((await mkdir(folder.folder, { recursive: true })) !== undefined) await chmod(folder.folder, 0o755)
    await access(folder.folder, constants.W_OK)
    return folder
  })

/** The text of a small file, or none where there is no such file. */
export const readIfThere = (path: string) =>
  fileWork(`read ${path}`, () =>
    readFile(path, "utf8").then(Option.some, (cause: NodeJS.ErrnoException) => {
      if (cause.code === "ENOENT") return Option.none<string>()
      throw cause
    })
  )

/** Writes a file so that after a crash it is either the old one or the new one. Its owner is that of its folder. */
export const writeWhole = (path: string, text: string, mode: number) =>
  fileWork(`write ${path}`, async () => {
    const file = await open(`${path}.new`, "w", mode)
    try {
      await file.chmod(mode)
      const { gid, uid } = await stat(dirname(path))
      if (isRoot()) await file.chown(uid, gid)
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(`${path}.new`, path)
  })

/** The connection that an earlier run kept; none on a new folder, or where the file is gone or damaged. */
export const readConnection = (folder: DataFolder) =>
  Effect.map(readIfThere(folder.connection), Option.flatMap(decodeConnection))

export const writeConnection = (folder: DataFolder, connection: Connection) =>
  writeWhole(folder.connection, `${JSON.stringify(connection)}\n`, 0o600)

/** 256 random bits, in letters that need no quoting in SQL and no escaping in a URL. */
export const newPassword = (): string => randomBytes(32).toString("hex")

/** `DB_URL` of the embedded server. */
export const connectionUrl = ({ password, port }: Connection): Redacted.Redacted<string> =>
  Redacted.make(`postgres://${ROLE}:${password}@127.0.0.1:${port}/${ROLE}`)
