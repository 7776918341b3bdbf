import { statfsSync } from "node:fs"
import { tmpdir } from "node:os"

const MEMORY = "/dev/shm"
const ROOM_BYTES = 4e9

const hasRoom = () => {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize > ROOM_BYTES
  } catch {
    return false
  }
}

/**
 * The folder for what a test writes and removes: in memory where there is room. To copy a database there takes a tenth of the
 * processor time that a disk's file system takes for its books.
 */
export const TEMPORARY = hasRoom() ? MEMORY : tmpdir()
