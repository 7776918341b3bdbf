import { join } from "node:path"

import type { Place } from "./reference.ts"
import { must } from "./tools.ts"

/** The package as it would be published: the path of its archive. */
export const packed = async ({ root, work }: Place): Promise<string> => {
  const said = await must("npm", ["pack", "--silent", "--pack-destination", work], { cwd: root })
  return join(work, said.trim().split("\n").at(-1) ?? "")
}
