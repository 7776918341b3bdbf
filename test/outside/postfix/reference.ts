import { chmod, mkdir } from "node:fs/promises"
import { join } from "node:path"

import type { Reference } from "../reference.ts"
import { relayTrial } from "./relay.ts"
import { smarthostTrial } from "./smarthost.ts"
import { untriedPostfix } from "./start.ts"

const trial: Reference["run"] = async (place) => {
  const untried = untriedPostfix()
  if (untried !== undefined) return untried
  // Its processes run as another user.
  await chmod(place.work, 0o755)
  const inFolder = async (name: string, run: Reference["run"]) => {
    const work = join(place.work, name)
    await mkdir(work)
    return run({ ...place, work })
  }
  return [...(await inFolder("relay", relayTrial)), ...(await inFolder("smarthost", smarthostTrial))]
}

export const postfix: Reference = {
  name: "postfix",
  version: "as installed",
  checks:
    "Postfix as the relay of `smtp`, with reports, lost answers and kills, and as a client of submission that hands its mail over again",
  needs: ["postfix", "chown", "curl"],
  install: async () => {},
  run: trial
}
