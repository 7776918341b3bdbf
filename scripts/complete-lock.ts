/**
 * Completes package-lock.json: `node scripts/complete-lock.ts [--check]`.
 *
 * A registry mirror may lack a binary that this platform does not need. npm then leaves it out of the lock that it writes,
 * and `npm ci` refuses that same lock. An entry with the platform in it is passed over where the platform is another, and
 * fetched where it is the one. So does an entry for Linux need its C library: without it npm fetches the binaries of both.
 *
 * Versions of Node that packages ask for are left out: npm would compare them with the Node that it runs on itself, and print five lines
 * of warning a package on an older one, where everything here runs on the pinned Node.
 */
import { readFileSync, writeFileSync } from "node:fs"

interface Entry {
  readonly version?: string
  readonly dev?: boolean
  readonly optional?: boolean
  readonly cpu?: ReadonlyArray<string>
  readonly os?: ReadonlyArray<string>
  readonly libc?: ReadonlyArray<string>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly engines?: unknown
}

/** The platform in a package's name: `@oxlint/binding-linux-arm-gnueabihf`, `@oxlint-tsgolint/darwin-arm64`. */
const PLATFORM =
  /[/-](aix|android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32)-(arm64|arm|x64|ia32|loong64|mips64el|ppc64|riscv64|s390x)(?:-|$)/

/** The C library in the name of a package for Linux: `@oxlint/binding-linux-x64-musl`. */
const LIBC = /[/-]linux-\w+-(gnu|musl)(?:eabihf)?$/

const libcOf = (path: string): string | undefined => {
  const [, libc] = LIBC.exec(path) ?? []
  return libc === "gnu" ? "glibc" : libc
}

const file = new URL("../package-lock.json", import.meta.url)
const lock = JSON.parse(readFileSync(file, "utf8")) as { packages: Record<string, Entry> }

/** The folders in which Node looks for a package that the one at `path` asks for. */
const places = (path: string): ReadonlyArray<string> => {
  const parts = path.split("/node_modules/")
  return path === ""
    ? [""]
    : [...parts.map((_, end) => `${parts.slice(0, end + 1).join("/node_modules/")}/`), ""]
}

const isLocked = (path: string, name: string) =>
  places(path).some((place) => `${place}node_modules/${name}` in lock.packages)

const missing = Object.entries(lock.packages).flatMap(([path, entry]) =>
  Object.entries(entry.optionalDependencies ?? {})
    .filter(([name]) => !isLocked(path, name))
    .map(([name, version]) => ({ name, version, dev: entry.dev === true }))
)

/** The root's are package.json's. */
const withEngines = Object.entries(lock.packages).filter(
  ([path, entry]) => path !== "" && entry.engines !== undefined
)

const withoutLibc = Object.entries(lock.packages).filter(
  ([path, entry]) => entry.libc === undefined && libcOf(path) !== undefined
)

if (process.argv.includes("--check")) {
  if (missing.length > 0 || withEngines.length > 0 || withoutLibc.length > 0) {
    console.error(
      `package-lock.json lacks ${missing.length} binaries of other platforms and ${withoutLibc.length} C libraries of binaries, and has ${withEngines.length} versions of Node too many: run npm run lock`
    )
    process.exitCode = 1
  }
} else {
  for (const [path, { engines: _, ...entry }] of withEngines) lock.packages[path] = entry
  for (const { dev, name, version } of missing) {
    const [, os, cpu] = PLATFORM.exec(name) ?? []
    if (os === undefined || cpu === undefined) throw new Error(`${name} names no platform`)
    lock.packages[`node_modules/${name}`] = { version, cpu: [cpu], dev, optional: true, os: [os] }
  }
  for (const [path, entry] of Object.entries(lock.packages)) {
    const libc = libcOf(path)
    if (libc !== undefined && entry.libc === undefined) lock.packages[path] = { ...entry, libc: [libc] }
  }
  const sorted = Object.entries(lock.packages).sort(([one], [other]) => one.localeCompare(other, "en"))
  writeFileSync(file, `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, null, 2)}\n`)
  console.log(`${missing.length} binaries of other platforms added`)
}
