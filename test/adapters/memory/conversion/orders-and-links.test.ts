import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Layer } from "effect"
import * as Mac from "effect/crypto/Mac"

import * as BulkOrders from "../../../../src/adapters/memory/conversion/bulk-orders.ts"
import * as JobReport from "../../../../src/adapters/memory/conversion/job-report.ts"
import * as SharedFiles from "../../../../src/adapters/memory/conversion/shared-files.ts"
import * as Orders from "../../../contracts/conversion/bulk-orders.ts"
import * as Jobs from "../../../contracts/conversion/job-report.ts"
import * as Links from "../../../contracts/conversion/shared-files.ts"
import { memory } from "../../../support/worlds/documents-memory.ts"

const links = SharedFiles.layer({ baseUrl: Links.BASE_URL }).pipe(
  Layer.provide(Layer.provide(Mac.layerWebCrypto, NodeCrypto.layer))
)

Orders.suite("memory", Layer.provideMerge(BulkOrders.layer, memory))
Jobs.suite("memory", Layer.provideMerge(Layer.merge(JobReport.layer, links), memory))
Links.suite("memory", Layer.provideMerge(links, memory))
