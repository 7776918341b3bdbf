/** Loaded before a server (`node --import`): answers its parent's questions about the longest stall. */
import { watchLoop } from "./stalls.ts"

const loop = watchLoop()

process.on("message", (question) => {
  if (question === "reset") loop.reset()
  if (question === "stall") process.send?.({ stall: loop.longest(), resident: process.memoryUsage.rss() })
})
// A server whose attacker is gone ends as it would at a shutdown.
process.once("disconnect", () => process.kill(process.pid, "SIGTERM"))
// The server ends when it wants to, whether or not somebody still listens.
process.channel?.unref()
