import { setTimeout as wait } from "node:timers/promises"

import { servePeer } from "../process.ts"

/** `npm run serve`, which tells how much processor time it has used. */
await import("../../../src/runtime/entries/serve.ts")

const url = `http://127.0.0.1:${process.env["PORT"]}/ready`
const isReady = () =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false
  )
while (!(await isReady())) await wait(20)

servePeer({}, () => {
  const { user, system } = process.cpuUsage()
  return user + system
})
