import { spawnSync } from "node:child_process"
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** Room for the local copies of a few documents, bytes. */
const SIZE = 4 * 1024 * 1024

/** A file system of its own, so small that it can be filled. */
export interface SmallDisk {
  readonly path: string
  /** Fills what is left. */
  readonly fill: () => void
  readonly empty: () => void
  readonly unmount: () => Promise<void>
}

/** Where the machine lets us mount one (root on Linux); undefined elsewhere. */
export const mountSmallDisk = async (folder: string): Promise<SmallDisk | undefined> => {
  const path = join(folder, "small-disk")
  mkdirSync(path, { recursive: true })
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${SIZE}`, "tmpfs", path])
  if (mounted.status !== 0) return undefined
  chmodSync(path, 0o755)
  const ballast = join(path, "ballast")
  return {
    path,
    fill: () => {
      for (let size = SIZE; size > 1_000; size /= 2) {
        try {
          writeFileSync(ballast, Buffer.alloc(size), { flag: "a" })
        } catch {
          // A smaller piece may still fit.
        }
      }
    },
    empty: () => rmSync(ballast, { force: true }),
    unmount: async () => void spawnSync("umount", ["-l", path])
  }
}
