import { suite as suiteOfSender } from "../../contracts/mail/queue-sender.ts"
import { suite } from "../../contracts/mail/send-queue.ts"
import { makeMemoryQueueWorld } from "../../support/worlds/queue-store-world.ts"

suite("memory", makeMemoryQueueWorld)
suiteOfSender("memory", makeMemoryQueueWorld)
