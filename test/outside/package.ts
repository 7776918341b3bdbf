import { mkdir } from "node:fs/promises"
import { join } from "node:path"

import type { Place } from "./reference.ts"
import { must } from "./tools.ts"

let once: Promise<string> | undefined

const pack = async ({ cache, root }: Pick<Place, "cache" | "root">): Promise<string> => {
  const folder = join(cache, "package")
  await mkdir(folder, { recursive: true })
  const said = await must("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: root })
  return join(folder, said.trim().split("\n").at(-1) ?? "")
}

/** The package as it would be published: the path of its archive. Built once a run. */
export const packed = (place: Pick<Place, "cache" | "root">): Promise<string> => (once ??= pack(place))
